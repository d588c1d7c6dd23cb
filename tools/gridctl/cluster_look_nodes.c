/* cluster_look: the nodes, those that are down among them. */
#include <stdio.h>
#include <string.h>

#include "common/date.h"
#include "common/members.h"
#include "lmdb-schema/store/cluster.h"
#include "lmdb-schema/store/store.h"
#include "lmdb-schema/upkeep/roster.h"
#include "lmdb-schema/upkeep/standing.h"
#include "tools/gridctl/cluster_look_priv.h"
#include "tools/gridctl/cmd.h"
#include "tools/gridctl/running.h"

bool
cluster_look_has_line(const struct buf *lines, struct span wanted)
{
	struct span line, rest = buf_span(lines);

	while (span_cut(&line, &rest, '\n'))
		if (span_eq(line, wanted))
			return true;
	return false;
}

bool
cluster_look_is_aside(const struct engine_node *node)
{
	return strcmp(node->run, ENGINE_RUN_JOINS) == 0 ||
	    strcmp(node->run, ENGINE_RUN_TWIN) == 0;
}

static void
tell_aside(struct cluster_looking *status, const struct engine_node *node)
{
	bool joins = strcmp(node->run, ENGINE_RUN_JOINS) == 0;
	size_t len = strlen(node->name);

	if (!status->options->json)
		buf_addf(status->text, "node  %-20s %s\n", node->name,
		    joins ? "it has no state yet"
			  : "it has the name of another node");
	if (!joins)
		cluster_look_unwell(status, true,
		    "set another [cluster] node in cluster.conf of that host, "
		    "and start its gridapi anew",
		    "node %.*s is there twice: the second one, on host %s, is "
		    "not ready; what is written there is stored, and it takes "
		    "in what others write only then",
		    (int)(len - strlen("." ENGINE_RUN_TWIN)), node->name,
		    node->program);
}

bool
cluster_look_hides(const struct cluster_looking *status)
{
	return status->lacks_rights && status->rights.hides_nodes;
}

/* --- what a node lacks of the log ----------------------------------------- */

static bool
is_own(const struct cluster_looking *status, const struct engine_node *node)
{
	return strcmp(node->name, status->own.name) == 0;
}

uint64_t
cluster_look_place(
    const struct cluster_looking *status, const struct engine_node *node)
{
	return is_own(status, node) ? status->own_place
				    : node->places[STORE_STATE];
}

static uint64_t
behind_of(const struct cluster_looking *status, const struct engine_node *node)
{
	uint64_t place = cluster_look_place(status, node);

	return status->head > place ? status->head - place : 0;
}

/* --- those that are alive ------------------------------------------------- */

/* A node of an earlier version names another command behind it. */
static bool
is_text_of(const char *why, enum err err)
{
	return strncmp(why, err_text(err), strcspn(err_text(err), "(")) == 0;
}

/* The node itself has told of it, by the text of the failure. */
static void
tell_stands(struct cluster_looking *status, const struct engine_node *node,
    const char *why, bool here)
{
	const char *todo = "the log of gridapi on that node says more; it goes "
			   "on by itself once the reason is gone";

	if (is_text_of(why, ERR_OUTRUN))
		todo = "stop that node, 'gridctl cluster join' there, with "
		       "--anew where that is refused, start it";
	else if (is_text_of(why, ERR_FORKED))
		todo = "'gridctl cluster status' on that node says what to do";
	cluster_look_unwell(status, here, todo,
	    "node %s does not take in the log: %s", node->name, why);
}

/* The node itself has told of it, after LACKS_S. */
static void
tell_lacks(struct cluster_looking *status, const struct engine_node *node,
    const struct lacks *lacks)
{
	static const char todo[] =
	    "'gridctl cluster pull' on that node says why it does not come";
	bool here = is_own(status, node), told = lacks->import_why[0] != '\0';

	if (lacks->import != 0)
		cluster_look_unwell(status, here,
		    told ? "mend that: the import comes by itself then" : todo,
		    "node %s shows import %s, and does not get import %s%s%s",
		    node->name, cmd_count(node->places[STORE_LIVE]),
		    cmd_count(lacks->import), told ? ": " : "",
		    lacks->import_why);
	if (lacks->stands[0] != '\0' && !(here && status->stands))
		tell_stands(status, node, lacks->stands, here);
	if (lacks->snapshots != 0)
		cluster_look_unwell(status, here, todo,
		    "node %s does not get the snapshots that it lacks: %s",
		    node->name, cmd_count(lacks->snapshots));
	if (lacks->bucket_why[0] != '\0')
		cluster_look_unwell(status, here,
		    "mend that; the next file that gets there ends this, and "
		    "'gridctl cluster push' on that node puts what is lacking",
		    "node %s does not get its files into the bucket: %s",
		    node->name, lacks->bucket_why);
}

