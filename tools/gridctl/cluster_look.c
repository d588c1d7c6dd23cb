#include "tools/gridctl/cluster_look.h"

#include <assert.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "common/date.h"
#include "common/members.h"
#include "lmdb-schema/store/cluster.h"
#include "lmdb-schema/store/store.h"
#include "lmdb-schema/upkeep/computed.h"
#include "lmdb-schema/upkeep/push.h"
#include "lmdb-schema/upkeep/standing.h"
#include "tools/gridctl/cluster_look_priv.h"
#include "tools/gridctl/cmd.h"

/* The exit code is 1, and the last lines say why. */
void
cluster_look_unwell(struct cluster_looking *status, bool here, const char *todo,
    const char *format, ...)
{
	char text[LACKS_WHY_MAX + 256];
	va_list args;

	va_start(args, format);
	vsnprintf(text, sizeof(text), format, args);
	va_end(args);
	buf_addf(&status->faults, "%s%s\t%s",
	    status->faults.len > 0 ? "\n" : "", text, todo);
	status->looked->faults++;
	if (status->options->unwell != NULL)
		status->options->unwell(
		    status->options->context, here, todo, text);
}

/* Of a member that refuses the nodes' user this is not known. */
static bool
lacks_leader(const struct engine_server *server)
{
	return server->there && server->why == NULL && !server->led;
}

static void
add_server(struct cluster_looking *status, const struct engine_server *server)
{
	if (status->options->json) {
		jsonw_object_begin(&status->json);
		members_string(&status->json, "address", server->address);
		members_bool(&status->json, "reachable", server->there);
		members_bool(&status->json, "leads", server->leads);
		members_bool(&status->json, "hasLeader", server->led);
		members_given(&status->json, "version", server->version);
		members_given(&status->json, "error", server->why);
		jsonw_object_end(&status->json);
	} else
		buf_addf(status->text, "etcd  %-32s %s%s%s\n", server->address,
		    server->there ? server->version : "out of reach: ",
		    server->why == NULL ? "" : server->why,
		    server->leads              ? ", leads"
			: lacks_leader(server) ? ", has no leader"
					       : "");
}

static enum err
each_server(void *context, const struct engine_server *server)
{
	struct cluster_looking *status = context;

	add_server(status, server);
	if (!server->there)
		cluster_look_unwell(status, false,
		    status->trouble.refusal[0] != '\0'
			? status->trouble.todo
			: "is etcd up on that host, and its network? A "
			  "majority must be there",
		    "etcd %s is out of reach: %s", server->address,
		    server->why);
	else if (lacks_leader(server))
		cluster_look_unwell(status, false,
		    "bring back the members that are out of reach: it needs a "
		    "majority",
		    "etcd %s answers, and has no leader", server->address);
	return buf_end(status->text);
}

void
cluster_look_begin(struct cluster_looking *status, const char *name)
{
	if (!status->options->json)
		return;
	jsonw_key(&status->json, name);
	jsonw_array_begin(&status->json);
}

void
cluster_look_end(struct cluster_looking *status)
{
	if (status->options->json)
		jsonw_array_end(&status->json);
}

static enum err
look_at_servers(struct cluster_looking *status)
{
	enum err err = ERR_OK;

	cluster_look_begin(status, "etcd");
	if (status->engine->servers != NULL)
		err = status->engine->servers(
		    status->engine, each_server, status);
	cluster_look_end(status);
	return err;
}

#define AWAY_NS INT64_C(5000000000)
#define AGAIN_US 200000

/*
 * Members that have lost their leader elect another one within a second or two. Where
 * it fails, *trouble says why.
 */
static bool
ask_for_heads(struct engine *engine, uint64_t heads[STORE_ENVS],
    struct engine_trouble *trouble)
{
	int64_t end_ns = date_monotonic_ns() + AWAY_NS;

	while (engine->heads(engine, false, heads) != ERR_OK) {
		engine_trouble(trouble, engine);
		if (trouble->refusal[0] != '\0' ||
		    date_monotonic_ns() >= end_ns)
			return false;
		usleep(AGAIN_US);
	}
	return true;
}

static void
tell_away(struct cluster_looking *status)
{
	const struct engine_trouble *trouble = &status->trouble;
	const char *title = status->engine->title;

	if (trouble->refusal[0] != '\0')
		cluster_look_unwell(status, true, trouble->todo,
		    "the log is out of reach: %s %s: %s", title,
		    trouble->refusal, trouble->why);
	else
		cluster_look_unwell(status, true, trouble->todo,
		    "the log is out of reach%s%s",
		    trouble->why[0] == '\0' ? "" : ": ", trouble->why);
}

