/*
 * demo_run: writes the demo files, by one thread per processor; the bytes do
 * not depend on the number of threads.
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
 * Writes the ten files into the folder, over what is there. System errors are
 * logged. `shuffle`: facts in disorder, for tests of the import.
 */
enum err demo_run(struct demo_totals *totals, const struct demo_plan *plan,
    const char *dir, bool shuffle);
