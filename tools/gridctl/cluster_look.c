#include "tools/gridctl/cluster_look.h"

#include <assert.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "common/members.h"
#include "lmdb-schema/store/cluster.h"
#include "lmdb-schema/store/store.h"
#include "lmdb-schema/upkeep/computed.h"
#include "lmdb-schema/upkeep/edition.h"
#include "lmdb-schema/upkeep/push.h"
#include "lmdb-schema/upkeep/lacks.h"
#include "tools/gridctl/cmd.h"

struct status {
	const struct cluster_look_options *options;
	struct cluster_looked *looked;
	struct engine *engine;
	struct engine_node own; /* by this data directory */
	struct jsonw json;
	struct buf *text;
	struct editions editions;
	bool head_known;
	bool ended; /* with its epoch: `head` is 0 then */
	uint64_t head;
	bool own_alive;
	struct buf lacks; /* what nodes have told: lacks.h */
	struct buf faults; /* what is not well, a line each */
};

/* The exit code is 1, and the last lines say why. */
__attribute__((format(printf, 4, 5))) static void
unwell(
    struct status *status, bool here, const char *todo, const char *format, ...)
{
	char text[512];
	va_list args;

	va_start(args, format);
	vsnprintf(text, sizeof(text), format, args);
	va_end(args);
	buf_addf(
	    &status->faults, "%s%s", status->faults.len > 0 ? "\n" : "", text);
	status->looked->faults++;
	if (status->options->unwell != NULL)
		status->options->unwell(
		    status->options->context, here, todo, text);
}

static void
add_server(struct status *status, const struct engine_server *server)
{
	if (status->options->json) {
		jsonw_object_begin(&status->json);
		members_string(&status->json, "address", server->address);
		members_bool(&status->json, "reachable", server->there);
		members_bool(&status->json, "leads", server->leads);
		members_given(&status->json, "version", server->version);
		members_given(&status->json, "error", server->why);
		jsonw_object_end(&status->json);
	} else
		buf_addf(status->text, "etcd  %-32s %s%s%s\n", server->address,
		    server->there ? server->version : "out of reach: ",
		    server->there ? "" : server->why,
		    server->leads ? ", leads" : "");
}

static enum err
each_server(void *context, const struct engine_server *server)
{
	struct status *status = context;

	add_server(status, server);
	if (!server->there)
		unwell(status, false,
		    "is etcd up on that host, and its network? A majority must "
		    "be there",
		    "etcd %s is out of reach", server->address);
	return buf_end(status->text);
}

/* A record that is no node's: of one that joins, or of a second one of a name. */
static bool
is_aside(struct status *status, const struct engine_node *node)
{
	bool joins = strcmp(node->run, ENGINE_RUN_JOINS) == 0;
	size_t len = strlen(node->name);

	if (!joins && strcmp(node->run, ENGINE_RUN_TWIN) != 0)
		return false;
	if (!status->options->json)
		buf_addf(status->text, "node  %-20s %s\n", node->name,
		    joins ? "it has no state yet"
			  : "it has the name of another node");
	if (!joins)
		unwell(status, true,
		    "set another [cluster] node in cluster.conf of that host, "
		    "and start its gridapi anew",
		    "node %.*s is there twice: the one on host %s takes in "
		    "nothing",
		    (int)(len - strlen("." ENGINE_RUN_TWIN)), node->name,
		    node->program);
	return true;
}

/* The node itself has told of it, after LACKS_S. */
static void
tell_lacks(struct status *status, const struct engine_node *node,
    const struct lacks *lacks)
{
	static const char todo[] =
	    "'gridctl cluster pull' on that node says why it does not come";
	bool here = strcmp(node->name, status->own.name) == 0;

	if (lacks->import != 0)
		unwell(status, here, todo,
		    "node %s shows import %s, and does not get import %s",
		    node->name, cmd_count(node->places[STORE_LIVE]),
		    cmd_count(lacks->import));
	if (lacks->stands[0] != '\0')
		unwell(status, here,
		    "the log of gridapi on that node says more; it goes on by "
		    "itself once the reason is gone",
		    "node %s does not take in the log: %s", node->name,
		    lacks->stands);
	if (lacks->snapshots != 0)
		unwell(status, here, todo,
		    "node %s does not get the snapshots that it lacks: %s",
		    node->name, cmd_count(lacks->snapshots));
}

