#include "tools/gridctl/hook/line.h"

#include <assert.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "common/date.h"
#include "common/digest.h"
#include "common/log.h"
#include "lmdb-schema/state/trail.h"
#include "lmdb-schema/store/store.h"

_Static_assert(HOOK_ERROR_MAX == POST_TEXT_MAX, "one text");

#define EARLY_AGAIN 60 /* first waits between ends of a lane's wait */
#define READ_MOST 20000 /* entries in one go */
#define READ_UNSTORED 10000 /* entries that are read again after a kill */

/* --- one hook ------------------------------------------------------------- */

static bool
keep_texts(struct line *line, const struct hook *hook)
{
	char *name = span_dup(hook->name), *url = span_dup(hook->url);
	char *suppliers = span_dup(hook->suppliers);
	char *secret = span_dup(hook->secret);

	line->hook = *hook;
	line->url = url;
	line->hook.name = span_make(name, hook->name.len);
	line->hook.url = span_make(url, hook->url.len);
	line->hook.suppliers = span_make(suppliers, hook->suppliers.len);
	line->hook.secret = span_make(secret, hook->secret.len);
	return name != NULL && url != NULL && suppliers != NULL &&
	    secret != NULL;
}

static enum err
count_lost(void *context, const struct hook_lost *lost)
{
	(void)lost;
	++*(uint64_t *)context;
	return ERR_OK;
}

enum err
line_open(struct line **out, struct state_view *view, const struct hook *hook)
{
	struct line *line = calloc(1, sizeof(*line));
	enum err err = ERR_NO_MEMORY;

	*out = NULL;
	if (line == NULL)
		return ERR_NO_MEMORY;
	line->lock = -1;
	line->look_for_again = true;
	if (keep_texts(line, hook))
		err = hook_at_get(&line->at, view, hook->name);
	if (err == ERR_OK && line->at.id != hook->id)
		err = ERR_NOT_FOUND;
	if (err == ERR_OK)
		err = hook_lost_each(
		    view, hook->name, count_lost, &line->lost_stored);
	if (err != ERR_OK) {
		line_close(line);
		return err;
	}
	line->stored_read = line->at.read;
	line->failed = line->at.failure_ms > 0;
	if (hook->resumed_ms > line->at.failure_ms)
		line->hook.resumed_ms = 0; /* news for line_resume() */
	*out = line;
	return ERR_OK;
}

void
line_close(struct line *line)
{
	if (line == NULL)
		return;
	line_unlock(line);
	if (line->hook.secret.ptr != NULL)
		digest_forget((void *)(uintptr_t)line->hook.secret.ptr,
		    line->hook.secret.len);
	free((void *)(uintptr_t)line->hook.secret.ptr);
	free((void *)(uintptr_t)line->hook.suppliers.ptr);
	free((void *)(uintptr_t)line->hook.name.ptr);
	free(line->url);
	free(line);
}

void
line_resume(struct line *line, int64_t resumed_ms)
{
	if (resumed_ms == line->hook.resumed_ms)
		return;
	line->hook.resumed_ms = resumed_ms;
	line->look_for_again = true;
	memset(line->not_before_ms, 0, sizeof(line->not_before_ms));
	for (unsigned i = 0; i < line->at.lane_count; i++) {
		struct hook_lane *lane = &line->at.lanes[i];

		lane->tries = 0;
		lane->first_ms = lane->due_ms = 0;
	}
}

enum err
line_lock(struct line *line, struct store *store)
{
	return line->lock >= 0
	    ? ERR_OK
	    : store_lock_hook(&line->lock, store, line->hook.id, false);
}

void
line_unlock(struct line *line)
{
	if (line->lock >= 0)
		close(line->lock);
	line->lock = -1;
}

/* --- reading on ----------------------------------------------------------- */

static struct hook_lane *
lane_of(struct line *line, struct span supplier)
{
	for (unsigned i = 0; i < line->at.lane_count; i++)
		if (span_eq(span_of(line->at.lanes[i].supplier), supplier))
			return &line->at.lanes[i];
	return NULL;
}

