/* steps: what each step does, by gridctl's own commands. */
#pragma once

#include "lmdb-schema/upkeep/night.h"
#include "tools/gridctl/night/chain.h"
#include "tools/gridctl/night/inbox.h"

struct steps_context {
	const struct chain_options *options;
	const struct inbox *inbox;
	const struct night *night;
	const struct night_step *step;
};

/* Does one step in a process of its own; the exit code. */
int steps_do(void *context);
