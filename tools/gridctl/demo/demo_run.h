/*
 * demo_run: the demo files, written by as many threads as there are
 * processors, with the same bytes whatever their number.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "common/err.h"
#include "tools/gridctl/demo/demo_plan.h"
#include "tools/gridctl/demo/demo_write.h"

struct demo_totals {
	uint64_t rows[DEMO_FILES]; /* header lines not counted */
	uint64_t bytes[DEMO_FILES];
};

/*
 * Writes the ten files into the folder, over what is there. What the system
 * refuses is logged. `shuffle`: facts in disorder, for tests of the import.
 */
enum err demo_run(struct demo_totals *totals, const struct demo_plan *plan,
    const char *dir, bool shuffle);
