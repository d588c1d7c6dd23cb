/* The rights that the door to PostgreSQL needs, each of a table (engine.h). */
#include <stdio.h>
#include <string.h>

#include "lmdb-schema/store/engine_pg_priv.h"
#include "lmdb-schema/store/pg_refusal.h"

/*
 * Of one row: the rights that are lacking, by table; the statements that grant them; the
 * user; whether a node cannot put its record, or see those of others. NULL, and 0:
 * none is lacking. A table that is not there lacks none, as a node makes it. As
 * docs/cluster.md has the rights.
 */
static const char lacking_sql[] =
    "WITH needed AS (SELECT name, word FROM (VALUES "
    "('product_grid_head', 'SELECT INSERT UPDATE'), "
    "('product_grid_log', 'SELECT INSERT DELETE'), "
    "('product_grid_node', 'SELECT INSERT UPDATE DELETE'), "
    "('product_grid_note', 'SELECT INSERT UPDATE DELETE'), "
    "('product_grid_epoch', 'SELECT INSERT UPDATE')) AS tables (name, words), "
    "unnest(string_to_array(words, ' ')) AS word), "
    "of_table AS (SELECT name, string_agg(word, ', ' ORDER BY word) AS words "
    "FROM needed WHERE NOT CASE word WHEN 'DELETE' "
    "THEN has_table_privilege(to_regclass(name)::oid, word) "
    "ELSE has_any_column_privilege(to_regclass(name)::oid, word) END "
    "GROUP BY name), "
    "lacking AS (SELECT words || ' ON ' || "
    "string_agg(name, ', ' ORDER BY name) AS words, "
    "count(*) FILTER (WHERE name = 'product_grid_node') AS hides "
    "FROM of_table GROUP BY words) "
    "SELECT string_agg(words, '; ' ORDER BY words), "
    "string_agg('GRANT ' || words || ' TO ' || quote_ident(current_user), "
    "'; ' ORDER BY words), quote_ident(current_user), "
    "coalesce(sum(hides), 0)::bigint FROM lacking";

bool
engine_pg_lacks(
    struct engine_trouble *out, struct door *door, struct lane *lane)
{
	const struct pg_result *answer;

	if (engine_pg_ask(door, lane, lacking_sql, NULL, 0) != ERR_OK)
		return false;
	answer = pg_answer(lane->pg);
	if (pg_rows(answer) != 1 || pg_is_null(answer, 0, 0))
		return false;
	memset(out, 0, sizeof(*out));
	snprintf(out->refusal, sizeof(out->refusal),
	    "does not let the user %.*s do all that a node does",
	    SPAN_ARG(span_sub(pg_bytes(answer, 0, 2), 0, 63)));
	snprintf(out->why, sizeof(out->why), "it lacks %.*s",
	    SPAN_ARG(span_sub(pg_bytes(answer, 0, 0), 0, 240)));
	snprintf(out->todo, sizeof(out->todo), "as the tables' owner: %.*s",
	    SPAN_ARG(span_sub(pg_bytes(answer, 0, 1), 0, 420)));
	out->of_rights = true;
	out->hides_nodes = pg_number(answer, 0, 3) > 0;
	return true;
}

static void
refuse(struct door *door, const struct lane *lane,
    const struct engine_trouble *trouble)
{
	char where[300];

	snprintf(where, sizeof(where), "host=%s",
	    pg_place_name(door->places, lane->place));
	engine_refuses(&door->engine, trouble, where);
}

bool
engine_pg_denied(struct door *door, struct lane *lane, enum err err)
{
	const struct fault fault = lane->fault;
	struct engine_trouble trouble;

	if (err != ERR_DENIED || lane->pg == NULL)
		return false;
	/* Of a trigger or a policy, say, the server's words are all there is. */
	if (!engine_pg_lacks(&trouble, door, lane) &&
	    pg_refusal(&trouble, &fault))
		trouble.of_rights = true;
	refuse(door, lane, &trouble);
	return true;
}

void
engine_pg_written(struct door *door, struct lane *lane)
{
	struct engine_trouble trouble;

	if (engine_lacks_rights(&trouble, &door->engine) &&
	    !engine_pg_lacks(&trouble, door, lane) && lane->pg != NULL)
		engine_has_rights(&door->engine);
}

enum err
engine_pg_rights(struct engine *engine)
{
	struct door *door = (struct door *)engine;
	struct lane *lane = &door->nodes;
	struct engine_trouble trouble;
	bool lacks;

	pthread_mutex_lock(&lane->lock);
	engine_pg_begin(lane, engine_end_ns(0));
	lacks = engine_pg_lacks(&trouble, door, lane);
	if (lacks)
		refuse(door, lane, &trouble);
	pthread_mutex_unlock(&lane->lock);
	return lacks ? ERR_DENIED : ERR_OK;
}
