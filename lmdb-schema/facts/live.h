/*
 * live: the data that change between computations: which facts are current, the
 * network's metrics, the server's range codes.
 *
 * A change of any of them is one transaction, so that readers see all of an
 * import (facts, metrics and ranges) or nothing of it.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "common/buf.h"
#include "common/err.h"
#include "common/span.h"

struct source;
struct store;

#define LIVE_MONTHS_MAX 120

/* The retail network's metrics of one product. */
struct network {
	int64_t ca, qte; /* micro */
	int64_t stores; /* stores that sell it */
	int64_t ca_per_store, margin; /* micro; margin is a raw ratio */
	int64_t fetched_ms; /* -1: not known */
	unsigned months; /* of the series, in order; 0: no series */
	int32_t month[LIVE_MONTHS_MAX];
	int64_t month_qte[LIVE_MONTHS_MAX]; /* micro */
};

/* "10000" followed by one digit or more. */
bool network_code_ok(struct span code);

void network_write(struct buf *buf, const struct network *network);
enum err network_read(struct network *network, struct span value);

/*
 * The value of a scalar network column of row.def: micro for decimals, NUM_NULL
 * for null. `network` NULL: the network does not know the article. `margin` is
 * the article's own tauxMarge.
 */
int64_t network_number(
    const struct network *network, unsigned column, int64_t margin);

/*
 * Returns the place of the first month shown: the year that ends with the
 * newest month of the series. Older months are stored, but never shown.
 */
unsigned network_first_shown(const struct network *network);

/*
 * Writes the object that the API shows, and its series alone ("null" when there
 * is none).
 */
void network_json(struct buf *buf, const struct network *network);
void network_months_json(struct buf *buf, const struct network *network);

/* --- reading ------------------------------------------------------------ */

/* A consistent view. One thread at a time. */
struct live_view;

enum err live_view_open(struct live_view **out, struct store *store);
void live_view_close(struct live_view *view);

/* Releases the view between uses, and takes the newest one. */
void live_view_rest(struct live_view *view);
enum err live_view_renew(struct live_view *view);

/* Grows with each commit: equal numbers mean equal contents. */
uint64_t live_view_version(const struct live_view *view);

/*
 * Generations; 0 when nothing was ever imported. LIVE_UNKNOWN, which equals no
 * generation, when the record cannot be read (which has been logged): a
 * snapshot of any generation then counts as out of date.
 */
#define LIVE_UNKNOWN UINT64_MAX
uint64_t live_facts(struct live_view *view);
uint64_t live_network_generation(struct live_view *view);
uint64_t live_gamme_generation(struct live_view *view, struct span supplier);

/*
 * Whether nothing of a supplier's rows has changed since a computation from
 * facts and network metrics of these generations: facts, year, labels; figures
 * of products that it lists. Ranges are left aside.
 */
bool live_is_unchanged(struct live_view *view, struct span supplier,
    uint64_t facts, uint64_t network);

/*
 * Whether the network's metrics in such a computation are today's. False while
 * the supplier's facts are newer: articles that were in the older ones may be
 * unknown to the newer.
 */
static inline bool
live_network_is_unchanged(struct live_view *view, struct span supplier,
    uint64_t facts, uint64_t network)
{
	return network == live_network_generation(view) ||
	    live_is_unchanged(view, supplier, facts, network);
}

/* ERR_NOT_FOUND: the network does not know the product. */
enum err live_network(
    struct live_view *view, struct span code, struct network *out);

/*
 * A product's stored bytes, for network_read(): borrowed until the view rests
 * or closes, and until then safe to read from any thread.
 */
enum err live_network_raw(
    struct live_view *view, struct span code, struct span *value);

/* ROW_GAMME_NONE without a range. */
enum err live_gamme(struct live_view *view, struct span supplier,
    struct span codein, uint8_t *gamme);

/* As live_gamme(), by key_pair(supplier, codein). */
enum err live_gamme_at(struct live_view *view, struct span key, uint8_t *gamme);

/* Calls `each` for a supplier's ranges, in the order of the codein bytes. */
enum err live_gammes(struct live_view *view, struct span supplier,
    enum err (*each)(void *context, struct span codein, uint8_t gamme),
    void *context);

/*
 * Calls `each` for every code that the network knows, in order; for `gridctl
 * check`.
 */
enum err live_networks(struct live_view *view,
    enum err (*each)(
	void *context, struct span code, const struct network *network),
    void *context);

/* --- changing ----------------------------------------------------------- */

struct live_change;

/*
 * Runs `work` in a change of its own and commits it, synced; a failure changes
 * nothing. Waits for another change to finish. May run `work` again from the
 * beginning (store_write()): *counts, which may be NULL, are those of the last
 * run.
 */
struct live_counts;
enum err live_change_run(struct store *store,
    enum err (*work)(void *context, struct live_change *change), void *context,
    struct live_counts *counts);

enum err live_set_facts(struct live_change *change, uint64_t generation);

/*
 * Deletes the ranges whose key, supplier 00 codein, `keeps` is false for: to
 * be called when the others are put.
 */
enum err live_forget_gammes(struct live_change *change,
    bool (*keeps)(void *context, struct span key), void *context);

/* Deletes the metrics of every product that this change has not put. */
enum err live_forget_networks(struct live_change *change);

/* An equal value changes nothing, and no generation. */
enum err live_put_network(struct live_change *change, struct span code,
    const struct network *network);
enum err live_put_gamme(struct live_change *change, struct span supplier,
    struct span codein, uint8_t gamme);

/*
 * Finds out whose rows this change leaves as they are, given the facts that
 * were current and those that will be; the last call before the commit. Without
 * it every supplier counts as changed by new facts or metrics. `before` may be
 * NULL, or the same as `now`; `now` NULL does nothing.
 */
enum err live_keep_unchanged(
    struct live_change *change, struct source *before, struct source *now);

/*
 * Every supplier counts as changed, unless it was computed from the facts and the
 * metrics of this change itself: where the generations before are of others.
 */
enum err live_forget_since(struct live_change *change);

/* Counts of what this change has altered so far. */
struct live_counts {
	uint64_t networks, networks_same, networks_gone;
	uint64_t gammes, gammes_same;
	uint64_t suppliers, suppliers_same; /* by live_keep_unchanged() */
};
struct live_counts live_change_counts(const struct live_change *change);
