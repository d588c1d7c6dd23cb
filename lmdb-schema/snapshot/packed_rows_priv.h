/* packed_rows_priv: shared by packed_rows*.c alone. */
#pragma once

#include "common/fs.h"
#include "lmdb-schema/snapshot/packed_rows.h"

uint32_t packed_rows_head_crc(const struct packed_rows_head *head,
    const struct packed_rows_segment *segments);
