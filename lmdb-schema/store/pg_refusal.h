/*
 * pg_refusal: which failures of PostgreSQL are refusals, that no wait ends, and what
 * to do about each. A fault of pg.h has the SQLSTATE as its place, or PG_TLS where no
 * server has answered, as the certificates are not those that were asked for.
 */
#pragma once

#include <stdbool.h>

#include "common/err.h"
#include "lmdb-schema/store/engine_trouble.h"

#define PG_TLS "TLS"

/*
 * Fills the fault from libpq's text of a connection that failed, with SQLSTATEs in it
 * (PQERRORS_VERBOSE). ERR_DENIED: it was refused; ERR_AWAY.
 */
enum err pg_refused_connection(struct fault *fault, const char *text);

/* False, and no trouble: the fault is no refusal. */
bool pg_refusal(struct engine_trouble *out, const struct fault *fault);
