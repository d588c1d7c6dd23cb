/*
 * standing: whether the log that the nodes share has what a node has, so that the
 * node goes on from there, and what to do where it has not: the log was restored from
 * an older copy or is another one, it has ended with its epoch, or entries that the
 * node lacks are trimmed.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "common/buf.h"
#include "common/err.h"
#include "lmdb-schema/store/write_log.h"

struct engine;
struct store;

struct standing {
	/* ERR_OK: it goes on; ERR_FORKED; ERR_OUTRUN; or the log is not read */
	enum err err;
	uint64_t number, head; /* of the last entries: the node's, the log's */
	uint64_t epoch, now; /* the node's, and the cluster's; 0: none */
	bool empty; /* the log, and no epoch has begun: its data are gone */
	bool ended; /* the log, with the node's epoch */
	bool adopts; /* the next epoch began where the node is */
};

/* Looks where the node of this store is. Its engine must be there. */
void standing_look(struct standing *out, struct store *store);

#define STANDING_TEXT_MAX 320

/* Says what is wrong, and what to do; of one that goes on, nothing. */
void standing_text(
    char text[STANDING_TEXT_MAX], const struct standing *standing);
void standing_todo(
    char text[STANDING_TEXT_MAX], const struct standing *standing);

/* The same of a log that has lost entries; `number`: of the node that has them. */
void standing_todo_forked(char text[STANDING_TEXT_MAX], uint64_t number);

/* Looks; anything but ERR_OK is told with what to do. */
enum err standing_check(struct store *store, struct fault *fault);

/*
 * Whether the log has the entry of this number and chain, and all behind it:
 * ERR_FORKED, ERR_OUTRUN, ERR_AWAY. Of an entry of a later version it is believed.
 */
enum err standing_of(
    struct engine *engine, const struct write_log_place *place);

/* engine_epoch_text() of a place. */
void standing_epoch_text(
    struct buf *text, uint64_t epoch, const struct write_log_place *place);
