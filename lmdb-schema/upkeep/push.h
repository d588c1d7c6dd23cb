/*
 * push: the files that nodes give each other (store/files.h), in the bucket of
 * cluster.conf, too: those of editions (edition.h), of checkpoints
 * (checkpoint.h), and snapshots that all nodes show (computed.h). A bucket that has all files of an edition is one more holder
 * that `copies` counts: it has a record as a node has one, under the name
 * PUSH_BUCKET, which no node has.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "common/err.h"

struct store;

#define PUSH_BUCKET "/bucket"

struct pushed {
	uint64_t files, bytes; /* that were put */
	bool refused; /* the bucket did not take one, or was not reached then */
};

/*
 * The makers of the editions and snapshots that this node puts, as far as it has
 * the files: itself; others, too, that have had ten minutes; or all. For editions
 * the caller waits those minutes.
 */
enum push_whose { PUSH_OWN, PUSH_LEFT, PUSH_ALL };

/*
 * Puts what this node has and the bucket lacks. Waits for another process of this
 * node that is at it. ERR_OK also where there is no bucket; else what bucket.h
 * says. A damaged file holds up no other.
 */
enum err push_files(struct pushed *out, struct store *store,
    enum push_whose whose, struct fault *fault);

/*
 * Removes from the bucket what no checkpoint, edition and record of a computation
 * names, once it has been there for `keep_s`. Where it cannot be known what they name, nothing is
 * removed.
 */
enum err push_sweep(uint64_t *removed, struct store *store, int64_t keep_s,
    struct fault *fault);

/* The bucket's content, for a person to see. */
struct push_look {
	const char *url; /* "": there is none; until the next look */
	uint64_t objects, bytes;
	uint64_t edition; /* the number of the published one, if it has it */
	uint64_t snapshots; /* suppliers whose newest one it has */
};

enum err push_look(
    struct push_look *out, struct store *store, struct fault *fault);
