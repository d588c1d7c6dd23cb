/* The functions of the door to PostgreSQL for gridctl cluster (engine.h). */
#include <assert.h>
#include <string.h>

#include "common/date.h"
#include "lmdb-schema/store/engine_pg_priv.h"

/* As long as the server itself lets a statement take. */
#define UPKEEP_MS (8 * ENGINE_REQUEST_MS)

static struct lane *
enter(struct door *door)
{
	struct lane *lane = &door->notes;

	pthread_mutex_lock(&lane->lock);
	engine_pg_begin(lane, date_monotonic_ns() + UPKEEP_MS * ENGINE_NS_A_MS);
	return lane;
}

/* A request that may be sent again. */
static enum err
leave(struct door *door, struct lane *lane, enum err err)
{
	bool denied = engine_pg_denied(door, lane, err);

	err = engine_pg_as_read(err);
	if (!denied)
		engine_pg_note(door, lane, err);
	pthread_mutex_unlock(&lane->lock);
	return err;
}

static enum err
change(struct door *door, const char *sql, const struct pg_value *values,
    unsigned count)
{
	struct lane *lane = enter(door);

	return leave(
	    door, lane, engine_pg_change(door, lane, sql, values, count));
}

/* The rows, which pg_free() frees; none where there is no table. */
static enum err
look(struct door *door, const char *sql, const struct pg_value *values,
    unsigned count, struct pg_result **answer)
{
	struct lane *lane = enter(door);
	enum err err = engine_pg_ask(door, lane, sql, values, count);

	*answer = NULL;
	if (err == ERR_OK) {
		*answer = pg_take(lane->pg);
		err = engine_pg_barrier(door, lane);
	} else if (err == ERR_NOT_FOUND)
		err = ERR_OK;
	return leave(door, lane, err);
}

/* --- trimming ------------------------------------------------------------- */

/* The entries that one statement removes. */
#define TRIMMED_AT_ONCE 1000

static enum err
trim_some(struct door *door, const struct pg_value values[4], bool *more)
{
	static const char sql[] =
	    "DELETE FROM product_grid_log WHERE cluster = $1 AND log = $2 "
	    "AND number IN (SELECT l.number FROM product_grid_log l "
	    "JOIN product_grid_head h ON h.cluster = l.cluster "
	    "AND h.log = l.log WHERE l.cluster = $1 AND l.log = $2 "
	    "AND l.number <= $3 AND l.number < h.number "
	    "ORDER BY l.number LIMIT $4) RETURNING number";
	struct lane *lane = enter(door);
	enum err err = engine_pg_change(door, lane, sql, values, 4);

	*more =
	    err == ERR_OK && pg_rows(pg_answer(lane->pg)) == TRIMMED_AT_ONCE;
	return leave(door, lane, err);
}

static enum err
trim(struct engine *engine, enum store_env log, uint64_t up_to)
{
	struct door *door = (struct door *)engine;
	const struct pg_value values[] = {name_of(door), number(log),
	    number(up_to > INT64_MAX ? INT64_MAX : up_to),
	    number(TRIMMED_AT_ONCE)};
	bool more = true;
	enum err err = ERR_OK;

	assert(log < STORE_ENVS);
	while (err == ERR_OK && more)
		err = trim_some(door, values, &more);
	return err;
}

/* --- nodes and notes ------------------------------------------------------ */

static enum err
drop_node(struct engine *engine, const char *name)
{
	struct door *door = (struct door *)engine;
	const struct pg_value values[] = {name_of(door), bytes(span_of(name))};

	return change(door,
	    "DELETE FROM product_grid_node WHERE cluster = $1 AND name = $2",
	    values, 2);
}

static enum err
put_note(struct engine *engine, struct span name, struct span text)
{
	struct door *door = (struct door *)engine;
	const struct pg_value values[] = {
	    name_of(door), bytes(name), bytes(text)};

	return change(door,
	    "INSERT INTO product_grid_note VALUES ($1, $2, $3) "
	    "ON CONFLICT (cluster, name) DO UPDATE SET text = excluded.text",
	    values, 3);
}

static enum err
drop_note(struct engine *engine, struct span name)
{
	struct door *door = (struct door *)engine;
	const struct pg_value values[] = {name_of(door), bytes(name)};

	return change(door,
	    "DELETE FROM product_grid_note WHERE cluster = $1 AND name = $2",
	    values, 2);
}

static enum err
get_notes(struct engine *engine, const char *prefix,
    enum err (*each)(void *context, struct span name, struct span text),
    void *context)
{
	static const char sql[] =
	    "SELECT name, text FROM product_grid_note WHERE cluster = $1 "
	    "AND substring(name FOR octet_length($2)) = $2 ORDER BY name";
	struct door *door = (struct door *)engine;
	const struct pg_value values[] = {
	    name_of(door), bytes(span_of(prefix))};
	struct pg_result *answer;
	enum err err = look(door, sql, values, 2, &answer);

	for (unsigned i = 0; err == ERR_OK && i < pg_rows(answer); i++)
		err = each(
		    context, pg_bytes(answer, i, 0), pg_bytes(answer, i, 1));
	pg_free(answer);
	return err;
}

/* --- epochs --------------------------------------------------------------- */

static enum err
get_epoch(struct engine *engine, struct buf *text)
{
	struct door *door = (struct door *)engine;
	const struct pg_value name = bytes(span_of(door->base));
	struct pg_result *answer;
	enum err err =
	    look(door, "SELECT text FROM product_grid_epoch WHERE cluster = $1",
		&name, 1, &answer);

	buf_clear(text);
	if (err == ERR_OK && pg_rows(answer) > 0)
		buf_add_span(text, pg_bytes(answer, 0, 0));
	pg_free(answer);
	return err == ERR_OK ? buf_end(text) : err;
}