struct reading {
	struct line *line;
	unsigned count;
};

/* ERR_EXISTS: enough for now. */
static enum err
read_entry(void *context, const struct audit_entry *entry)
{
	struct reading *reading = context;
	struct line *line = reading->line;
	struct hook_at *at = &line->at;
	struct span supplier = hook_supplier_of(entry);
	struct hook_lane *lane;

	if (++reading->count > READ_MOST)
		return ERR_EXISTS;
	if (hook_wants(&line->hook, entry)) {
		lane = lane_of(line, supplier);
		if (lane == NULL && at->lane_count == HOOK_LANES)
			return ERR_EXISTS;
		if (lane == NULL) {
			lane = &at->lanes[at->lane_count];
			line->not_before_ms[at->lane_count] = 0;
			line->under_way[at->lane_count++] = false;
			*lane = (struct hook_lane){.number = entry->number};
			span_copy(
			    lane->supplier, sizeof(lane->supplier), supplier);
		} else if (lane->behind == 0)
			lane->behind = entry->number;
	}
	at->read = entry->number;
	return ERR_OK;
}

static enum err
take_again(void *context, const struct hook_lost *lost)
{
	struct line *line = context;

	for (unsigned i = 0; i < line->lost_count; i++)
		if (line->lost[i].number == lost->number)
			return ERR_OK; /* about to be stored otherwise */
	if (!lost->again)
		return ERR_OK;
	line->again = (struct hook_lane){.number = lost->number};
	return ERR_EXISTS;
}

/* An entry that was given up and marked, and its supplier. */
static enum err
find_again(struct line *line, struct state_view *view)
{
	struct audit_entry entry;
	enum err err = hook_lost_each(view, line->hook.name, take_again, line);

	if (err == ERR_OK)
		line->look_for_again = false; /* there is none */
	if (err != ERR_EXISTS)
		return err;
	err = trail_get(view, line->again.number, &entry);
	if (err == ERR_OK)
		span_copy(line->again.supplier, sizeof(line->again.supplier),
		    hook_supplier_of(&entry));
	return err == ERR_DAMAGED || err == ERR_NOT_FOUND ? ERR_OK : err;
}

enum err
line_read(struct line *line, struct state_view *view)
{
	struct reading reading = {.line = line};
	enum err err = ERR_OK;

	if (hook_is_stopped(&line->hook, &line->at))
		return ERR_OK;
	if (line->again.number == 0 && line->look_for_again)
		err = find_again(line, view);
	if (err == ERR_OK && line->at.lane_count < HOOK_LANES)
		err = audit_each(view, line->at.read + 1, read_entry, &reading);
	if (err == ERR_DAMAGED) {
		line->at.read++; /* nobody can be told of that one */
		err = ERR_OK;
	}
	if (line->at.read - line->stored_read >= READ_UNSTORED)
		line->dirty = true;
	return err == ERR_EXISTS ? ERR_OK : err;
}

/* --- tries ---------------------------------------------------------------- */

bool
line_due(uint64_t *number, const struct line *line, int64_t now_ms)
{
	const struct hook_lane *again = &line->again;

	if (line->busy >= LINE_BUSY_MAX ||
	    hook_is_stopped(&line->hook, &line->at))
		return false;
	for (unsigned i = 0; i < line->at.lane_count; i++) {
		const struct hook_lane *lane = &line->at.lanes[i];

		if (line->under_way[i] || lane->due_ms > now_ms)
			continue;
		if (line->again_under_way &&
		    strcmp(again->supplier, lane->supplier) == 0)
			continue;
		*number = lane->number;
		return true;
	}
	*number = again->number;
	if (again->number == 0 || line->again_under_way ||
	    again->due_ms > now_ms)
		return false;
	for (unsigned i = 0; i < line->at.lane_count; i++)
		if (line->under_way[i] &&
		    strcmp(again->supplier, line->at.lanes[i].supplier) == 0)
			return false;
	return true;
}

