/*
 * pg: statements to a PostgreSQL server, each within a time limit. The door to
 * libpq, which is loaded with pg_places_new().
 *
 * A connection is of one host: libpq itself would wait for a dead one without
 * limit, when it is not to block.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "common/err.h"
#include "common/span.h"

#define PG_PLACES_MAX 9

struct pg_places; /* hosts to connect to, and how */
struct pg; /* a connection */
struct pg_result; /* an answer; libpq's */

/*
 * Of a connection string as libpq reads it: words or a URI. `password`, ""
 * where there is none, goes before one in the string. A host must be one that
 * takes writes, unless the string has target_session_attrs.
 *
 *   ERR_BAD_INPUT  the fault says why
 *   ERR_NOT_FOUND  libpq cannot be loaded: the same
 */
enum err pg_places_new(struct pg_places **out, const char *text,
    const char *password, struct fault *fault);
void pg_places_free(struct pg_places *places);
unsigned pg_places_count(const struct pg_places *places);

/* "192.0.2.11:5432"; what the string does not name is not shown. */
const char *pg_place_name(const struct pg_places *places, unsigned place);

/*
 * ERR_AWAY; or ERR_DENIED where the server refuses the user, has no such database, or
 * TLS fails (pg_refusal.h). Why is in `fault`. The server ends a wait for a lock after
 * `limit_ms`, and a statement after 8 times that, so that what nobody waits for
 * any more does not pile up there. A commit waits for the standbys, whatever the
 * user's own settings say.
 */
enum err pg_open(struct pg **out, const struct pg_places *places,
    unsigned place, int64_t end_ns, unsigned limit_ms, struct fault *fault);
void pg_close(struct pg *pg);

/* A number, or bytes; a text is bytes. */
struct pg_value {
	bool is_number;
	uint64_t number;
	struct span bytes;
};

/*
 * Sends one statement; $1 and so on are the values.
 *
 *   ERR_OK         it is done, and committed where it stands alone
 *   ERR_AWAY       it is surely not done; the connection is good
 *   ERR_CLOSED     it was not sent: pg_close()
 *   ERR_UNKNOWN    it may have been done: pg_close()
 *   ERR_NOT_FOUND  not done: a table that it names is not there
 *   ERR_DENIED     not done: the user has not the right
 *
 * A failure's text is in `fault`. A commit that the server no longer waits for,
 * to be on a standby, is ERR_UNKNOWN.
 */
enum err pg_ask(struct pg *pg, const char *sql, const struct pg_value *values,
    unsigned count, int64_t end_ns, struct fault *fault);

/* The last answer, until the next pg_ask() or pg_close(); or for good. */
const struct pg_result *pg_answer(const struct pg *pg);
struct pg_result *pg_take(struct pg *pg);
void pg_free(struct pg_result *result);

/* 0 for NULL. */
unsigned pg_rows(const struct pg_result *result);
bool pg_is_null(const struct pg_result *result, unsigned row, unsigned column);
struct span pg_bytes(
    const struct pg_result *result, unsigned row, unsigned column);

/* Of a bigint; 0 for anything else. */
uint64_t pg_number(
    const struct pg_result *result, unsigned row, unsigned column);
