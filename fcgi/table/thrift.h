/*
 * thrift: structs in Thrift's compact protocol, as Parquet's metadata are
 * written.
 *
 *	thrift_begin(), fields in the order of their numbers, thrift_struct_end()
 *	for each struct that was begun, the first one too
 */
#pragma once

#include <stdint.h>

#include "common/buf.h"
#include "common/span.h"

#define THRIFT_DEPTH_MAX 8

struct thrift {
	struct buf *buf;
	unsigned depth;
	int last
	    [THRIFT_DEPTH_MAX]; /* number of each open struct's last field */
};

enum thrift_type {
	THRIFT_I32 = 5,
	THRIFT_I64 = 6,
	THRIFT_TEXT = 8,
	THRIFT_LIST = 9,
	THRIFT_STRUCT = 12
};

/* Begins a struct that stands alone. */
void thrift_begin(struct thrift *thrift, struct buf *buf);

void thrift_i32(struct thrift *thrift, int field, int32_t value);
void thrift_i64(struct thrift *thrift, int field, int64_t value);
void thrift_text(struct thrift *thrift, int field, struct span text);

/* The items follow: thrift_item_…() or thrift_item_begin() each. */
void thrift_list(
    struct thrift *thrift, int field, enum thrift_type type, uint32_t count);
void thrift_item_i32(struct thrift *thrift, int32_t value);
void thrift_item_text(struct thrift *thrift, struct span text);

/* A struct as a field, or as an item of a list. */
void thrift_struct(struct thrift *thrift, int field);
void thrift_item_begin(struct thrift *thrift);
void thrift_struct_end(struct thrift *thrift);