int64_t
line_next_ms(const struct line *line, int64_t or_ms)
{
	uint64_t number;

	if (line->dirty || line_due(&number, line, date_now_ms()))
		return 0;
	for (unsigned i = 0; i < line->at.lane_count; i++)
		if (!line->under_way[i] && line->busy < LINE_BUSY_MAX &&
		    line->at.lanes[i].due_ms > date_now_ms() &&
		    line->at.lanes[i].due_ms < or_ms)
			or_ms = line->at.lanes[i].due_ms;
	return or_ms;
}

/* The place of the lane with that entry; HOOK_LANES: it is `again`. */
static unsigned
place_of(const struct line *line, uint64_t number)
{
	for (unsigned i = 0; i < line->at.lane_count; i++)
		if (line->at.lanes[i].number == number)
			return i;
	assert(line->again.number == number);
	return HOOK_LANES;
}

void
line_begun(struct line *line, uint64_t number)
{
	unsigned place = place_of(line, number);

	if (place == HOOK_LANES)
		line->again_under_way = true;
	else
		line->under_way[place] = true;
	line->busy++;
}

static void
note_lost(struct line *line, const struct hook_lost *lost)
{
	assert(line->lost_count < HOOK_LANES + 1);
	line->lost[line->lost_count++] = *lost;
	line->dirty = true;
}

static void
stop(struct line *line, int64_t now_ms, const char *why)
{
	line->at.stopped_ms =
	    now_ms > line->hook.resumed_ms ? now_ms : line->hook.resumed_ms + 1;
	line->dirty = true;
	log_error("hook %.*s has stopped: %s; 'gridctl hook resend %.*s' lets "
		  "it go on",
	    SPAN_ARG(line->hook.name), why, SPAN_ARG(line->hook.name));
}

void
line_give_up(
    struct line *line, uint64_t number, int64_t now_ms, const char *why)
{
	unsigned place = place_of(line, number);
	const struct hook_lane *lane =
	    place == HOOK_LANES ? &line->again : &line->at.lanes[place];
	struct hook_lost lost = {.number = number,
	    .when_ms = now_ms,
	    .tries = lane->tries + (lane->tries == 0)};

	span_copy(lost.error, sizeof(lost.error), span_of(why));
	note_lost(line, &lost);
	line->at.given_up++;
	if (place != HOOK_LANES)
		line->lost_stored++;
	log_error("hook %.*s: event %llu is given up after %u tries: %s",
	    SPAN_ARG(line->hook.name), (unsigned long long)number, lost.tries,
	    why);
	if (line->lost_stored >= HOOK_LOST_MAX)
		stop(line, now_ms, "too many events were given up");
}

enum err
line_move_on(struct line *line, struct state_view *view, uint64_t number)
{
	unsigned place = place_of(line, number), last;
	struct hook_lane *lane;
	enum err err = ERR_OK;

	line->dirty = true;
	line->not_before_ms[place] = 0;
	if (place == HOOK_LANES) {
		line->again = (struct hook_lane){.number = 0};
		return ERR_OK;
	}
	lane = &line->at.lanes[place];
	if (lane->behind == 0) {
		last = --line->at.lane_count;
		*lane = line->at.lanes[last];
		line->under_way[place] = line->under_way[last];
		line->not_before_ms[place] = line->not_before_ms[last];
		return ERR_OK;
	}
	lane->number = lane->behind;
	lane->tries = 0;
	lane->first_ms = lane->due_ms = 0;
	err = hook_next_of(&lane->behind, view, &line->hook,
	    span_of(lane->supplier), lane->number, line->at.read);
	return err;
}

/* Up to a tenth more, so that many receivers are not met all at once. */
static int64_t
wait_ms(const struct deliver_options *options, unsigned tries)
{
	int64_t wait = options->first_wait_ms;
	uint16_t random = 0;

	while (tries-- > 1 && wait < options->longest_wait_ms)
		wait *= 2;
	if (wait > options->longest_wait_ms)
		wait = options->longest_wait_ms;
	if (digest_random(&random, sizeof(random)) != ERR_OK)
		random = 0;
	return wait + wait * random / (10 * 65536);
}

