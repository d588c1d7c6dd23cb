/*
 * scrub: compares all published files with their checksums again and again,
 * including files that no request reads.
 */
#pragma once

#include "fcgi/metrics.h"
#include "fcgi/settings.h"

struct store;

/*
 * Continues a round for some seconds, or begins one when [api] scrub says so:
 * the current snapshots, the packed rows beside them, the word index, the facts
 * and the files of the trail. Damage is logged and counted. A damaged snapshot is computed again,
 * and the function waits for that; damaged packed rows and a damaged index are
 * removed, to be made again when a request needs them.
 *
 * Runs in one process at a time; `metrics` has the position of the round.
 */
void scrub_some(struct store *store, const struct api_settings *settings,
    struct metrics *metrics);
