/*
 * step: runs a function in a process of its own, so that whatever kills it ends
 * a step and not the chain.
 */
#pragma once

#include <stdint.h>

#include "common/err.h"
#include "lmdb-schema/upkeep/night.h"

struct step_result {
	int code; /* its exit code, or 128 and the number of a signal */
	uint64_t rows; /* as cmd_set_rows() has it in the end */
	char said[NIGHT_SAID_MAX + 1]; /* its output: beginning and end */
};

/*
 * The output goes to standard error as well. The process dies with this one, and
 * closes `lock`, which this one keeps.
 */
enum err step_run(struct step_result *out, int lock, int (*run)(void *context),
    void *context);