static void
add_node(struct status *status, const struct engine_node *node, uint64_t behind,
    const struct lacks *lacks)
{
	uint64_t place = node->places[STORE_STATE];
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
		jsonw_object_end(&status->json);
	} else
		buf_addf(status->text,
		    "node  %-20s alive, %s entries, %s behind, import %s%s, "
		    "version %s %s\n",
		    node->name, cmd_count(place), cmd_count(behind),
		    cmd_count(import),
		    import < status->editions.now.number
			? ", which is not the last"
			: "",
		    node->program, node->address);
}

static enum err
each_node(void *context, const struct engine_node *node)
{
	struct status *status = context;
	uint64_t place = node->places[STORE_STATE];
	uint64_t behind = status->head > place ? status->head - place : 0;
	bool own = strcmp(node->name, status->own.name) == 0;
	struct lacks lacks;

	if (is_aside(status, node))
		return buf_end(status->text);
	status->looked->alive++;
	if (own) {
		status->own_alive = true;
		status->looked->behind = behind;
	}
	if (behind > (uint64_t)status->options->behind)
		unwell(status, own,
		    "the log of gridapi on that node says why: an entry of a "
		    "later version, entries that are trimmed, a full disk",
		    "node %s is %s entries behind", node->name,
		    cmd_count(behind));
	lacks_find(&lacks, &status->lacks, node);
	tell_lacks(status, node, &lacks);
	add_node(status, node, behind, &lacks);
	return buf_end(status->text);
}

static void
begin_part(struct status *status, const char *name)
{
	if (!status->options->json)
		return;
	jsonw_key(&status->json, name);
	jsonw_array_begin(&status->json);
}

static void
end_part(struct status *status)
{
	if (status->options->json)
		jsonw_array_end(&status->json);
}

static enum err
look_at_servers(struct status *status)
{
	enum err err = ERR_OK;

	begin_part(status, "etcd");
	if (status->engine->servers != NULL)
		err = status->engine->servers(
		    status->engine, each_server, status);
	end_part(status);
	return err;
}

static void
look_at_log(struct status *status)
{
	uint64_t heads[STORE_ENVS] = {0};

	status->head_known =
	    status->engine->heads(status->engine, false, heads) == ERR_OK;
	status->ended =
	    status->head_known && heads[STORE_STATE] >= ENGINE_ENDED;
	status->head = status->ended ? 0 : heads[STORE_STATE];
	if (!status->head_known)
		unwell(status, true,
		    "bring a majority back; the network between the hosts, "
		    "certificates and the password: docs/cluster.md",
		    "the log is out of reach");
	else if (status->ended)
		unwell(status, true,
		    "stop this node, 'gridctl cluster join', start it",
		    "the log has ended for this directory");
	if (status->options->json) {
		jsonw_key(&status->json, "state");
		if (status->head_known && !status->ended)
			jsonw_int(&status->json, (int64_t)status->head);
		else
			jsonw_null(&status->json);
		members_bool(&status->json, "ended", status->ended);
	} else if (status->ended)
		buf_add_text(status->text,
		    "log   has ended: this directory's state is of before the "
		    "cluster began (again): 'gridctl cluster join'\n");
	else
		buf_addf(status->text, "log   %s%s\n",
		    status->head_known ? cmd_count(status->head)
				       : "out of reach",
		    status->head_known ? " entries" : "");
}

/* The import that all nodes are to show. */
static enum err
look_at_imports(struct status *status, struct store *store)
{
	enum err err = edition_look(&status->editions, store);
	const struct edition *now = &status->editions.now;

	if (status->options->json)
		members_int(&status->json, "import", (int64_t)now->number);
	else if (now->number > 0)
		buf_addf(status->text, "last  import %s of node %s\n",
		    cmd_count(now->number), now->node);
	return err;
}

/* Of snapshots that all nodes are to show, those that this one does. */
static enum err
look_at_computed(struct status *status, struct store *store)
{
	struct computed_counts counts;
	enum err err = computed_count(&counts, store);

	if (err == ERR_OK)
		err = lacks_look(&status->looked->lacks, store);
	if (status->options->json) {
		members_int(
		    &status->json, "computations", (int64_t)counts.published);
		members_int(
		    &status->json, "snapshots", (int64_t)counts.snapshots);
		members_int(
		    &status->json, "snapshotsKept", (int64_t)counts.kept);
		members_int(
		    &status->json, "snapshotsHere", (int64_t)counts.here);
		members_int(&status->json, "snapshotsLacking",
		    (int64_t)status->looked->lacks.snapshots);
	} else if (counts.snapshots > 0)
		buf_addf(status->text,
		    "have  %s computed suppliers, %s of them kept here, of "
		    "which %s are there\n",
		    cmd_count(counts.snapshots), cmd_count(counts.kept),
		    cmd_count(counts.here));
	return err;
}

