/* check_priv: the state of a check in progress. For check*.c only. */
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
	char folder[FS_PATH_MAX]; /* the folder being listed */
	enum err limit; /* that left something unread; ERR_OK: none did */
	bool node, shares; /* of a cluster; whose nodes share imports */
	bool spoilt; /* the last checking_sums() found damage */
	void (*tell)(void *context, const struct fault *fault);
	void (*at)(void *context, uint64_t bytes);
	void *context;
};

/* Counts and reports a damage. `where` is a file's name, or its subject. */
void checking_tell(struct checking *checking, struct span where,
    const char *format, ...) __attribute__((format(printf, 3, 4)));

/*
 * The advice for a damage in what an environment has, or in the facts, which come
 * with live's: `alone` is that of a machine on its own. Other nodes have it whole.
 */
enum checking_env { CHECKING_LIVE, CHECKING_CATALOG, CHECKING_STATE };
const char *checking_help(const struct checking *checking,
    enum checking_env which, const char *alone);

/*
 * False, and reported with the advice `help`, when the environment's pages
 * cannot be walked.
 */
bool checking_pages(struct checking *checking, struct kv *kv, const char *file,
    const char *help);

/*
 * Compares every record of every table of an environment with its checksum, and
 * reports each damage by its name and with a remedy: check_sums.c.
 */
enum err checking_sums(struct checking *checking, enum checking_env which);

/* Whether `err` is a damage that checking_sums() has not reported already. */
bool checking_broken(struct checking *checking, enum err err);

/*
 * Opens the facts as `source`, unless they are damaged, and reads all of them:
 * check_facts.c.
 */
enum err checking_facts(struct checking *checking);

/*
 * Checks keys, users, sessions, proposals and the audit trail: check_state.c.
 */
enum err checking_state(struct checking *checking);

/* Counts what a closing of months left in the trail's folder. */
enum err checking_trail_left(struct checking *checking);

/*
 * Checks the word index, if there is one, and counts its temporary file as a
 * leftover, even while the index is being made: check_words.c.
 */
enum err checking_words(struct checking *checking);
enum err checking_words_left(struct checking *checking);