/*
 * The receiver takes events again. An event that it refuses for itself is not
 * tried at each success of others, but after EARLY_AGAIN first waits.
 */
static void
end_waits(struct line *line, const struct deliver_options *options)
{
	int64_t now_ms = date_now_ms();

	for (unsigned i = 0; i <= HOOK_LANES; i++) {
		struct hook_lane *lane =
		    i == HOOK_LANES ? &line->again : &line->at.lanes[i];
		int64_t due_ms = line->not_before_ms[i];

		if (i < HOOK_LANES && i >= line->at.lane_count)
			continue;
		if (due_ms < now_ms)
			due_ms = now_ms;
		if (lane->tries == 0 || due_ms >= lane->due_ms)
			continue;
		lane->due_ms = due_ms;
		line->not_before_ms[i] =
		    due_ms + EARLY_AGAIN * options->first_wait_ms;
	}
	line->failed = false;
	line->dirty = true;
}

/* False when it is given up. */
static bool
put_off(struct line *line, struct hook_lane *lane,
    const struct deliver_options *options, const struct post_result *result,
    int64_t now_ms)
{
	int64_t wait = wait_ms(options, ++lane->tries);

	if (lane->first_ms == 0)
		lane->first_ms = now_ms;
	if (result->retry_after_ms > wait)
		wait = result->retry_after_ms;
	if (lane->tries == 1)
		log_warn("hook %.*s: event %llu: %s; it is sent again",
		    SPAN_ARG(line->hook.name), (unsigned long long)lane->number,
		    line->at.error);
	line->at.repeated++;
	line->dirty = true;
	lane->due_ms = now_ms + wait;
	return lane->due_ms <= lane->first_ms + options->give_up_ms;
}

static enum err
fail(struct line *line, unsigned place, struct state_view *view,
    const struct deliver_options *options, const struct post_result *result)
{
	struct hook_lane *lane =
	    place == HOOK_LANES ? &line->again : &line->at.lanes[place];
	int64_t now_ms = date_now_ms();
	int64_t asked_ms = now_ms + result->retry_after_ms;

	line->at.failure_ms = now_ms;
	line->failed = true;
	if (asked_ms > line->not_before_ms[place])
		line->not_before_ms[place] = asked_ms;
	post_text(line->at.error, result);
	if (put_off(line, lane, options, result, now_ms) ||
	    result->status == 410) {
		if (result->status == 410)
			stop(line, now_ms,
			    "the receiver says that it is gone "
			    "for good (410)");
		return ERR_OK;
	}
	line_give_up(line, result->tag, now_ms, line->at.error);
	return line_move_on(line, view, result->tag);
}

enum err
line_answer(struct line *line, struct state_view *view,
    const struct deliver_options *options, const struct post_result *result)
{
	unsigned place = place_of(line, result->tag);

	assert(line->busy > 0);
	line->busy--;
	if (place == HOOK_LANES)
		line->again_under_way = false;
	else
		line->under_way[place] = false;
	if (result->status < 200 || result->status > 299)
		return fail(line, place, view, options, result);
	line->at.delivered++;
	line->at.success_ms = date_now_ms();
	if (line->failed)
		end_waits(line, options);
	if (place == HOOK_LANES) {
		note_lost(line, &(struct hook_lost){.number = result->tag});
		if (line->lost_stored > 0)
			line->lost_stored--;
	}
	return line_move_on(line, view, result->tag);
}

enum err
line_save(struct line *line, struct store *store, const struct lease *lease)
{
	enum err err;

	if (!line->dirty)
		return ERR_OK;
	err = hook_at_save(store, line->hook.name, &line->at, line->lost,
	    line->lost_count, lease);
	if (err != ERR_OK)
		return err;
	line->dirty = false;
	line->lost_count = 0;
	line->stored_read = line->at.read;
	return ERR_OK;
}
