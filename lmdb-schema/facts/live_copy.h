/*
 * live_copy: the live data in a file of their own: a change of them that is made
 * in a copy, and live.mdb made equal to a copy of another node's, in one commit
 * (upkeep/edition.h).
 *
 * The records "edition" and "apart" of live.mdb are of each node itself.
 */
#pragma once

#include <stdint.h>

#include "common/err.h"
#include "common/sha256.h"
#include "lmdb-schema/facts/live.h"

/* The edition that the live data are of; number 0: of none, or changed since. */
struct live_edition {
	uint64_t number;
	uint8_t hash[SHA256_LEN];
};

enum err live_edition(struct live_edition *out, struct store *store);

/*
 * Copies live.mdb to `path`, where no file is, and makes the change there, as
 * live_change_run() does; `work` NULL changes nothing. After a failure there is
 * no file. *facts is the generation of the facts then, 0 for none.
 */
enum err live_copy_make(struct store *store, const char *path,
    enum err (*work)(void *context, struct live_change *change), void *context,
    struct live_counts *counts, uint64_t *facts);

/* The generation of the facts that a copy names, 0 for none. */
enum err live_copy_facts(uint64_t *facts, const char *path);

/*
 * Makes the live data equal to the copy, in one commit that also notes the
 * edition. Facts that were imported here, apart from the other nodes (it was of
 * no edition, or of one that is no more), count as older than any of the copy's, unless the copy is `own`: made of them.
 *
 *   ERR_VERSION  the copy is of a later version
 */
enum err live_copy_take(struct store *store, const char *path,
    const struct live_edition *edition, bool own);
