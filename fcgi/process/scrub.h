/*
 * scrub: all published files compared with their checksums, over and over, also
 * what nobody asks for.
 */
#pragma once

#include "fcgi/metrics.h"
#include "fcgi/settings.h"

struct store;

/*
 * Goes on with a round where it was left, for some seconds, or begins one when
 * [api] scrub says that it is time: the current snapshots, the rows packed
 * beside them, the index of words and the facts. What is found is told in the
 * log and counted; a damaged snapshot is computed anew, waiting for it; packed
 * rows and the index are removed, and made anew when they are asked for.
 *
 * By one process at a time: where it is stands in `metrics`.
 */
void scrub_some(struct store *store, const struct api_settings *settings,
    struct metrics *metrics);
