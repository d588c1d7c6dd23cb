#include "lmdb-schema/upkeep/standing.h"

#include <assert.h>
#include <stdio.h>
#include <string.h>

#include "lmdb-schema/store/engine.h"
#include "lmdb-schema/store/store.h"

void
standing_epoch_text(
    struct buf *text, uint64_t epoch, const struct write_log_place *place)
{
	engine_epoch_text(text, epoch, place->number,
	    span_make(place->chain, sizeof(place->chain)));
}

/* --- comparing ------------------------------------------------------------ */

struct comparing {
	const struct write_log_place *place;
	enum err err;
};

/* Of one entry; ERR_ANSWERED ends the reading. */
static enum err
compare_next(void *context, uint64_t number, struct span entry)
{
	struct comparing *comparing = context;

	(void)number;
	comparing->err = write_log_check(comparing->place, entry);
	/* Nothing is known of it: the node itself will stop there. */
	if (comparing->err == ERR_VERSION)
		comparing->err = ERR_OK;
	return ERR_ANSWERED;
}

static enum err
compare_same(void *context, uint64_t number, struct span entry)
{
	struct comparing *comparing = context;
	struct span chain = span_sub(entry, ENGINE_CHAIN_AT, ENGINE_CHAIN_LEN);

	(void)number;
	comparing->err = chain.len == ENGINE_CHAIN_LEN &&
		memcmp(chain.ptr, comparing->place->chain, chain.len) == 0
	    ? ERR_OK
	    : ERR_FORKED;
	return ERR_ANSWERED;
}

/* The entry is there only where the log goes on behind it, or ends with it. */
static enum err
compare(
    struct engine *engine, const struct write_log_place *place, bool is_last)
{
	struct comparing comparing = {place, ERR_OUTRUN};
	enum err err = engine->read(engine, STORE_STATE,
	    is_last ? place->number - 1 : place->number,
	    is_last ? compare_same : compare_next, &comparing);

	if (err == ERR_NOT_FOUND)
		return ERR_OUTRUN;
	return err == ERR_OK || err == ERR_ANSWERED ? comparing.err : err;
}

/* A log that begins with an epoch has no entry of the number it begins at. */
static bool
begins_at(struct span text, const struct write_log_place *place)
{
	struct buf own;
	bool does;

	buf_init(&own, ENGINE_EPOCH_TEXT_MAX);
	standing_epoch_text(&own, engine_epoch_number(text), place);
	does = span_eq(buf_span(&own), text);
	buf_fini(&own);
	return does;
}

static enum err
compare_with(struct engine *engine, uint64_t head,
    const struct write_log_place *place, struct span epoch)
{
	if (place->number > head)
		return ERR_FORKED;
	if (head >= ENGINE_ENDED)
		return ERR_OUTRUN;
	if (head == 0 || (place->number == head && begins_at(epoch, place)))
		return ERR_OK;
	return compare(engine, place, place->number == head);
}

static enum err
look(struct engine *engine, uint64_t *head, struct buf *epoch)
{
	uint64_t heads[STORE_ENVS] = {0};
	enum err err = engine->heads(engine, true, heads);

	*head = heads[STORE_STATE];
	return err == ERR_OK ? engine->epoch(engine, epoch) : err;
}

enum err
standing_of(struct engine *engine, const struct write_log_place *place)
{
	struct buf epoch;
	uint64_t head;
	enum err err;

	buf_init(&epoch, ENGINE_EPOCH_TEXT_MAX);
	err = look(engine, &head, &epoch);
	if (err == ERR_OK)
		err = compare_with(engine, head, place, buf_span(&epoch));
	buf_fini(&epoch);
	return err;
}

/* --- a node --------------------------------------------------------------- */

/* The log of before may be lost, and not ended, where the next epoch has begun. */
static enum err
judge(struct standing *out, struct engine *engine,
    const struct write_log_place *place, struct span epoch)
{
	out->now = engine_epoch_number(epoch);
	out->empty = out->head == 0 && epoch.len == 0 && place->number > 0;
	out->ended = out->head >= ENGINE_ENDED ||
	    (place->number > out->head && out->now > out->epoch);
	out->adopts = out->ended && place->number > 0 &&
	    out->now > out->epoch && begins_at(epoch, place);
	return out->ended ? ERR_OUTRUN
			  : compare_with(engine, out->head, place, epoch);
}

