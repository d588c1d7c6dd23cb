#include "lmdb-schema/store/engine_pg.h"

#include <assert.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/date.h"
#include "common/log.h"
#include "lmdb-schema/store/engine_pg_priv.h"
#include "lmdb-schema/store/pg_refusal.h"

#define READ_MS 1300
#define ENTRY_MAX ((size_t)256 << 20)
#define BARRIER_NS INT64_C(500000000)

/* --- a request ------------------------------------------------------------ */

static void
lane_init(struct lane *lane)
{
	pthread_mutex_init(&lane->lock, NULL);
}

void
engine_pg_end(struct lane *lane)
{
	pg_close(lane->pg);
	lane->pg = NULL;
}

/* A host whose outcome is not known may be one that another took over from. */
static void
leave_place(const struct door *door, struct lane *lane)
{
	engine_pg_end(lane);
	lane->failed = lane->place;
	lane->place = (lane->place + 1) % pg_places_count(door->places);
}

static void
lane_fini(struct lane *lane)
{
	engine_pg_end(lane);
	pthread_mutex_destroy(&lane->lock);
}

void
engine_pg_begin(struct lane *lane, int64_t end_ns)
{
	lane->end_ns = end_ns;
	fault_clear(&lane->fault);
}

/* A refusal says more than a place that is away. */
static void
note_place(
    struct lane *lane, enum err err, const struct fault *fault, bool *refused)
{
	if (*refused)
		return;
	*refused = err == ERR_DENIED;
	if (*refused)
		fault_clear(&lane->fault);
	fault_set(&lane->fault, fault->place, "%s", fault->message);
	lane->failed = lane->place;
}

/* Each place that is left has its share of the time. */
static enum err
connect_lane(struct door *door, struct lane *lane)
{
	unsigned count = pg_places_count(door->places);
	bool refused = false;
	enum err err = ERR_AWAY;

	for (unsigned left = count; left > 0 && lane->pg == NULL; left--) {
		int64_t now = date_monotonic_ns();
		struct fault fault;

		fault_clear(&fault);
		err = pg_open(&lane->pg, door->places, lane->place,
		    now + (lane->end_ns - now) / left, ENGINE_REQUEST_MS,
		    &fault);
		if (err == ERR_OK || err == ERR_NO_MEMORY)
			break;
		note_place(lane, err, &fault, &refused);
		lane->place = (lane->place + 1) % count;
	}
	if (err == ERR_OK)
		lane->barrier_ns = 0;
	return err == ERR_AWAY && refused ? ERR_DENIED : err;
}

enum err
engine_pg_ask(struct door *door, struct lane *lane, const char *sql,
    const struct pg_value *values, unsigned count)
{
	enum err err = ERR_CLOSED;

	for (unsigned tries = 0; tries < 2 && err == ERR_CLOSED; tries++) {
		err = lane->pg == NULL ? connect_lane(door, lane) : ERR_OK;
		if (err != ERR_OK)
			return err;
		fault_clear(&lane->fault);
		err = pg_ask(
		    lane->pg, sql, values, count, lane->end_ns, &lane->fault);
		if (err == ERR_CLOSED)
			engine_pg_end(lane);
		else if (err == ERR_UNKNOWN)
			leave_place(door, lane);
	}
	return err == ERR_CLOSED ? ERR_AWAY : err;
}

/* Of a question that changes nothing. */
enum err
engine_pg_as_read(enum err err)
{
	return err == ERR_OK || err == ERR_NO_MEMORY ? err : ERR_AWAY;
}

enum err
engine_pg_barrier(struct door *door, struct lane *lane)
{
	static const char sql[] =
	    "SELECT pg_logical_emit_message(true, 'product-grid', '')";
	enum err err;

	/* On another connection it would say nothing of this one. */
	if (lane->pg == NULL)
		return ERR_AWAY;
	fault_clear(&lane->fault);
	err = pg_ask(lane->pg, sql, NULL, 0, lane->end_ns, &lane->fault);
	if (err == ERR_CLOSED || err == ERR_UNKNOWN)
		leave_place(door, lane);
	if (err == ERR_OK)
		lane->barrier_ns = date_monotonic_ns();
	return engine_pg_as_read(err);
}

/* Of a look at the log: without the right nothing else goes on either. */
static bool
is_refused(struct engine_trouble *trouble, struct door *door, struct lane *lane)
{
	const struct fault fault = lane->fault;

	if (!pg_refusal(trouble, &fault))
		return false;
	if (lane->pg != NULL && engine_pg_lacks(trouble, door, lane))
		trouble->of_rights = false;
	return true;
}

