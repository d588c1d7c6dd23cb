/*
 * helper: a system tool in a process of its own, with a deadline. Whatever
 * hangs there (a clipboard owner, a bus peer, a file system) hangs only that
 * process, which is killed with all its children.
 */
#pragma once

#include <stdint.h>

#include "common/mcp/result.h"
#include "common/span.h"
#include "tools/gridhook/net/loop.h"

struct helper_pool; /* the program, and those that run or wait */
struct helper; /* one call */

/*
 * Where a helper finds the reading end of a pipe that closes with this
 * process; its settings tell it whether to mind.
 */
#define HELPER_LIFE_FD 3

struct helper_spec {
	const char *program; /* kept by pointer */
	const char *settings; /* JSON for the helper's environment, or NULL */
	int64_t most; /* run at a time; others wait their turn */
};

/* SIGPIPE is ignored from then on. */
struct helper_pool *helper_pool_new(
    struct loop *loop, const struct helper_spec *spec);

/* Kills those that run; their calls are not answered. */
void helper_pool_free(struct helper_pool *pool);

/*
 * Runs `program name` with the arguments on its standard input. `done` is
 * called once, later, from the loop: `result` is borrowed. The deadline counts
 * from the process's start; waiting for it is bounded too. NULL when too many
 * wait already.
 */
struct helper *helper_start(struct helper_pool *pool, const char *name,
    struct span args, int deadline_ms,
    void (*done)(void *arg, const struct result *result), void *arg);

/* Kills it; `done` is not called. */
void helper_cancel(struct helper *helper);
