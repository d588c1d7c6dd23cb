/*
 * engine_trouble: why a request to an engine (engine.h) failed, and what to do about
 * it, for the log, gridctl cluster status and doctor.
 */
#pragma once

#include <stdbool.h>

#include "common/err.h"

#define ENGINE_REFUSAL_MAX 128
#define ENGINE_WHY_MAX 256
#define ENGINE_TODO_MAX 448

/* The processes that read the file of password_file as they start. */
#define ENGINE_PASSWORD_TODO \
	"on each node 'systemctl reload gridapi' ('restart' where it has " \
	"the file by LoadCredential) and 'systemctl restart gridctl-hooks'"

struct engine;

struct engine_trouble {
	/*
	 * Of a server that has answered, and that no wait brings to another answer:
	 * "refuses the user grid". Empty: the log is away.
	 */
	char refusal[ENGINE_REFUSAL_MAX];
	char why[ENGINE_WHY_MAX]; /* in the server's words; "": not told */
	char todo[ENGINE_TODO_MAX]; /* "": not told */
	/*
	 * The log can be read, and the user lacks a right that a node needs besides,
	 * mostly to write; maybe that to its own sign of life.
	 */
	bool of_rights, hides_nodes;
};

/* The last failure of the log; empty texts where there was none. */
void engine_trouble(struct engine_trouble *out, struct engine *engine);

/* Whether the user lacks a right, as far as is known; then what. */
bool engine_lacks_rights(struct engine_trouble *out, struct engine *engine);

/*
 * Tells of a failure with ERR_AWAY that the engine is out of reach, or refuses this
 * node; leaves the fault of another one, or where `engine` is NULL.
 */
void engine_tell_away(enum err err, struct engine *engine, struct fault *fault);

/* --- for doors ------------------------------------------------------------- */

/* Keeps a failure. */
void engine_fails(struct engine *engine, const struct engine_trouble *trouble);

/*
 * Keeps a refusal, and logs it: once a minute for each cause. `where` is such as
 * "member=http://192.0.2.11:2379". One that is of rights stays until
 * engine_has_rights(), whatever else works.
 */
void engine_refuses(struct engine *engine, const struct engine_trouble *trouble,
    const char *where);

/* Forgets a failure; and that rights are lacking, which the log then has. */
void engine_works(struct engine *engine);
void engine_has_rights(struct engine *engine);