static void
note_failure(struct door *door, struct lane *lane, bool went)
{
	/* A statement that fails leaves the connection good. */
	const char *place = pg_place_name(
	    door->places, lane->pg != NULL ? lane->place : lane->failed);
	struct engine_trouble trouble;
	char where[300];

	if (is_refused(&trouble, door, lane)) {
		snprintf(where, sizeof(where), "host=%s", place);
		engine_refuses(&door->engine, &trouble, where);
		return;
	}
	snprintf(trouble.why, sizeof(trouble.why), "host %.80s: %.160s", place,
	    lane->fault.message);
	snprintf(trouble.todo, sizeof(trouble.todo),
	    "is PostgreSQL up on that host, and does it take writes; the "
	    "network "
	    "to it: docs/cluster.md");
	engine_fails(&door->engine, &trouble);
	if (went)
		log_error("PostgreSQL is away, nothing can be stored: host=%s "
			  "error=%s: %s",
		    place, lane->fault.place, lane->fault.message);
}

void
engine_pg_note(struct door *door, struct lane *lane, enum err err)
{
	enum engine_change change = engine_note(&door->pause, err);

	if (err == ERR_AWAY || err == ERR_UNKNOWN)
		note_failure(door, lane, change == ENGINE_WENT);
	else if (change == ENGINE_CAME) {
		engine_works(&door->engine);
		log_info("PostgreSQL is there again: host=%s",
		    pg_place_name(door->places, lane->place));
	}
}

/* --- tables --------------------------------------------------------------- */

static const char *const tables[] = {
    "CREATE TABLE IF NOT EXISTS product_grid_head (cluster bytea, log bigint, "
    "number bigint NOT NULL, chain bytea NOT NULL, PRIMARY KEY (cluster, log))",
    "CREATE TABLE IF NOT EXISTS product_grid_log (cluster bytea, log bigint, "
    "number bigint, id bytea NOT NULL, entry bytea NOT NULL, "
    "PRIMARY KEY (cluster, log, number))",
    "CREATE TABLE IF NOT EXISTS product_grid_node (cluster bytea, name bytea, "
    "address bytea NOT NULL, program bytea NOT NULL, run bytea NOT NULL, "
    "beat bigint NOT NULL, live bigint NOT NULL, catalog bigint NOT NULL, "
    "state bigint NOT NULL, log_version bigint NOT NULL, "
    "ends timestamptz NOT NULL, PRIMARY KEY (cluster, name))",
    "CREATE TABLE IF NOT EXISTS product_grid_note (cluster bytea, name bytea, "
    "text bytea NOT NULL, PRIMARY KEY (cluster, name))",
    "CREATE TABLE IF NOT EXISTS product_grid_epoch (cluster bytea PRIMARY KEY, "
    "text bytea NOT NULL)",
};

static const char first_head[] =
    "INSERT INTO product_grid_head VALUES ($1, $2, 0, $3) "
    "ON CONFLICT DO NOTHING";

/* Two nodes may do so at once: that a table is there shows later. */
static enum err
make_tables(struct door *door, struct lane *lane)
{
	enum err err = ERR_OK;

	for (size_t i = 0; i < sizeof(tables) / sizeof(tables[0]) &&
	     (err == ERR_OK || err == ERR_AWAY);
	     i++)
		err = engine_pg_ask(door, lane, tables[i], NULL, 0);
	return err == ERR_AWAY && lane->pg != NULL ? ERR_OK : err;
}

enum err
engine_pg_change(struct door *door, struct lane *lane, const char *sql,
    const struct pg_value *values, unsigned count)
{
	enum err err = engine_pg_ask(door, lane, sql, values, count);

	if (err != ERR_NOT_FOUND)
		return err;
	err = make_tables(door, lane);
	return err == ERR_OK ? engine_pg_ask(door, lane, sql, values, count)
			     : err;
}

/* Of a log that has no entry yet, and has none from this. */
static enum err
make_log(struct door *door, struct lane *lane, enum store_env log)
{
	static const char zeros[ENGINE_CHAIN_LEN];
	const struct pg_value values[] = {
	    name_of(door), number(log), bytes(span_make(zeros, sizeof(zeros)))};

	enum err err = engine_pg_change(door, lane, first_head, values, 3);

	return err == ERR_DENIED ? err : engine_pg_as_read(err);
}

