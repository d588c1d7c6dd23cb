/* inbox: what its two files share. */
#pragma once

#include <stdint.h>

#include "common/err.h"

/*
 * Copies the regular files of a taken delivery, synced; compares the copies with
 * the manifest, where there is one. A file .merge tells of a merge.
 */
enum err inbox_copy_files(
    const char *from, const char *to, uint64_t *files, struct fault *fault);
