/*
 * line: one hook as the sender has it: its lanes, what is under way, and what is
 * to be stored.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "common/web/post.h"
#include "lmdb-schema/state/hook_at.h"
#include "tools/gridctl/hook/deliver.h"

#define LINE_BUSY_MAX 4 /* tries of a hook at once */

struct lease;

struct line {
	struct hook hook; /* its texts are the line's own */
	char *url;
	struct hook_at at;
	bool there; /* the record was seen in the last look */
	bool under_way[HOOK_LANES]; /* by places of at.lanes */
	/* By the same places, and `again`: no wait is ended before that. */
	int64_t not_before_ms[HOOK_LANES + 1];
	bool failed; /* since the last success */
	unsigned busy; /* tries under way */
	int lock; /* while there are any; -1 */
	bool dirty; /* `at` is to be stored */
	uint64_t stored_read; /* at.read as it is stored */
	struct hook_lost lost[HOOK_LANES + 1]; /* to be stored */
	unsigned lost_count; /* of them */
	uint64_t lost_stored; /* about how many there are in all */
	/* An entry that was given up and is tried again; number 0: none. */
	struct hook_lane again;
	bool again_under_way;
	bool look_for_again;
};

/* Reads the hook's place. ERR_NOT_FOUND, ERR_DAMAGED: it has none. */
enum err line_open(
    struct line **out, struct state_view *view, const struct hook *hook);
void line_close(struct line *line);

/* The operator has let it go on. */
void line_resume(struct line *line, int64_t resumed_ms);

/* Reads on in the trail while there are lanes. */
enum err line_read(struct line *line, struct state_view *view);

/* The next entry that is due, and may be under way beside the others. */
bool line_due(uint64_t *number, const struct line *line, int64_t now_ms);
void line_begun(struct line *line, uint64_t number);

/* An answer, or none, to what was begun. */
enum err line_answer(struct line *line, struct state_view *view,
    const struct deliver_options *options, const struct post_result *result);

void line_give_up(
    struct line *line, uint64_t number, int64_t now_ms, const char *why);

/* The supplier's next entry, in place of that one. */
enum err line_move_on(
    struct line *line, struct state_view *view, uint64_t number);

/*
 * ERR_NOT_FOUND: the hook has been removed; ERR_BUSY: another node sends, by the
 * lease, which is NULL on a machine on its own.
 */
enum err line_save(
    struct line *line, struct store *store, const struct lease *lease);

/* Taken before a try. ERR_BUSY: the hook is being removed. */
enum err line_lock(struct line *line, struct store *store);
void line_unlock(struct line *line);

/* The next time that a try is due, or `or_ms`, whichever is before. */
int64_t line_next_ms(const struct line *line, int64_t or_ms);
