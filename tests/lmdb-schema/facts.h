/*
 * facts: a store in the scratch folder, with made-up facts. Checked fixtures
 * for tests that read a store:
 *
 *	tcase_add_checked_fixture(tc, facts_make, facts_remove);
 */
#pragma once

#include <stdint.h>

#include "lmdb-schema/compute/compute.h"
#include "lmdb-schema/facts/intake.h"
#include "lmdb-schema/facts/live.h"
#include "lmdb-schema/facts/source.h"
#include "lmdb-schema/store/store.h"

/* The newest month of the facts below, and how many stores they have. */
#define FACTS_MONTH (2025 * 12 + 11)
#define FACTS_STORES 3

extern struct store *facts; /* open between the two */

void facts_make(void); /* a scratch folder and an empty store in it */
void facts_remove(void); /* and log lines are written again, see quiet.h */

/*
 * Closes the store, for tests that use it in other processes; opens it again.
 */
void facts_close(void);
void facts_open(void);
const char *facts_dir(void);

/*
 * Makes these facts current: supplier BIG with `big` articles, SMALL with
 * three, EMPTY without any, and two levels of classification. The same seed
 * gives the same facts. Returns their generation.
 */
uint64_t facts_import(unsigned big, uint64_t seed);

/*
 * As facts_import(), by hand: the puts between the two calls are made current.
 */
extern unsigned facts_shares; /* 0: what the number of articles asks for */
struct intake *facts_begin(struct source *base);
uint64_t facts_end(struct intake *intake);

/* An article with nothing but its code. */
struct source_article facts_article(const char *codein);
void facts_put_article(
    struct intake *intake, const char *supplier, const char *codein);
void facts_put(struct intake *intake, enum series_kind kind,
    const char *supplier, const char *codein, const char *store, int32_t month,
    int64_t value);

/* Ends all four series. */
void facts_end_series(struct intake *intake);

/* A range, and a product of the network, each committed on its own. */
void facts_gamme(const char *supplier, const char *codein, uint8_t gamme);
void facts_network(const char *code, int64_t ca);

/* Computes a supplier in one thread; returns the result. */
enum err facts_compute(const char *supplier, struct compute_result *result);

/* Whether a supplier lists an article in open facts. */
bool facts_lists(
    struct source *source, struct span supplier, struct span codein);

/*
 * Makes the file of a supplier's current snapshot one of another version, which the
 * catalogue does not have noted.
 */
void facts_make_foreign(const char *supplier);

/* A supplier's current snapshot, open. */
struct snapshot *facts_snapshot(const char *supplier);