static void
tell_standing(struct cluster_looking *status)
{
	char text[STANDING_TEXT_MAX], todo[STANDING_TEXT_MAX];

	standing_text(text, &status->standing);
	standing_todo(todo, &status->standing);
	cluster_look_unwell(status, true, todo, "%s", text);
}

/* A right that is lacking is told of; else what fails says why. */
static void
ask_rights(struct cluster_looking *status)
{
	struct engine *engine = status->engine;

	if (engine->rights != NULL && engine->rights(engine) == ERR_DENIED)
		status->lacks_rights =
		    engine_lacks_rights(&status->rights, engine);
}

static void
tell_rights(struct cluster_looking *status)
{
	const struct engine_trouble *rights = &status->rights;

	if (status->lacks_rights)
		cluster_look_unwell(status, true, rights->todo,
		    "%s %s: %s: writes are refused%s", status->engine->title,
		    rights->refusal, rights->why,
		    rights->hides_nodes
			? ", and which nodes are alive is not known"
			: "");
}

/* The heads, and whether this node goes on from where it is. */
static void
ask_log(struct cluster_looking *status, struct store *store)
{
	uint64_t heads[STORE_ENVS] = {0};

	status->standing.err = ERR_AWAY;
	status->head_known =
	    ask_for_heads(status->engine, heads, &status->trouble);
	if (status->head_known) {
		standing_look(&status->standing, store);
		ask_rights(status);
	}
	status->ended = status->standing.ended;
	status->stands = status->standing.err != ERR_OK;
	status->head = status->ended ? 0 : heads[STORE_STATE];
}

static void
tell_log(struct cluster_looking *status)
{
	if (!status->head_known)
		tell_away(status);
	else if (status->stands)
		tell_standing(status);
	tell_rights(status);
	if (status->options->json) {
		jsonw_key(&status->json, "state");
		if (status->head_known && !status->ended)
			jsonw_int(&status->json, (int64_t)status->head);
		else
			jsonw_null(&status->json);
		members_bool(&status->json, "ended", status->ended);
	} else if (status->ended)
		buf_add_text(
		    status->text, "log   has ended for this directory\n");
	else
		buf_addf(status->text, "log   %s%s\n",
		    status->head_known ? cmd_count(status->head)
				       : "out of reach",
		    status->head_known ? " entries" : "");
}

/* The import that all nodes are to show. */
static enum err
look_at_imports(struct cluster_looking *status, struct store *store)
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
look_at_computed(struct cluster_looking *status, struct store *store)
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
add_bucket(struct cluster_looking *status, const struct push_look *look,
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
look_at_bucket(struct cluster_looking *status, struct store *store)
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
		cluster_look_unwell(status, true,
		    "'gridctl cluster push' tries the settings; the nodes go "
		    "on "
		    "without",
		    "the bucket: %s", fault.message);
	return buf_end(status->text);
}

/* As gridctl doctor prints them; a program has the text alone. */
static void
add_faults(struct cluster_looking *status)
{
	struct span line, text, rest = buf_span(&status->faults);

	cluster_look_begin(status, "faults");
	while (span_cut(&line, &rest, '\n')) {
		(void)span_cut(&text, &line, '\t');
		if (status->options->json)
			jsonw_string(&status->json, text);
		else
			buf_addf(status->text, "fault %.*s\n   -> %.*s\n",
			    SPAN_ARG(text), SPAN_ARG(line));
	}
	cluster_look_end(status);
}

static enum err
look(struct cluster_looking *status, struct store *store)
{
	enum err err;

	/* Before the members, which have no leader during an election. */
	ask_log(status, store);
	err = look_at_servers(status);
	tell_log(status);
	if (err == ERR_OK)
		err = look_at_imports(status, store);
	if (err == ERR_OK)
		err = look_at_computed(status, store);
	if (err == ERR_OK)
		err = look_at_bucket(status, store);
	if (err == ERR_OK)
		err = cluster_look_at_nodes(status, store);
	return err;
}

enum err
cluster_look(struct cluster_looked *out, struct buf *text, struct store *store,
    const struct cluster_look_options *options, struct fault *fault)
{
	struct cluster_looking status = {.options = options,
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
