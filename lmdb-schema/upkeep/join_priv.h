/* join_priv.h: what beginning, joining and leaving have in common; for join*.c alone. */
#pragma once

#include <stdint.h>

#include "common/err.h"
#include "lmdb-schema/store/write_log.h"

struct engine;
struct store;

/* ERR_BUSY: another process has the state open. */
enum err join_check_unused(const char *dir, struct fault *fault);
enum err join_refuse_used(const char *dir, struct fault *fault);

/* Whether it has a cluster.conf: ERR_DENIED, ERR_NOT_FOUND, ERR_CUT_OFF. */
enum err join_check_told(const char *dir, struct fault *fault);

/* Opens the store, also where this fails; with the epoch and place of its state. */
enum err join_open_place(struct store **store, uint64_t *epoch,
    struct write_log_place *place, const char *dir, struct fault *fault);

/* Says of a failure that the engine is away; NULL where none was opened. */
enum err join_away(enum err err, struct engine *engine, struct fault *fault);

/* The same; closes the store, if there is one, and passes the failure on. */
enum err join_end_with(struct store *store, enum err err, struct fault *fault);
