/*
 * bucket: an S3-compatible store as one more holder of the nodes' files
 * (files.h). A file is there in pieces, each an object that is put at once, so
 * that one that breaks off costs a piece:
 *
 *	URL/CLUSTER/SHA.N    piece N of the file, from 0 on, of BUCKET_PIECE bytes
 *	                     but for the last one
 *
 * SHA is that of the whole file. Each request is signed, the bytes of a piece
 * among them.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "common/err.h"
#include "common/fs.h"
#include "lmdb-schema/store/files.h"

#define BUCKET_PIECE ((uint64_t)64 << 20)
#define BUCKET_TEXT_MAX 257 /* with a NUL */

struct bucket {
	char url
	    [BUCKET_TEXT_MAX]; /* https://host/bucket; empty: there is none */
	char folder[BUCKET_TEXT_MAX]; /* the cluster's name */
	char region[BUCKET_TEXT_MAX], key[BUCKET_TEXT_MAX];
	char secret[BUCKET_TEXT_MAX];
	char ca[FS_PATH_MAX];
	uint64_t piece; /* bytes */
	int64_t stall_s; /* a bucket that moves hardly a byte is left */
};

/* Whether the text is "http://host/bucket", or with https. */
bool bucket_is_url(struct span text);

unsigned bucket_pieces(const struct bucket *bucket, const struct files_id *id);
uint64_t bucket_piece_bytes(
    const struct bucket *bucket, const struct files_id *id, unsigned number);

/*
 * Hands over the bytes of the file from this one on up to the end of its piece,
 * as pull(), whose results it has. What a refusal means is in `why`.
 */
enum err bucket_pull(const struct bucket *bucket, const struct files_id *id,
    uint64_t from, enum err (*each)(void *context, struct span bytes),
    void *context, char why[ASK_ERROR_MAX]);

/*
 * For the calls below:
 *
 *   ERR_AWAY, ERR_TIMED_OUT, ERR_CLOSED  it gave no answer, or is too busy
 *   ERR_DENIED                           it refuses the key or the signature
 *   ERR_NO_SPACE                         it is full
 *   ERR_NOT_FOUND                        there is no such bucket
 *   ERR_BAD_INPUT                        another refusal
 *
 * and the fault says what to do.
 */

/* Puts a piece of the file, which is at `path`. */
enum err bucket_put(const struct bucket *bucket, const struct files_id *id,
    const char *path, unsigned number, struct fault *fault);

struct bucket_object {
	char name[FILES_NAME_LEN + 1];
	unsigned number;
	uint64_t bytes;
	int64_t put_ms;
};

enum err bucket_drop(const struct bucket *bucket,
    const struct bucket_object *object, struct fault *fault);

/* Calls `each` with each piece; other objects are passed over. */
enum err bucket_list(const struct bucket *bucket,
    enum err (*each)(void *context, const struct bucket_object *object),
    void *context, struct fault *fault);