struct beginning {
	struct lane *lane;
	struct span before, now, chain;
	uint64_t number;
	struct pg_value base, old, new; /* names */
};

/* On the connection of the transaction, which a failure ends. */
static enum err
step(const struct beginning *beginning, const char *sql,
    const struct pg_value *values, unsigned count)
{
	struct lane *lane = beginning->lane;

	if (lane->pg == NULL)
		return ERR_AWAY;
	return pg_ask(lane->pg, sql, values, count, lane->end_ns, &lane->fault);
}

static enum err
check_epoch(const struct beginning *beginning)
{
	enum err err = step(beginning,
	    "SELECT text FROM product_grid_epoch WHERE cluster = $1 "
	    "FOR UPDATE",
	    &beginning->base, 1);

	if (err != ERR_OK)
		return err;
	assert(pg_rows(pg_answer(beginning->lane->pg)) == 1);
	return span_eq(pg_bytes(pg_answer(beginning->lane->pg), 0, 0),
		   beginning->before)
	    ? ERR_OK
	    : ERR_EXISTS;
}

/* A node that has not joined may write until then, and writes none behind it. */
static enum err
end_log(const struct beginning *beginning)
{
	const struct pg_value values[] = {
	    beginning->old, number(STORE_STATE), number(ENGINE_ENDED)};
	enum err err = step(beginning,
	    "INSERT INTO product_grid_head VALUES ($1, $2, 0, '') "
	    "ON CONFLICT DO NOTHING",
	    values, 2);

	if (err == ERR_OK)
		err = step(beginning,
		    "SELECT number FROM product_grid_head WHERE cluster = $1 "
		    "AND log = $2 FOR UPDATE",
		    values, 2);
	if (err == ERR_OK && beginning->number == 0 &&
	    pg_number(pg_answer(beginning->lane->pg), 0, 0) > 0)
		return ERR_EXISTS;
	if (err == ERR_OK)
		err = step(beginning,
		    "UPDATE product_grid_head SET number = $3 "
		    "WHERE cluster = $1 AND log = $2",
		    values, 3);
	return err;
}

static enum err
begin_log(const struct beginning *beginning)
{
	const struct pg_value values[] = {beginning->new, number(STORE_STATE),
	    number(beginning->number), bytes(beginning->chain)};
	const struct pg_value text[] = {beginning->base, bytes(beginning->now)};
	enum err err = step(beginning,
	    "DELETE FROM product_grid_log WHERE cluster = $1 AND log = $2",
	    values, 2);

	if (err == ERR_OK)
		err = step(beginning,
		    "INSERT INTO product_grid_head VALUES ($1, $2, $3, $4) "
		    "ON CONFLICT (cluster, log) DO UPDATE "
		    "SET number = excluded.number, chain = excluded.chain",
		    values, 4);
	if (err == ERR_OK)
		err = step(beginning,
		    "UPDATE product_grid_epoch SET text = $2 "
		    "WHERE cluster = $1",
		    text, 2);
	return err;
}

/* Only of a commit the outcome may be unknown. */
static enum err
begin_in_transaction(const struct beginning *beginning)
{
	enum err err = check_epoch(beginning);

	if (err == ERR_OK)
		err = end_log(beginning);
	if (err == ERR_OK)
		err = begin_log(beginning);
	if (err == ERR_OK) {
		err = step(beginning, "COMMIT", NULL, 0);
		if (err == ERR_CLOSED)
			err = ERR_AWAY;
	} else if (err != ERR_EXISTS)
		err = engine_pg_as_read(err);
	if (err != ERR_OK)
		engine_pg_end(beginning->lane);
	return err;
}

static enum err
begin(struct engine *engine, struct span before, struct span now, uint64_t at,
    struct span chain)
{
	struct door *door = (struct door *)engine;
	char old[ENGINE_EPOCH_NAME_MAX], new[ENGINE_EPOCH_NAME_MAX];
	struct beginning beginning = {.before = before,
	    .now = now,
	    .chain = chain,
	    .number = at,
	    .base = bytes(span_of(door->base))};
	enum err err;

	assert(chain.len == ENGINE_CHAIN_LEN);
	engine_epoch_name(old, door->base, engine_epoch_number(before));
	engine_epoch_name(new, door->base, engine_epoch_number(now));
	beginning.old = bytes(span_of(old));
	beginning.new = bytes(span_of(new));
	beginning.lane = enter(door);
	/* The row that is locked: an empty text is no epoch. */
	err = engine_pg_change(door, beginning.lane,
	    "INSERT INTO product_grid_epoch VALUES ($1, '') "
	    "ON CONFLICT DO NOTHING",
	    &beginning.base, 1);
	if (err == ERR_OK)
		err = engine_pg_ask(door, beginning.lane, "BEGIN", NULL, 0);
	err = err == ERR_OK ? begin_in_transaction(&beginning)
			    : engine_pg_as_read(err);
	engine_pg_note(door, beginning.lane, err);
	pthread_mutex_unlock(&beginning.lane->lock);
	return err;
}

void
engine_pg_for_upkeep(struct engine *engine)
{
	engine->trim = trim;
	engine->node_drop = drop_node;
	engine->note_put = put_note;
	engine->note_drop = drop_note;
	engine->notes = get_notes;
	engine->epoch = get_epoch;
	engine->begin = begin;
}
