/*
 * stitch: a whole dump as one gzip member, of ready pieces.
 *
 *	head of the member | "{\"data\":[" stored | segments | what stands
 *	behind the rows, stored | end, CRC-32, length
 *
 * A segment whose rows are as they were when they were packed goes out as it
 * lies in the file; one with a live value that differs is packed anew.
 */
#pragma once

#include <stdint.h>

#include "fcgi/http/reply.h"
#include "fcgi/rows/packed.h"
#include "fcgi/rows/splice.h"
#include "lmdb-schema/deflate.h"

struct stitch {
	struct deflate *deflate; /* for what is packed anew; NULL until then */
	struct pieces rows;
	struct buf raw, packed;
	uint32_t crc;
	uint64_t len; /* of what was packed so far */
};

void stitch_init(struct stitch *stitch);
void stitch_fini(struct stitch *stitch);

/* Bytes of the whole when no segment is packed anew. */
int64_t stitch_length(const struct zip *zip, size_t start, size_t tail);

/*
 * Puts the member into a streaming reply; `splice` has begun with all columns
 * as JSON. ERR_DAMAGED: a segment is; what is out is cut, and the packed rows
 * should be discarded. A failure of the reply is kept there.
 */
enum err stitch_dump(struct stitch *stitch, struct reply *reply,
    struct splice *splice, const struct zip *zip, struct span start,
    const struct pieces *tail);
