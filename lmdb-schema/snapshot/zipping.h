/* zipping: shared by reading and making packed rows. For zip*.c only. */
#pragma once

#include "common/fs.h"
#include "lmdb-schema/snapshot/zip.h"

uint32_t zip_head_crc(
    const struct zip_head *head, const struct zip_segment *segments);
