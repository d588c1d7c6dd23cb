/*
 * live: what changes between computations: which facts are current, the
 * network's metrics, the server's range codes.
 *
 * A change of any of them is one transaction, so an import that brings facts,
 * metrics and ranges is seen whole or not at all.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "common/buf.h"
#include "common/err.h"
#include "common/span.h"

struct store;

#define LIVE_MONTHS_MAX 120

/* One product in the retail network. */
struct network {
	int64_t ca, qte; /* micro */
	int64_t stores; /* how many sell it */
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
 * What a scalar column of row.def says of the network: micro for decimals,
 * NUM_NULL for null. `network` NULL: it does not know the article, whose own
 * tauxMarge is `margin`.
 */
int64_t network_number(
    const struct network *network, unsigned column, int64_t margin);

/*
 * Of the series, the year that ends with its newest month is shown: the place
 * of the first such month. What is older is kept, and shown nowhere.
 */
unsigned network_first_shown(const struct network *network);

/* The object that the API shows, and its series alone ("null" without). */
void network_json(struct buf *buf, const struct network *network);
void network_months_json(struct buf *buf, const struct network *network);

/* --- reading ------------------------------------------------------------ */

/* A consistent view. One thread at a time. */
struct live_view;

enum err live_view_open(struct live_view **out, struct store *store);
void live_view_close(struct live_view *view);

/* Lets go of it between uses, and takes the newest one. */
void live_view_rest(struct live_view *view);
enum err live_view_renew(struct live_view *view);

/* Grows with each commit: while it is the same, so is all that is stored. */
uint64_t live_view_version(const struct live_view *view);

/*
 * Generations; 0 when nothing was ever imported. LIVE_UNKNOWN, which no
 * generation is, when the record cannot be read (which has been logged): what
 * was made of an older one is then not taken for what is current.
 */
#define LIVE_UNKNOWN UINT64_MAX
uint64_t live_facts(struct live_view *view);
uint64_t live_network_generation(struct live_view *view);
uint64_t live_gamme_generation(struct live_view *view, struct span supplier);

/* ERR_NOT_FOUND: the network does not know it. */
enum err live_network(
    struct live_view *view, struct span code, struct network *out);

/*
 * Its stored bytes, for network_read(): borrowed until the view rests or
 * closes, and then safe to read from any thread.
 */
enum err live_network_raw(
    struct live_view *view, struct span code, struct span *value);

/* ROW_GAMME_NONE without a range. */
enum err live_gamme(struct live_view *view, struct span supplier,
    struct span codein, uint8_t *gamme);

/* The same by key_pair(supplier, codein). */
enum err live_gamme_at(struct live_view *view, struct span key, uint8_t *gamme);

/* Each of a supplier's ranges in the order of the codein bytes. */
enum err live_gammes(struct live_view *view, struct span supplier,
    enum err (*each)(void *context, struct span codein, uint8_t gamme),
    void *context);

/* Each code the network knows, in order; for the checks. */
enum err live_networks(struct live_view *view,
    enum err (*each)(
	void *context, struct span code, const struct network *network),
    void *context);

/* --- changing ----------------------------------------------------------- */

struct live_change;

/* Waits for another change to finish. */
enum err live_change_begin(struct live_change **out, struct store *store);

/* Commits, synced. Nothing was changed when it fails. Frees it either way. */
enum err live_change_commit(struct live_change *change);
void live_change_abort(struct live_change *change);

enum err live_set_facts(struct live_change *change, uint64_t generation);

/* Forgets all ranges. */
enum err live_clear_gammes(struct live_change *change);

/* Forgets each product's metrics that this change has not put. */
enum err live_forget_networks(struct live_change *change);

/* What is the same already changes nothing, and no generation. */
enum err live_put_network(struct live_change *change, struct span code,
    const struct network *network);
enum err live_put_gamme(struct live_change *change, struct span supplier,
    struct span codein, uint8_t gamme);

/* What this change has altered so far. */
struct live_counts {
	uint64_t networks, networks_same, networks_gone;
	uint64_t gammes, gammes_same;
};
struct live_counts live_change_counts(const struct live_change *change);
