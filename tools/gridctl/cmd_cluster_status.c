/* gridctl cluster status: whether the nodes and their log are well. */
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "common/members.h"
#include "common/opt.h"
#include "lmdb-schema/store/cluster.h"
#include "lmdb-schema/store/store.h"
#include "lmdb-schema/upkeep/computed.h"
#include "lmdb-schema/upkeep/edition.h"
#include "lmdb-schema/upkeep/push.h"
#include "tools/gridctl/cmd.h"

struct options {
	bool json;
	int64_t nodes, behind;
};

#define AT(member) offsetof(struct options, member)

static const struct opt_row rows[] = {
    {"--json", 0, OPT_FLAG, AT(json), 0, 0, NULL, "as a JSON object"},
    {"--nodes", 0, OPT_INT, AT(nodes), 0, 1000, "N",
	"fail when fewer nodes are alive"},
    {"--behind", 0, OPT_INT, AT(behind), 0, INT64_MAX, "N",
	"fail when a node lacks more entries (default 1000)"},
};

static const struct opt_spec spec = {
    .usage = "gridctl [--data DIR] cluster status [OPTION]...",
    .about = "Asks each member of etcd, and lists the nodes that are alive: "
	     "what each has of the log, and its version. Exits with 1 when "
	     "one is not well.",
    .rows = rows,
    .count = 3,
};

struct status {
	struct options options;
	struct engine *engine;
	struct engine_node own; /* by this data directory */
	struct jsonw json;
	struct buf text;
	struct editions editions;
	bool head_known;
	bool ended; /* with its epoch: `head` is 0 then */
	uint64_t head;
	unsigned alive;
	bool own_alive;
	struct buf faults; /* what is not well, a line each */
};

/* The exit code is 1, and the last lines say why. */
__attribute__((format(printf, 2, 3))) static void
unwell(struct status *status, const char *format, ...)
{
	char text[512];
	va_list args;

	va_start(args, format);
	vsnprintf(text, sizeof(text), format, args);
	va_end(args);
	buf_addf(
	    &status->faults, "%s%s", status->faults.len > 0 ? "\n" : "", text);
}

