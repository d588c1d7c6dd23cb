/*
 * checking: one check while it goes on. For check*.c only.
 */
#pragma once

#include <stdbool.h>

#include "common/fs.h"
#include "common/span.h"
#include "lmdb-schema/facts/series.h"
#include "lmdb-schema/upkeep/check.h"

struct kv;
struct fault;

struct checking {
	struct store *store;
	struct check_counts *counts;
	struct source *source; /* NULL: nothing imported, or damaged */
	struct catalog_view *catalog;
	struct span supplier;
	uint64_t records[SERIES_KINDS]; /* found in the articles */
	char folder[FS_PATH_MAX]; /* while one is listed */
	bool spoilt; /* the last of checking_sums() found something */
	void (*tell)(void *context, const struct fault *fault);
	void (*at)(void *context, uint64_t bytes);
	void *context;
};

/* Counts a damage and tells it. `where` is a file's name, or what it holds. */
void checking_tell(struct checking *checking, struct span where,
    const char *format, ...) __attribute__((format(printf, 3, 4)));

/* False, and told, when an environment cannot be walked; `help`: what to do. */
bool checking_pages(struct checking *checking, struct kv *kv, const char *file,
    const char *help);

/*
 * Every record of every table of an environment against its checksum, each
 * damage told by its name and with what mends it: check_sums.c.
 */
enum checking_env { CHECKING_LIVE, CHECKING_CATALOG, CHECKING_STATE };
enum err checking_sums(struct checking *checking, enum checking_env which);

/* Whether `err` is a damage that checking_sums() has not told already. */
bool checking_broken(struct checking *checking, enum err err);

/* Keys, users, sessions, proposals, the audit trail: check_state.c. */
enum err checking_state(struct checking *checking);

/*
 * The wordbook, which need not be there; and what is left of making one, which
 * counts also while it is made: check_words.c.
 */
enum err checking_words(struct checking *checking);
enum err checking_words_left(struct checking *checking);