/* How many entries it has that the log has not: of one that was restored. */
static uint64_t
count_ahead(struct cluster_looking *status, uint64_t place)
{
	uint64_t heads[STORE_ENVS];

	/* The node may have written since the look at the log. */
	if (!status->ended && place > status->head &&
	    status->engine->heads(status->engine, true, heads) == ERR_OK &&
	    heads[STORE_STATE] < ENGINE_ENDED)
		status->head = heads[STORE_STATE];
	return !status->ended && place > status->head ? place - status->head
						      : 0;
}

static void
judge_place(struct cluster_looking *status, const struct engine_node *node,
    uint64_t behind, uint64_t ahead, bool own)
{
	char todo[STANDING_TEXT_MAX];

	standing_todo_forked(todo, node->places[STORE_STATE]);
	if (own && status->stands)
		return;
	/* Of a log that is empty it is told once. */
	if (ahead > 0 && !status->standing.empty)
		cluster_look_unwell(status, true, todo,
		    "node %s has %s entries, the log %s: the log was restored "
		    "from an older copy, or is another one",
		    node->name, cmd_count(node->places[STORE_STATE]),
		    cmd_count(status->head));
	if (behind > (uint64_t)status->options->behind)
		cluster_look_unwell(status, own,
		    "the log of gridapi on that node says why: an entry of a "
		    "later version, entries that are trimmed, a full disk",
		    "node %s is %s entries behind", node->name,
		    cmd_count(behind));
}

static void
add_node(struct cluster_looking *status, const struct engine_node *node,
    uint64_t behind, uint64_t ahead, const struct lacks *lacks)
{
	uint64_t place = cluster_look_place(status, node);
	uint64_t import = node->places[STORE_LIVE];

	if (status->options->json) {
		jsonw_object_begin(&status->json);
		members_string(&status->json, "name", node->name);
		members_given(&status->json, "address", node->address);
		members_string(&status->json, "version", node->program);
		members_int(&status->json, "logVersion", node->log_version);
		members_int(&status->json, "state", (int64_t)place);
		members_int(&status->json, "behind", (int64_t)behind);
		members_int(&status->json, "import", (int64_t)import);
		members_bool(&status->json, "lacksImport", lacks->import != 0);
		members_int(
		    &status->json, "lacksSnapshots", (int64_t)lacks->snapshots);
		members_given(&status->json, "standsStill", lacks->stands);
		members_given(&status->json, "pushFails", lacks->bucket_why);
		jsonw_object_end(&status->json);
	} else
		buf_addf(status->text,
		    "node  %-20s alive, %s entries, %s %s, import %s%s, "
		    "version %s %s\n",
		    node->name, cmd_count(place),
		    cmd_count(ahead > 0 ? ahead : behind),
		    ahead > 0 ? "more than the log" : "behind",
		    cmd_count(import),
		    import < status->editions.now.number
			? ", which is not the last"
			: "",
		    node->program, node->address);
}

static enum err
each_node(void *context, const struct engine_node *node)
{
	struct cluster_looking *status = context;
	uint64_t ahead = count_ahead(status, cluster_look_place(status, node));
	uint64_t behind = behind_of(status, node);
	bool own = is_own(status, node);
	struct lacks lacks;

	if (cluster_look_is_aside(node)) {
		tell_aside(status, node);
		return buf_end(status->text);
	}
	status->looked->alive++;
	buf_addf(&status->alive, "%s\n", node->name);
	if (own) {
		status->own_alive = true;
		status->looked->behind = behind;
	} else if (node->address[0] != '\0')
		status->receivers++;
	lacks_find(&lacks, &status->lacks, node);
	/* Of before, as the process that has put it has ended: so is its text. */
	if (cluster_look_is_old(status, node)) {
		ahead = 0;
		lacks.stands[0] = '\0';
	}
	judge_place(status, node, behind, ahead, own);
	tell_lacks(status, node, &lacks);
	add_node(status, node, behind, ahead, &lacks);
	return buf_end(status->text);
}

/* --- those that are down -------------------------------------------------- */

static void
add_down(struct cluster_looking *status, struct span name, const char *time)
{
	if (!status->options->json) {
		buf_addf(status->text, "node  %-20.*s %s, last there %s\n",
		    SPAN_ARG(name),
		    cluster_look_hides(status) ? "not heard of" : "not alive",
		    time);
		return;
	}
	jsonw_object_begin(&status->json);
	jsonw_key(&status->json, "name");
	jsonw_string(&status->json, name);
	members_string(&status->json, "lastThere", time);
	jsonw_object_end(&status->json);
}

/* A node's text is by its own clock: it is known how far that is off at least. */
#define CLOCK_OFF_S 60