/* --- heads ---------------------------------------------------------------- */

/* There are none yet: a user who may not make them has no log. */
static enum err
can_make_tables(struct door *door, struct lane *lane)
{
	static const char sql[] =
	    "SELECT 1::bigint "
	    "WHERE has_schema_privilege(current_schema(), 'CREATE')";
	enum err err = engine_pg_ask(door, lane, sql, NULL, 0);

	if (err != ERR_OK || pg_rows(pg_answer(lane->pg)) > 0)
		return err;
	fault_set(&lane->fault, "42501",
	    "permission denied for the schema: the tables are not there, and "
	    "the user may make none");
	return ERR_DENIED;
}

static enum err
ask_heads(
    struct door *door, struct lane *lane, bool sure, uint64_t heads[STORE_ENVS])
{
	static const char sql[] =
	    "SELECT log, number FROM product_grid_head WHERE cluster = $1";
	const struct pg_value name = name_of(door);
	enum err err;

	memset(heads, 0, STORE_ENVS * sizeof(heads[0]));
	engine_pg_begin(lane, engine_end_ns(0));
	err = engine_pg_ask(door, lane, sql, &name, 1);
	for (unsigned i = 0; err == ERR_OK && i < pg_rows(pg_answer(lane->pg));
	     i++)
		if (pg_number(pg_answer(lane->pg), i, 0) < STORE_ENVS)
			heads[pg_number(pg_answer(lane->pg), i, 0)] =
			    pg_number(pg_answer(lane->pg), i, 1);
	/* A server that another has taken over from goes on answering. */
	if (err == ERR_OK &&
	    (sure || date_monotonic_ns() - lane->barrier_ns >= BARRIER_NS))
		err = engine_pg_barrier(door, lane);
	else if (err == ERR_NOT_FOUND)
		err = can_make_tables(door, lane);
	err = engine_pg_as_read(err);
	engine_pg_note(door, lane, err);
	return err;
}

static enum err
get_heads(struct engine *engine, bool sure, uint64_t heads[STORE_ENVS])
{
	struct door *door = (struct door *)engine;
	enum err err;

	if (sure && engine_pauses(&door->pause))
		return ERR_AWAY;
	pthread_mutex_lock(&door->heads.lock);
	err = ask_heads(door, &door->heads, sure, heads);
	pthread_mutex_unlock(&door->heads.lock);
	return err;
}

/* --- appending ------------------------------------------------------------ */

struct append {
	enum store_env log;
	uint64_t after;
	struct span chain, id, entry;
};

/* ERR_BEHIND: another entry was the last one. */
static enum err
append_once(struct door *door, struct lane *lane, const struct append *append)
{
	static const char sql[] =
	    "WITH moved AS (UPDATE product_grid_head "
	    "SET number = $3 + 1, chain = $5 WHERE cluster = $1 AND log = $2 "
	    "AND number = $3 AND chain = $4 RETURNING number) "
	    "INSERT INTO product_grid_log (cluster, log, number, id, entry) "
	    "SELECT $1, $2, number, $6, $7 FROM moved RETURNING number";
	const struct pg_value values[] = {name_of(door), number(append->log),
	    number(append->after), bytes(append->chain),
	    bytes(span_sub(append->entry, ENGINE_CHAIN_AT, ENGINE_CHAIN_LEN)),
	    bytes(append->id), bytes(append->entry)};
	enum err err = engine_pg_ask(door, lane, sql, values, 7);

	return err == ERR_OK && pg_rows(pg_answer(lane->pg)) == 0 ? ERR_BEHIND
								  : err;
}

