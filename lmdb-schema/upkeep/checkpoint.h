/*
 * checkpoint: a copy of state.mdb, with the number of the log that it has
 * reached and the trail's files, for nodes that join, and so that the log before
 * it can be trimmed (docs/cluster.md).
 *
 * Its files are in the data directory's files/ (files.h), a parcel (parcel.h)
 * names them, and a note of the engine names the parcel:
 *
 *	"checkpoint/NUMBER"  BYTES SHA MADE_MS    NUMBER of 16 hex digits
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "common/buf.h"
#include "common/err.h"
#include "lmdb-schema/store/files.h"

struct engine;
struct store;

struct checkpoint {
	uint64_t number;
	int64_t made_ms;
	struct files_id parcel;
};

/* False for a note that is none. */
bool checkpoint_read(
    struct checkpoint *checkpoint, struct span name, struct span text);

#define CHECKPOINTS_MAX 256

struct checkpoints {
	struct checkpoint list[CHECKPOINTS_MAX]; /* by number */
	unsigned count;
};

/* Lists the checkpoints that the engine names; beyond the maximum the newest. */
enum err checkpoint_list(struct checkpoints *out, struct engine *engine);

/*
 * Makes one and names it. ERR_BUSY: another process is at it; ERR_FORKED, ERR_OUTRUN:
 * the log does not go on from this node's state (standing.h).
 */
enum err checkpoint_make(
    struct checkpoint *out, struct store *store, struct fault *fault);

/*
 * Trims the log of the state up to the newest checkpoint that is older than
 * `keep_s` and not the last one, and up to what each node has that tells of
 * itself; then forgets the checkpoints that no more are needed for that. *up_to
 * is 0 where nothing may be trimmed.
 */
enum err checkpoint_trim(
    uint64_t *up_to, struct store *store, int64_t keep_s, int64_t now_ms);

/* Says which ones are forgotten, by the same rule; the list may be empty. */
void checkpoint_sort_out(bool *forget, const struct checkpoints *checkpoints,
    int64_t keep_s, int64_t now_ms, uint64_t *cover);

/*
 * Calls `each` with the files that a parcel, which is here, names.
 * ERR_BAD_INPUT: it is damaged.
 */
enum err checkpoint_each_file(const char *dir, const struct files_id *parcel,
    enum err (*each)(void *context, const struct files_id *id), void *context);

/*
 * Lists the names of the files of all checkpoints, editions and computations, as
 * far as they are known here, into an empty buffer, in order.
 */
#define CHECKPOINT_NAMED_MAX ((size_t)64 << 20)
enum err checkpoint_named(struct buf *named, struct store *store);
bool checkpoint_is_named(const struct buf *named, const char *name);

/*
 * Removes files that no checkpoint of the engine's, no edition and no record of a
 * computation (computed.h) names, once they have been there for `keep_s`.
 */
enum err checkpoint_sweep(
    uint64_t *removed, struct store *store, int64_t keep_s);