static void
judge_clock(struct cluster_looking *status, struct span name, int64_t there_ms)
{
	int64_t ahead_s = (there_ms - date_now_ms()) / 1000;
	int64_t off_s = ahead_s > 0 ? ahead_s : -ahead_s - ROSTER_OLD_S;

	if (there_ms == 0 || off_s <= CLOCK_OFF_S ||
	    span_eq(name, span_of(status->own.name)))
		return;
	cluster_look_unwell(status, false,
	    "'timedatectl' on both hosts: set the clock of the one that is "
	    "wrong, by NTP",
	    "the clock of node %.*s is %s s or more %s that of this one",
	    SPAN_ARG(name), cmd_count((uint64_t)off_s),
	    ahead_s > 0 ? "ahead of" : "behind");
}

/* Of this directory's own node there is a fault of its own. */
static enum err
each_of_roster(void *context, struct span name, int64_t there_ms)
{
	struct cluster_looking *status = context;
	char time[DATE_TEXT_MAX], todo[ENGINE_NODE_NAME_MAX + 160];

	if (cluster_look_has_line(&status->alive, name)) {
		judge_clock(status, name, there_ms);
		return ERR_OK;
	}
	cmd_time(time, there_ms);
	add_down(status, name, time);
	if (cluster_look_hides(status) ||
	    span_eq(name, span_of(status->own.name)))
		return buf_end(status->text);
	snprintf(todo, sizeof(todo),
	    "start that host and its gridapi, whose log says why it ends or is "
	    "not heard of; a node that does not come back: 'gridctl cluster "
	    "leave --node "
	    "%.*s' here",
	    SPAN_ARG(name));
	cluster_look_unwell(status, false, todo,
	    "node %.*s is not alive: it was last there %s", SPAN_ARG(name),
	    time);
	return buf_end(status->text);
}

/* --- all of them ---------------------------------------------------------- */

static void
judge_count(struct cluster_looking *status, const char *dir)
{
	char text[RUNNING_TEXT_MAX];
	const char *todo = status->own_alive ? NULL : running_todo(text, dir);

	if (!status->own_alive && (!cluster_look_hides(status) || todo == NULL))
		cluster_look_unwell(status, true,
		    todo != NULL ? todo
				 : "start gridapi; its log says why it ends",
		    "node %s, of this directory, is not alive",
		    status->own.name);
	if (status->looked->alive < status->options->nodes)
		cluster_look_unwell(status, false,
		    cluster_look_hides(status) ? status->rights.todo
					       : "start gridapi on the others",
		    "nodes that are alive: %u of %lld", status->looked->alive,
		    (long long)status->options->nodes);
}

/* As edition_make.c counts who can have an import's files. */
static enum err
judge_copies(struct cluster_looking *status, struct store *store)
{
	struct cluster_sharing sharing;
	enum err err = cluster_sharing(&sharing, store_dir(store), NULL);
	unsigned holders = 1 + status->receivers + (sharing.bucket ? 1 : 0);

	if (err == ERR_OK && sharing.files && holders < sharing.copies &&
	    !cluster_look_hides(status))
		cluster_look_unwell(status, true,
		    "start the other nodes; or lower copies, which is how "
		    "many have an import's files before any shows it",
		    "an import on this node is refused: copies is %u in its "
		    "cluster.conf, and those that can have the files are %u",
		    sharing.copies, holders);
	return err;
}

static enum err
look_at_all(struct cluster_looking *status)
{
	struct engine *engine = status->engine;
	enum err err = ERR_AWAY;

	if (status->head_known)
		err = cluster_look_await(status);
	cluster_look_begin(status, "nodes");
	if (err == ERR_OK)
		err = engine->nodes(engine, each_node, status);
	cluster_look_end(status);
	/* Nodes that are missed by an epoch that has ended may go on in another. */
	cluster_look_begin(status, "down");
	if (err == ERR_OK && !status->ended)
		err = roster_each(engine, each_of_roster, status);
	cluster_look_end(status);
	return err;
}

enum err
cluster_look_at_nodes(struct cluster_looking *status, struct store *store)
{
	enum err err;

	buf_init(&status->alive, LACKS_TEXT_MAX);
	buf_init(&status->old, LACKS_TEXT_MAX);
	err = store_place(store, STORE_STATE, &status->own_place);
	if (err == ERR_OK)
		err = look_at_all(status);
	if (err == ERR_OK)
		err = cluster_look_at_former(status, store);
	if (err == ERR_OK) {
		judge_count(status, store_dir(store));
		err = status->ended ? ERR_OK : judge_copies(status, store);
		if (err == ERR_OK && !status->ended)
			err = cluster_look_at_files(status, store);
	} else if (status->head_known)
		cluster_look_unwell(status, true, "look again",
		    "which nodes are alive is not known");
	buf_fini(&status->old);
	buf_fini(&status->alive);
	return err == ERR_AWAY ? ERR_OK : err;
}