/* The place first: another process may move it, and then the log. */
void
standing_look(struct standing *out, struct store *store)
{
	struct engine *engine = store_engine(store);
	struct write_log_place place;
	struct buf epoch;

	assert(engine != NULL);
	memset(out, 0, sizeof(*out));
	buf_init(&epoch, ENGINE_EPOCH_TEXT_MAX);
	out->err = write_log_place_of(&place, store_state(store));
	out->number = place.number;
	if (out->err == ERR_OK)
		out->err = store_epoch(store, &out->epoch);
	if (out->err == ERR_OK)
		out->err = look(engine, &out->head, &epoch);
	if (out->err == ERR_OK)
		out->err = judge(out, engine, &place, buf_span(&epoch));
	buf_fini(&epoch);
}

/* --- saying so ------------------------------------------------------------ */

static void
text_ended(char text[STANDING_TEXT_MAX], const struct standing *standing)
{
	if (standing->epoch > 0 && standing->epoch < standing->now)
		snprintf(text, STANDING_TEXT_MAX,
		    "the log of epoch %llu has ended: the cluster goes on with "
		    "epoch %llu",
		    (unsigned long long)standing->epoch,
		    (unsigned long long)standing->now);
	else
		snprintf(text, STANDING_TEXT_MAX,
		    "the log has ended for this directory: its state is of "
		    "before the cluster began, or has left it");
}

void
standing_text(char text[STANDING_TEXT_MAX], const struct standing *standing)
{
	text[0] = '\0';
	if (standing->ended)
		text_ended(text, standing);
	else if (standing->err == ERR_OUTRUN)
		snprintf(text, STANDING_TEXT_MAX,
		    "this node has %llu entries, the log %llu, and the next "
		    "ones that this node needs are trimmed",
		    (unsigned long long)standing->number,
		    (unsigned long long)standing->head);
	else if (standing->empty)
		snprintf(text, STANDING_TEXT_MAX,
		    "this node has %llu entries, and the log is empty: its "
		    "data "
		    "are lost, or it is another one",
		    (unsigned long long)standing->number);
	else if (standing->err == ERR_FORKED)
		snprintf(text, STANDING_TEXT_MAX,
		    "this node has %llu entries, the log %llu%s: the log was "
		    "restored from an older copy, or is another one",
		    (unsigned long long)standing->number,
		    (unsigned long long)standing->head,
		    standing->number > standing->head
			? ""
			: ", and they are not the same");
	else if (standing->err == ERR_AWAY)
		snprintf(text, STANDING_TEXT_MAX, "the log is out of reach");
	else if (standing->err != ERR_OK)
		snprintf(text, STANDING_TEXT_MAX, "the log cannot be read: %s",
		    err_text(standing->err));
}

void
standing_todo_forked(char text[STANDING_TEXT_MAX], uint64_t number)
{
	snprintf(text, STANDING_TEXT_MAX,
	    "decide which is right: the log ('gridctl cluster join --anew' on "
	    "each node that has more; what it alone has is lost), or the nodes "
	    "(another name in all cluster.conf, 'gridctl cluster init --from "
	    "%llu' on the one that is furthest): docs/cluster.md, \"A log that "
	    "has lost entries\"",
	    (unsigned long long)number);
}

void
standing_todo(char text[STANDING_TEXT_MAX], const struct standing *standing)
{
	text[0] = '\0';
	if (standing->empty)
		snprintf(text, STANDING_TEXT_MAX,
		    "put the log's data back; where they are gone, stop all "
		    "nodes, 'gridctl cluster init --from %llu' on this one if "
		    "no other is further, 'gridctl cluster join' on the "
		    "others: docs/cluster.md, \"Checkpoints, and the log's "
		    "length\"",
		    (unsigned long long)standing->number);
	else if (standing->err == ERR_FORKED)
		standing_todo_forked(text, standing->number);
	else if (standing->adopts)
		snprintf(text, STANDING_TEXT_MAX,
		    "stop this node, 'gridctl cluster join', start it");
	else if (standing->err == ERR_OUTRUN)
		snprintf(text, STANDING_TEXT_MAX,
		    "stop this node, 'gridctl cluster join --anew', start it: "
		    "the cluster's keys, users, sessions and proposals replace "
		    "this node's");
	else if (standing->err == ERR_AWAY)
		snprintf(text, STANDING_TEXT_MAX,
		    "bring a majority back; the network between the hosts, "
		    "certificates and the password: docs/cluster.md");
	else if (standing->err != ERR_OK)
		snprintf(
		    text, STANDING_TEXT_MAX, "the log of gridapi says more");
}

enum err
standing_check(struct store *store, struct fault *fault)
{
	char text[STANDING_TEXT_MAX], todo[STANDING_TEXT_MAX];
	struct standing standing;

	standing_look(&standing, store);
	standing_text(text, &standing);
	standing_todo(todo, &standing);
	if (standing.err != ERR_OK)
		fault_set(
		    fault, store_engine(store)->title, "%s: %s", text, todo);
	return standing.err;
}
