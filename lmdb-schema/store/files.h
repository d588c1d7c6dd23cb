/*
 * files: files that never change, named by their SHA-256, which the nodes of a
 * cluster get from each other (docs/cluster.md):
 *
 *	DATA/files/SHA       64 hexadecimal digits: whole, its hash was right
 *	DATA/files/SHA.part  the beginning of one, under way
 *
 * nginx serves the folder under /cluster/files/. Access is by the folder: the
 * files themselves may be read by all.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "common/err.h"
#include "common/fs.h"
#include "common/digest.h"
#include "common/web/ask.h"

#define FILES_NAME_LEN (2 * DIGEST_SHA256_LEN)

struct files_id {
	char name[FILES_NAME_LEN + 1];
	uint64_t bytes;
};

/* Whether it is 64 digits, none of them a capital. */
bool files_is_name(struct span name);

enum err files_path(char path[FS_PATH_MAX], const char *dir, const char *name,
    const char *suffix);

/* Whether the data directory has it whole. */
bool files_have(const char *dir, const struct files_id *id);

/* Reads a file to its end. */
enum err files_sum(struct files_id *id, const char *path);

/*
 * Adds the file at `path`, which never changes from now on, as a link to it;
 * what is there already stays. Both are on one file system.
 */
enum err files_add(struct files_id *id, const char *dir, const char *path);

/* Whether the file at `path` was added earlier: then it need not be read. */
bool files_find(struct files_id *id, const char *dir, const char *path);

/* Whether the file at `path` is this one to the last byte: reads all of it. */
bool files_is_sound(const char *path, const struct files_id *id);

/*
 * Puts a file that is here at `path` too, as a link; whether it is there. Readers
 * of another file that was there go on with it.
 */
enum err files_place(
    const char *dir, const struct files_id *id, const char *path);
bool files_is_at(const char *dir, const struct files_id *id, const char *path);

/* Removes it from the folder; one that is not there is fine. */
void files_drop(const char *dir, const char *name);

/* Adds a file of these bytes. */
enum err files_add_bytes(
    struct files_id *id, const char *dir, struct span bytes);

/* --- from other nodes ----------------------------------------------------- */

#define FILES_HOLDERS_MAX 64

struct bucket;

struct files_from {
	const char *holders[FILES_HOLDERS_MAX]; /* http://host:port */
	unsigned count;
	const struct bucket *bucket; /* is asked behind them; NULL: none */
	const char *token; /* for the header Authorization */
	struct ask_trust trust;
	int64_t stall_s; /* a holder that sends hardly a byte is left */
	/* files_fetch() notes here who gave no answer; the bucket comes last. */
	bool away[FILES_HOLDERS_MAX + 1];
};

/*
 * Gets the file from the holders in turn: one that breaks off is followed by
 * the next, which goes on from there. What has another hash, or more bytes, is
 * thrown away and told in the log, and its holder is not asked again. One that
 * gave no answer is asked behind the others for the files that follow. A kill
 * leaves the part that came for the next call.
 *
 *   ERR_AWAY   no holder has given it whole; the fault has the last one's reason
 *
 * The log has a failure of a holder once, until it fails in another way or gives a
 * file. The fault tells of a full disk, too, of another failure of this machine, of a
 * node with another secret, or whose nginx may not read its files, and the log does
 * not: who tries again tells it once.
 */
enum err files_fetch(const char *dir, const struct files_id *id,
    struct files_from *from, struct fault *fault);
