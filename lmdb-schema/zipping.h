/*
 * zipping: what reading and making packed rows share. For zip*.c only.
 */
#pragma once

#include "common/fs.h"
#include "lmdb-schema/zip.h"

enum err zip_path(char path[FS_PATH_MAX], struct store *store,
    const struct snapshot *snap, const char *suffix);

uint32_t zip_head_crc(
    const struct zip_head *head, const struct zip_segment *segments);
