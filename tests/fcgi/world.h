/*
 * world: a small data directory (tests/flow/data) and a server on it, for
 * tests that need rows. S1, S2 and S5 are computed, S3 is not, S4 has no
 * article.
 *
 *	tcase_add_unchecked_fixture(tc, world_make, world_remove);
 *	tcase_add_checked_fixture(tc, world_open, world_close);
 */
#pragma once

#include "fcgi/call.h"
#include "fcgi/settings.h"
#include "fcgi/rows/snapview.h"

struct world {
	struct api_settings settings;
	struct metrics *metrics;
	struct server *server;
	struct serving *serving;
	struct request request; /* for world_ask(): a key is in it */
	struct buf answer; /* the last one, with a NUL behind it */
};

extern struct world world;

/* The directory, once a test case. */
void world_make(void);
void world_remove(void);

/* The server, once a test; log lines are counted, see quiet.h. */
void world_open(void);
void world_close(void);

/* The server's jobs end at once and without having done anything. */
void world_without_jobs(void);

/* Runs gridctl on the directory: "compute S1". */
void world_gridctl(const char *words);

/* The read key. */
const char *world_key(void);

/* Serves a GET with world.request's headers; the status. */
int world_ask(const char *uri);

/* Of the last answer: the body; a header's value, or NULL. */
const char *world_body(void);
const char *world_header(const char *name);

/* A call on its way to an endpoint, its views taken. */
struct call world_call(void);

/* The current snapshot of a supplier, and letting go of it. */
struct snapview world_view(struct call *call, const char *supplier);