/* Why an entry was not taken. ERR_NOT_FOUND: there was no head then. */
static enum err
find_why(struct door *door, struct lane *lane, const struct append *append)
{
	static const char sql[] =
	    "SELECT h.number, l.id, h.chain FROM product_grid_head h "
	    "LEFT JOIN product_grid_log l ON l.cluster = h.cluster "
	    "AND l.log = h.log AND l.number = $3 + 1 "
	    "WHERE h.cluster = $1 AND h.log = $2";
	const struct pg_value values[] = {
	    name_of(door), number(append->log), number(append->after)};
	enum err err = engine_pg_ask(door, lane, sql, values, 3);
	uint64_t head;

	if (err != ERR_OK)
		return err;
	if (pg_rows(pg_answer(lane->pg)) == 0)
		return append->after == 0 ? ERR_NOT_FOUND : ERR_FORKED;
	head = pg_number(pg_answer(lane->pg), 0, 0);
	/* Another node has begun the log, after this one looked. */
	if (head == 0 && append->after == 0 &&
	    span_eq(pg_bytes(pg_answer(lane->pg), 0, 2), append->chain))
		return ERR_NOT_FOUND;
	/* With its number and another chain, it is another log. */
	if (head <= append->after)
		return ERR_FORKED;
	if (pg_is_null(pg_answer(lane->pg), 0, 1))
		return ERR_BEHIND;
	if (!span_eq(pg_bytes(pg_answer(lane->pg), 0, 1), append->id))
		return ERR_BEHIND;
	err = engine_pg_barrier(door, lane);
	return err == ERR_OK ? ERR_OK : ERR_UNKNOWN;
}

/* A request of before may arrive between the two: its id is looked for. */
static enum err
append_or_find(
    struct door *door, struct lane *lane, const struct append *append)
{
	enum err err = append_once(door, lane, append);

	return err == ERR_BEHIND ? find_why(door, lane, append) : err;
}

static enum err
append_known(struct door *door, struct lane *lane, const struct append *append)
{
	enum err err;

	engine_pg_begin(lane, engine_end_ns(append->entry.len));
	err = append_or_find(door, lane, append);
	if (err == ERR_NOT_FOUND && append->after == 0) {
		err = make_log(door, lane, append->log);
		if (err == ERR_OK)
			err = append_or_find(door, lane, append);
		if (err == ERR_NOT_FOUND)
			err = ERR_AWAY;
	}
	if (err == ERR_NOT_FOUND)
		err = ERR_FORKED;
	if (engine_pg_denied(door, lane, err))
		return ERR_AWAY;
	if (err == ERR_DENIED)
		err = ERR_AWAY;
	engine_pg_note(door, lane, err);
	if (err == ERR_OK)
		engine_pg_written(door, lane);
	return err;
}

/* Whether an append is worth its time limit. */
static bool
is_there(struct door *door, struct lane *lane)
{
	uint64_t heads[STORE_ENVS];

	if (!engine_has_failed(&door->pause))
		return true;
	return !engine_pauses(&door->pause) &&
	    ask_heads(door, lane, true, heads) == ERR_OK;
}

static enum err
append(struct engine *engine, enum store_env log, uint64_t after,
    struct span chain, struct span id, struct span entry)
{
	struct door *door = (struct door *)engine;
	struct lane *lane = &door->appends[log];
	const struct append what = {log, after, chain, id, entry};
	enum err err = ERR_AWAY;

	assert(log < STORE_ENVS && id.len == ENGINE_ID_LEN);
	assert(chain.len == ENGINE_CHAIN_LEN);
	assert(entry.len >= ENGINE_CHAIN_AT + ENGINE_CHAIN_LEN);
	if (entry.len > ENTRY_MAX)
		return ERR_TOO_LARGE;
	pthread_mutex_lock(&lane->lock);
	if (engine_doubts(&lane->doubt, id) || is_there(door, lane))
		err = append_known(door, lane, &what);
	err = engine_settle(&lane->doubt, id, err);
	pthread_mutex_unlock(&lane->lock);
	return err;
}

/* --- reading -------------------------------------------------------------- */

/*
 * Entries of about a megabyte, or one. The answer is taken, as the barrier's is
 * the next on the same connection.
 */
static enum err
read_some(struct door *door, struct lane *lane, enum store_env log,
    uint64_t after, struct pg_result **answer)
{
	static const char sql[] =
	    "SELECT h.number, l.number, l.entry FROM product_grid_head h "
	    "LEFT JOIN (SELECT number, entry, sum(octet_length(entry)) "
	    "OVER (ORDER BY number) AS total FROM (SELECT number, entry "
	    "FROM product_grid_log WHERE cluster = $1 AND log = $2 "
	    "AND number > $3 ORDER BY number LIMIT 64) AS next) AS l "
	    "ON l.total <= 1048576 OR l.number = $3 + 1 "
	    "WHERE h.cluster = $1 AND h.log = $2 AND h.number > $3 "
	    "ORDER BY l.number";
	const struct pg_value values[] = {
	    name_of(door), number(log), number(after)};
	enum err err;

	engine_pg_begin(lane, date_monotonic_ns() + READ_MS * ENGINE_NS_A_MS);
	err = engine_pg_ask(door, lane, sql, values, 3);
	if (err == ERR_NOT_FOUND)
		return ERR_OK;
	if (err == ERR_OK) {
		*answer = pg_take(lane->pg);
		err = engine_pg_barrier(door, lane);
	} else
		(void)engine_pg_denied(door, lane, err);
	return engine_pg_as_read(err);
}

