/*
 * trail_gaps: where entries of the trail are in an archive and not here, before or
 * behind those that are.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "common/err.h"

struct state_view;
struct trail_wanted; /* trail_part.h */

/*
 * When the part begins, as its row says, from which on none is archived and
 * without a file. ERR_NOT_FOUND when there is none.
 */
enum err trail_gaps_since(struct state_view *view, int64_t *when_ms);

/*
 * The first entry from `from` on that is archived and without a file, in a part that
 * may have what is wanted; 0: there is none. With `begins` those do not count before
 * which no part with such entries is here.
 */
enum err trail_gap(uint64_t *number, struct state_view *view,
    const struct trail_wanted *wanted, uint64_t from, bool begins);
