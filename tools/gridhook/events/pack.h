/*
 * pack: a record as the journal keeps it. Most senders' texts stand in their
 * record twice, as its text and inside the sender's own object; kept once, a
 * usual event needs half a page instead of a whole one.
 *
 *	'r' record                      as it is
 *	'c' at len from, 4 bytes each,  record without record[at..at+len), which
 *	    rest                        stands in the rest at `from`
 */
#pragma once

#include "common/buf.h"
#include "common/err.h"
#include "common/span.h"

/* Appends the packed form of a record of event_write(). */
void pack_record(struct buf *to, struct span record);

/* Appends the record again. ERR_DAMAGED when it is not a packed one. */
enum err unpack_record(struct buf *to, struct span packed);