/* Moves *after behind what was read; ERR_NOT_FOUND: the next one is trimmed. */
static enum err
give(const struct pg_result *answer, uint64_t *after,
    enum err (*each)(void *context, uint64_t number, struct span entry),
    void *context)
{
	enum err err = ERR_OK;

	for (unsigned i = 0; i < pg_rows(answer) && err == ERR_OK; i++) {
		if (pg_is_null(answer, i, 1) ||
		    pg_number(answer, i, 1) != *after + 1)
			return ERR_NOT_FOUND;
		err = each(context, *after + 1, pg_bytes(answer, i, 2));
		*after += err == ERR_OK;
	}
	return err;
}

static enum err
read_log(struct engine *engine, enum store_env log, uint64_t after,
    enum err (*each)(void *context, uint64_t number, struct span entry),
    void *context)
{
	struct door *door = (struct door *)engine;
	struct lane *lane = &door->reads[log];
	bool more = true;
	enum err err = ERR_OK;

	assert(log < STORE_ENVS && each != NULL);
	pthread_mutex_lock(&lane->lock);
	while (more && err == ERR_OK) {
		struct pg_result *answer = NULL;

		err = read_some(door, lane, log, after, &answer);
		more = pg_rows(answer) > 0;
		if (err == ERR_OK) {
			err = give(answer, &after, each, context);
			if (err == ERR_NOT_FOUND)
				log_error("log: entries that this node needs "
					  "are trimmed: log=%u number=%llu",
				    log, (unsigned long long)after);
		}
		pg_free(answer);
	}
	pthread_mutex_unlock(&lane->lock);
	return err;
}

/* --- nodes ---------------------------------------------------------------- */

static const char all_nodes[] =
    "SELECT name, address, program, run, beat, live, catalog, state, "
    "log_version FROM product_grid_node WHERE cluster = $1 "
    "AND ends > clock_timestamp() ORDER BY name";

static enum err
put_node(struct door *door, struct lane *lane, const struct engine_node *node,
    unsigned seconds)
{
	static const char sql[] =
	    "INSERT INTO product_grid_node AS n (cluster, name, address, "
	    "program, run, beat, live, catalog, state, log_version, ends) "
	    "VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, "
	    "clock_timestamp() + $11 * interval '1 second') "
	    "ON CONFLICT (cluster, name) DO UPDATE SET "
	    "address = excluded.address, program = excluded.program, "
	    "run = excluded.run, beat = excluded.beat, live = excluded.live, "
	    "catalog = excluded.catalog, state = excluded.state, "
	    "log_version = excluded.log_version, ends = excluded.ends "
	    "WHERE n.run = excluded.run OR n.ends <= clock_timestamp() "
	    "RETURNING 1::bigint";
	const struct pg_value values[] = {name_of(door),
	    bytes(span_of(node->name)), bytes(span_of(node->address)),
	    bytes(span_of(node->program)), bytes(span_of(node->run)),
	    number(node->beat), number(node->places[STORE_LIVE]),
	    number(node->places[STORE_CATALOG]),
	    number(node->places[STORE_STATE]), number(node->log_version),
	    number(seconds)};
	enum err err = engine_pg_change(door, lane, sql, values, 11);

	return err == ERR_OK && pg_rows(pg_answer(lane->pg)) == 0 ? ERR_EXISTS
								  : err;
}

/* Texts that are too long are none of ours. */
static bool
take_node(struct engine_node *node, const struct pg_result *answer, unsigned i)
{
	memset(node, 0, sizeof(*node));
	node->beat = pg_number(answer, i, 4);
	node->places[STORE_LIVE] = pg_number(answer, i, 5);
	node->places[STORE_CATALOG] = pg_number(answer, i, 6);
	node->places[STORE_STATE] = pg_number(answer, i, 7);
	node->log_version = (unsigned)pg_number(answer, i, 8);
	return span_copy(
		   node->name, sizeof(node->name), pg_bytes(answer, i, 0)) &&
	    span_copy(
		node->address, sizeof(node->address), pg_bytes(answer, i, 1)) &&
	    span_copy(
		node->program, sizeof(node->program), pg_bytes(answer, i, 2)) &&
	    span_copy(node->run, sizeof(node->run), pg_bytes(answer, i, 3));
}