static void
add_server(struct status *status, const struct engine_server *server)
{
	if (status->options.json) {
		jsonw_object_begin(&status->json);
		members_string(&status->json, "address", server->address);
		members_bool(&status->json, "reachable", server->there);
		members_bool(&status->json, "leads", server->leads);
		members_given(&status->json, "version", server->version);
		members_given(&status->json, "error", server->why);
		jsonw_object_end(&status->json);
	} else
		buf_addf(&status->text, "etcd  %-32s %s%s%s\n", server->address,
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
		unwell(status, "etcd %s is out of reach", server->address);
	return buf_end(&status->text);
}

static enum err
each_node(void *context, const struct engine_node *node)
{
	struct status *status = context;
	uint64_t place = node->places[STORE_STATE];
	uint64_t behind = status->head > place ? status->head - place : 0;
	bool lacks = node->places[STORE_LIVE] < status->editions.now.number;

	if (strcmp(node->run, ENGINE_RUN_JOINS) == 0) {
		if (!status->options.json)
			buf_addf(&status->text,
			    "node  %-20s it has no state yet\n", node->name);
		return buf_end(&status->text);
	}
	status->alive++;
	status->own_alive |= strcmp(node->name, status->own.name) == 0;
	if (behind > (uint64_t)status->options.behind)
		unwell(status, "node %s is %s entries behind", node->name,
		    cmd_count(behind));
	if (status->options.json) {
		jsonw_object_begin(&status->json);
		members_string(&status->json, "name", node->name);
		members_given(&status->json, "address", node->address);
		members_string(&status->json, "version", node->program);
		members_int(&status->json, "logVersion", node->log_version);
		members_int(&status->json, "state", (int64_t)place);
		members_int(&status->json, "behind", (int64_t)behind);
		members_int(
		    &status->json, "import", (int64_t)node->places[STORE_LIVE]);
		jsonw_object_end(&status->json);
	} else
		buf_addf(&status->text,
		    "node  %-20s alive, %s entries, %s behind, import %s%s, "
		    "version %s %s\n",
		    node->name, cmd_count(place), cmd_count(behind),
		    cmd_count(node->places[STORE_LIVE]),
		    lacks ? ", which is not the last" : "", node->program,
		    node->address);
	return buf_end(&status->text);
}

static void
begin_part(struct status *status, const char *name)
{
	if (!status->options.json)
		return;
	jsonw_key(&status->json, name);
	jsonw_array_begin(&status->json);
}

static void
end_part(struct status *status)
{
	if (status->options.json)
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
		unwell(status, "the log is out of reach");
	else if (status->ended)
		unwell(status, "the log has ended for this directory");
	if (status->options.json) {
		jsonw_key(&status->json, "state");
		if (status->head_known && !status->ended)
			jsonw_int(&status->json, (int64_t)status->head);
		else
			jsonw_null(&status->json);
		members_bool(&status->json, "ended", status->ended);
	} else if (status->ended)
		buf_add_text(&status->text,
		    "log   has ended: this directory's state is of before the "
		    "cluster began (again): 'gridctl cluster join'\n");
	else
		buf_addf(&status->text, "log   %s%s\n",
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

	if (status->options.json)
		members_int(&status->json, "import", (int64_t)now->number);
	else if (now->number > 0)
		buf_addf(&status->text, "last  import %s of node %s\n",
		    cmd_count(now->number), now->node);
	return err;
}

/* Of snapshots that all nodes are to show, those that this one does. */
static enum err
look_at_computed(struct status *status, struct store *store)
{
	struct computed_counts counts;
	enum err err = computed_count(&counts, store);

	if (status->options.json) {
		members_int(
		    &status->json, "computations", (int64_t)counts.published);
		members_int(
		    &status->json, "snapshots", (int64_t)counts.snapshots);
		members_int(
		    &status->json, "snapshotsKept", (int64_t)counts.kept);
		members_int(
		    &status->json, "snapshotsHere", (int64_t)counts.here);
	} else if (counts.snapshots > 0)
		buf_addf(&status->text,
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

	if (status->options.json) {
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
		buf_addf(&status->text,
		    "files %s %s, import %s%s, %s snapshots\n", look->url,
		    cmd_bytes(look->bytes), cmd_count(look->edition),
		    look->edition < status->editions.now.number
			? ", which is not the last"
			: "",
		    cmd_count(look->snapshots));
	else
		buf_addf(
		    &status->text, "files %s %s\n", look->url, fault->message);
}

static enum err
look_at_bucket(struct status *status, struct store *store)
{
	struct push_look look;
	struct fault fault;
	enum err err;

	fault_clear(&fault);
	err = push_look(&look, store, &fault);
	if (err != ERR_OK)
		fault_set(&fault, "bucket", "%s", err_text(err));
	if (look.url[0] != '\0')
		add_bucket(status, &look, &fault);
	if (err != ERR_OK)
		unwell(status, "the bucket: %s", fault.message);
	return buf_end(&status->text);
}

static enum err
look_at_nodes(struct status *status)
{
	enum err err = ERR_AWAY;

	begin_part(status, "nodes");
	if (status->head_known)
		err = status->engine->nodes(status->engine, each_node, status);
	end_part(status);
	if (err != ERR_OK)
		unwell(status, "which nodes are alive is not known");
	else if (!status->own_alive)
		unwell(status, "node %s, of this directory, is not alive",
		    status->own.name);
	if (err == ERR_OK && status->alive < status->options.nodes)
		unwell(status, "nodes that are alive: %u of %lld",
		    status->alive, (long long)status->options.nodes);
	return err == ERR_AWAY ? ERR_OK : err;
}

static void
add_faults(struct status *status)
{
	struct span line, rest = buf_span(&status->faults);

	begin_part(status, "faults");
	while (span_cut(&line, &rest, '\n'))
		if (status->options.json)
			jsonw_string(&status->json, line);
		else
			buf_addf(&status->text, "fault %.*s\n", SPAN_ARG(line));
	end_part(status);
}

static int
look(struct status *status, struct store *store)
{
	enum err err;

	buf_init(&status->text, (size_t)1 << 24);
	jsonw_init(&status->json, &status->text);
	if (status->options.json)
		jsonw_object_begin(&status->json);
	err = look_at_servers(status);
	look_at_log(status);
	if (err == ERR_OK)
		err = look_at_imports(status, store);
	if (err == ERR_OK)
		err = look_at_computed(status, store);
	if (err == ERR_OK)
		err = look_at_bucket(status, store);
	if (err == ERR_OK)
		err = look_at_nodes(status);
	add_faults(status);
	if (status->options.json) {
		members_bool(&status->json, "well", status->faults.len == 0);
		jsonw_object_end(&status->json);
		buf_add_char(&status->text, '\n');
	}
	buf_fail(&status->text, err);
	buf_fail(&status->text, buf_end(&status->faults));
	return cmd_print(&status->text, "cluster status");
}

int
cmd_cluster_status(int argc, char **argv)
{
	struct status status = {.options = {.behind = 1000}};
	struct store *store = NULL;
	struct fault fault;
	int args, result;
	enum err err;

	result = cmd_options(&status.options, &spec, argc, argv, &args);
	if (result != CMD_GO)
		return result;
	buf_init(&status.faults, (size_t)1 << 20);
	fault_clear(&fault);
	err = cluster_node(&status.own, cmd_data_dir(), &fault);
	if (err == ERR_OK)
		err = store_open_piecemeal(&store, cmd_data_dir(), &fault);
	if (err == ERR_OK && !store_is_shared(store))
		err = cluster_untold(cmd_data_dir(), &fault);
	if (err == ERR_OK) {
		status.engine = store_engine(store);
		result = look(&status, store);
	} else
		result = cmd_fail("cluster status", err, &fault);
	store_close(store);
	if (result == CMD_DONE && status.faults.len > 0)
		result = CMD_FAILED;
	buf_fini(&status.faults);
	return result;
}
