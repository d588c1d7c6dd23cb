/*
 * cluster: whether a data directory is one of several that share their writes,
 * and by which engine. The file cluster.conf in it says so; a directory without
 * one is of a machine on its own.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>

#include "common/conf.h"
#include "common/err.h"
#include "common/fs.h"
#include "lmdb-schema/store/bucket.h"
#include "lmdb-schema/store/engine.h"

extern const struct conf_row cluster_rows[];
extern const size_t cluster_count;

/* Whether there is such a file. */
bool cluster_is_told(const char *dir);

/* ERR_NOT_FOUND; the fault says that there is none, and what to do. */
enum err cluster_untold(const char *dir, struct fault *fault);

/* The operator's ways out. */
#define CLUSTER_CUT_OFF_TODO \
	"put a copy of the file there, or write it by docs/cluster.md, and " \
	"start gridapi anew; or 'gridctl cluster leave' makes this a machine " \
	"on its own"

/* ERR_CUT_OFF; the fault says that the file is missing, and what to do. */
enum err cluster_cut_off(const char *dir, struct fault *fault);

/*
 * Opens the engine that the file names, for an epoch; NULL where there is no
 * file. Connects nowhere. ERR_BAD_INPUT for a file that is not right, and the
 * fault says where.
 */
enum err cluster_open(
    struct engine **out, const char *dir, uint64_t epoch, struct fault *fault);

/*
 * Reads of the file who this node is, with an empty name where there is none: its
 * name, its address, the program's and the log's version; nothing else is told.
 */
enum err cluster_node(
    struct engine_node *out, const char *dir, struct fault *fault);

/* How nodes show each other who they are, for files (files.h). */
#define CLUSTER_SECRET_MAX 128

struct cluster_peers {
	char token[CLUSTER_SECRET_MAX + 16]; /* "Bearer " and the secret */
	char ca[FS_PATH_MAX], cert[FS_PATH_MAX], key[FS_PATH_MAX];
};

/* How they give each other what an import makes (upkeep/edition.h). */
struct cluster_sharing {
	bool files; /* the file names a secret, and an address of this node */
	unsigned copies; /* nodes that have the files before they are shown */
	bool bucket; /* is one of them */
	unsigned keep; /* nodes that keep a supplier; 0: all (state/share.h) */
};

enum err cluster_sharing(
    struct cluster_sharing *out, const char *dir, struct fault *fault);

/* ERR_BAD_INPUT for a file that names no good secret. */
enum err cluster_peers(
    struct cluster_peers *out, const char *dir, struct fault *fault);

/*
 * cluster_sharing(), and cluster_peers() where nodes give each other files: before
 * work whose outcome no other node could get.
 */
enum err cluster_can_share(
    struct cluster_sharing *out, const char *dir, struct fault *fault);

/*
 * The bucket that the file names; an empty url where it names none.
 * ERR_BAD_INPUT for settings that are not right.
 */
enum err cluster_bucket(
    struct bucket *out, const char *dir, struct fault *fault);