/* The record of that name; one that has ended meanwhile is no other node's. */
static enum err
find_other(struct door *door, struct lane *lane, const char *name,
    struct engine_node *other)
{
	const struct pg_value cluster = name_of(door);
	enum err err = engine_pg_ask(door, lane, all_nodes, &cluster, 1);

	if (err != ERR_OK)
		return err;
	for (unsigned i = 0; i < pg_rows(pg_answer(lane->pg)); i++)
		if (take_node(other, pg_answer(lane->pg), i) &&
		    strcmp(other->name, name) == 0)
			return ERR_EXISTS;
	return ERR_AWAY;
}

static enum err
node_put(struct engine *engine, const struct engine_node *node,
    unsigned seconds, struct engine_node *other)
{
	struct door *door = (struct door *)engine;
	struct lane *lane = &door->nodes;
	enum err err;

	pthread_mutex_lock(&lane->lock);
	engine_pg_begin(lane, engine_end_ns(0));
	err = put_node(door, lane, node, seconds);
	if (err == ERR_EXISTS)
		err = find_other(door, lane, node->name, other);
	(void)engine_pg_denied(door, lane, err);
	if (err == ERR_OK)
		engine_pg_written(door, lane);
	pthread_mutex_unlock(&lane->lock);
	return err == ERR_EXISTS ? err : engine_pg_as_read(err);
}

/* `each` is given copies, and may ask for something else. */
static enum err
get_nodes(struct engine *engine,
    enum err (*each)(void *context, const struct engine_node *node),
    void *context)
{
	struct door *door = (struct door *)engine;
	struct lane *lane = &door->nodes;
	const struct pg_value cluster = name_of(door);
	struct pg_result *answer = NULL;
	enum err err;

	pthread_mutex_lock(&lane->lock);
	engine_pg_begin(lane, engine_end_ns(0));
	err = engine_pg_ask(door, lane, all_nodes, &cluster, 1);
	if (err == ERR_OK)
		answer = pg_take(lane->pg);
	(void)engine_pg_denied(door, lane, err);
	/* Without a table there is no node. */
	err = err == ERR_NOT_FOUND ? ERR_OK : engine_pg_as_read(err);
	pthread_mutex_unlock(&lane->lock);
	for (unsigned i = 0; i < pg_rows(answer) && err == ERR_OK; i++) {
		struct engine_node node;

		if (take_node(&node, answer, i))
			err = each(context, &node);
	}
	pg_free(answer);
	return err;
}

/* --- opening -------------------------------------------------------------- */

static void
close_door(struct engine *engine)
{
	struct door *door = (struct door *)engine;

	for (unsigned i = 0; i < STORE_ENVS; i++) {
		lane_fini(&door->appends[i]);
		lane_fini(&door->reads[i]);
	}
	lane_fini(&door->heads);
	lane_fini(&door->nodes);
	lane_fini(&door->notes);
	pg_places_free(door->places);
	free(door);
}

enum err
engine_pg_open(struct engine **out, const struct engine_pg_settings *settings,
    struct fault *fault)
{
	struct door *door = calloc(1, sizeof(*door));
	enum err err;

	*out = NULL;
	if (door == NULL)
		return ERR_NO_MEMORY;
	door->engine = (struct engine){.title = "PostgreSQL",
	    .append = append,
	    .read = read_log,
	    .heads = get_heads,
	    .node_put = node_put,
	    .rights = engine_pg_rights,
	    .nodes = get_nodes,
	    .close = close_door};
	engine_pg_for_upkeep(&door->engine);
	for (unsigned i = 0; i < STORE_ENVS; i++) {
		lane_init(&door->appends[i]);
		lane_init(&door->reads[i]);
	}
	lane_init(&door->heads);
	lane_init(&door->nodes);
	lane_init(&door->notes);
	err = engine_check_name(settings->name, fault);
	if (err == ERR_OK) {
		engine_epoch_name(door->base, settings->name, 0);
		engine_epoch_name(door->name, settings->name, settings->epoch);
		err = pg_places_new(&door->places, settings->postgres,
		    settings->password, fault);
	}
	if (err != ERR_OK) {
		close_door(&door->engine);
		return err;
	}
	*out = &door->engine;
	return ERR_OK;
}
