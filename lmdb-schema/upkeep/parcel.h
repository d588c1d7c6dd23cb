/*
 * parcel: what belongs to a checkpoint of state.mdb (checkpoint.h): a text of
 * lines, which is a file named by its SHA-256 as those that it names are.
 *
 *	product-grid checkpoint 1
 *	epoch 0
 *	number 1234                the entry of the log that it has reached
 *	chain 64 DIGITS            and its chain (write_log.h)
 *	made 1764000000000         ms
 *	state BYTES SHA
 *	part NAME BYTES SHA        any number, files of the folder trail
 *	end
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "common/buf.h"
#include "common/digest.h"
#include "common/err.h"
#include "lmdb-schema/store/files.h"

#define PARCEL_MAX ((size_t)4 << 20)
#define PARCEL_PARTS_MAX 20000
#define PARCEL_NAME_MAX 48 /* with a NUL */

struct parcel_part {
	char name[PARCEL_NAME_MAX];
	struct files_id file;
};

struct parcel {
	uint64_t epoch, number;
	uint8_t chain[DIGEST_SHA256_LEN];
	int64_t made_ms;
	struct files_id state;
	struct parcel_part *parts;
	unsigned count;
};

void parcel_init(struct parcel *parcel);
void parcel_fini(struct parcel *parcel);

enum err parcel_add_part(
    struct parcel *parcel, struct span name, const struct files_id *file);

void parcel_write(struct buf *out, const struct parcel *parcel);

/* ERR_VERSION for one of a later version, ERR_BAD_INPUT for what is none. */
enum err parcel_read(struct parcel *parcel, struct span text);

/* "BYTES SHA", of at most INT64_MAX bytes; false for anything else. */
bool parcel_file(struct files_id *file, struct span text);

/*
 * For a text of this kind (edition.h): takes the line that begins with this word
 * off the text, or leaves it as it is and is false; reads a number of such a line.
 */
bool parcel_line(struct span *value, struct span *text, const char *word);
bool parcel_number(uint64_t *out, struct span text);
