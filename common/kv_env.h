/*
 * kv_env: what kv.c and kv_open.c share. Nobody else includes it.
 */
#pragma once

#include <stdatomic.h>
#include <sys/types.h>

#include "common/kv.h"

struct MDB_env;

struct kv {
	struct MDB_env *env;
	char *path;
	char **names; /* of the tables */
	unsigned tables[KV_TABLES_MAX];
	unsigned table_count;
	enum kv_mode mode;
	bool read_only;
	atomic_bool told_panic;

	/* In the list of open environments. */
	struct kv *next;
	unsigned users;
	pid_t pid;
	dev_t dev;
	ino_t ino;
};

/*
 * The code that stands for LMDB's. What is neither success nor an answer (not
 * found, there already) is logged, with what was being done.
 */
enum err kv_failed(struct kv *kv, const char *doing, int code);

/* The same, where the trouble is with another file than its own. */
enum err kv_failed_at(
    struct kv *kv, const char *path, const char *doing, int code);
