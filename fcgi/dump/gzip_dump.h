/*
 * gzip_dump: a whole dump as one gzip member or one zstd frame, assembled from
 * packed pieces.
 *
 *	head of the member | "{\"data\":[" stored | segments | the text
 *	after the rows, stored | end, CRC-32, length
 *
 * A segment whose rows have not changed since they were packed is sent from the
 * file; a segment with a differing live value is packed again.
 */
#pragma once

#include <stdint.h>

#include "fcgi/http/reply.h"
#include "fcgi/rows/packed.h"
#include "fcgi/rows/splice.h"
#include "lmdb-schema/deflate.h"

struct rowset;

struct gzip_dump {
	bool as_zstd; /* the pieces are zstd */
	struct deflate *deflate; /* for what is packed anew; NULL until then */
	struct zstd_pieces *zstd; /* the same */
	struct iovbuf rows;
	struct buf raw, packed;
	uint32_t crc;
	uint64_t len; /* packed so far */
};

void gzip_dump_init(struct gzip_dump *gzip_dump);
void gzip_dump_fini(struct gzip_dump *gzip_dump);

/* Frees memory above `keep` bytes in each buffer. */
void gzip_dump_give_back(struct gzip_dump *gzip_dump, size_t keep);

/*
 * Puts a page's rows, in any order, as a member into `body`, which is otherwise
 * empty. `splice` is as above, and the packed rows are those for pages. After a
 * failure the contents of `body` are undefined.
 *
 *   ERR_NOT_FOUND  more than an eighth of the rows have changed: packing the
 *                  page as a whole costs less
 *   ERR_DAMAGED    the packed rows are, or the snapshot
 */
enum err gzip_dump_page(struct gzip_dump *gzip_dump, struct iovbuf *body,
    struct splice *splice, const struct packed_rows *packed_rows,
    const struct rowset *set, struct span start, struct span tail);

/* The bytes of the whole when no segment is packed again. */
int64_t gzip_dump_length(
    const struct packed_rows *packed_rows, size_t start, size_t tail);

/*
 * Puts the member into a streaming reply; `splice` has begun with all columns
 * as JSON. ERR_DAMAGED: a segment is; the answer is cut, and the caller should
 * discard the packed rows. The reply keeps its own failures.
 */
enum err gzip_dump_dump(struct gzip_dump *gzip_dump, struct reply *reply,
    struct splice *splice, const struct packed_rows *packed_rows,
    struct span start, struct span tail);