static void
add_bucket(struct status *status, const struct push_look *look,
    const struct fault *fault)
{
	bool there = !fault_is_set(fault);

	if (status->options->json) {
		members_object(&status->json, "bucket");
		members_string(&status->json, "address", look->url);
		members_bool(&status->json, "reachable", there);
		members_int(&status->json, "import", (int64_t)look->edition);
		members_int(
		    &status->json, "snapshots", (int64_t)look->snapshots);
		members_int(&status->json, "bytes", (int64_t)look->bytes);
		members_given(&status->json, "error", fault->message);
		jsonw_object_end(&status->json);
	} else if (there)
		buf_addf(status->text,
		    "files %s %s, import %s%s, %s snapshots\n", look->url,
		    cmd_bytes(look->bytes), cmd_count(look->edition),
		    look->edition < status->editions.now.number
			? ", which is not the last"
			: "",
		    cmd_count(look->snapshots));
	else
		buf_addf(
		    status->text, "files %s %s\n", look->url, fault->message);
}

static enum err
look_at_bucket(struct status *status, struct store *store)
{
	struct push_look look;
	struct fault fault;
	enum err err;

	if (!status->options->bucket)
		return ERR_OK;
	fault_clear(&fault);
	err = push_look(&look, store, &fault);
	if (err != ERR_OK)
		fault_set(&fault, "bucket", "%s", err_text(err));
	if (look.url[0] != '\0')
		add_bucket(status, &look, &fault);
	if (err != ERR_OK)
		unwell(status, true,
		    "'gridctl cluster push' tries the settings; the nodes go "
		    "on "
		    "without",
		    "the bucket: %s", fault.message);
	return buf_end(status->text);
}

static enum err
look_at_nodes(struct status *status)
{
	enum err err = ERR_AWAY;

	begin_part(status, "nodes");
	if (status->head_known)
		err = lacks_read(&status->lacks, status->engine);
	if (err == ERR_OK)
		err = status->engine->nodes(status->engine, each_node, status);
	end_part(status);
	if (err != ERR_OK && status->head_known)
		unwell(status, true, "look again",
		    "which nodes are alive is not known");
	else if (err == ERR_OK && !status->own_alive)
		unwell(status, true, "start gridapi; its log says why it ends",
		    "node %s, of this directory, is not alive",
		    status->own.name);
	if (err == ERR_OK && status->looked->alive < status->options->nodes)
		unwell(status, false, "start gridapi on the others",
		    "nodes that are alive: %u of %lld", status->looked->alive,
		    (long long)status->options->nodes);
	return err == ERR_AWAY ? ERR_OK : err;
}

static void
add_faults(struct status *status)
{
	struct span line, rest = buf_span(&status->faults);

	begin_part(status, "faults");
	while (span_cut(&line, &rest, '\n'))
		if (status->options->json)
			jsonw_string(&status->json, line);
		else
			buf_addf(status->text, "fault %.*s\n", SPAN_ARG(line));
	end_part(status);
}

static enum err
look(struct status *status, struct store *store)
{
	enum err err = look_at_servers(status);

	look_at_log(status);
	if (err == ERR_OK)
		err = look_at_imports(status, store);
	if (err == ERR_OK)
		err = look_at_computed(status, store);
	if (err == ERR_OK)
		err = look_at_bucket(status, store);
	if (err == ERR_OK)
		err = look_at_nodes(status);
	return err;
}

enum err
cluster_look(struct cluster_looked *out, struct buf *text, struct store *store,
    const struct cluster_look_options *options, struct fault *fault)
{
	struct status status = {.options = options,
	    .looked = out,
	    .text = text,
	    .engine = store_engine(store)};
	enum err err;

	assert(status.engine != NULL);
	memset(out, 0, sizeof(*out));
	buf_init(&status.lacks, LACKS_TEXT_MAX);
	buf_init(&status.faults, (size_t)1 << 20);
	jsonw_init(&status.json, text);
	if (options->json)
		jsonw_object_begin(&status.json);
	err = cluster_node(&status.own, store_dir(store), fault);
	if (err == ERR_OK)
		err = look(&status, store);
	out->entries = status.head;
	add_faults(&status);
	if (options->json) {
		members_bool(&status.json, "well", out->faults == 0);
		jsonw_object_end(&status.json);
		buf_add_char(text, '\n');
	}
	if (err == ERR_OK)
		err = buf_end(&status.faults);
	buf_fini(&status.faults);
	buf_fini(&status.lacks);
	return err;
}
