/*
 * demo_shuffle: facts in disorder, as other systems export them.
 */
#pragma once

#include <stdint.h>

#include "tools/gridctl/demo/demo_write.h"

/*
 * Puts the lines of the four files of facts in disorder, the same for the
 * same `seed` and `window`.
 */
void demo_shuffle(struct demo_texts *texts, uint64_t seed, uint64_t window);
