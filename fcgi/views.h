/*
 * views: what a thread sees of the three environments: what is imported, which
 * snapshots there are, and the state of proposals and keys. All are as they
 * were at one renewal, until the next.
 */
#pragma once

#include "common/err.h"

struct catalog_view;
struct live_view;
struct state_view;
struct store;

struct views {
	struct live_view *live;
	struct catalog_view *catalog;
	struct state_view *state;
};

/*
 * Opens all three, at rest. After a failure what is open is in *views: pair
 * with views_close() either way.
 */
enum err views_open(struct views *views, struct store *store);
void views_close(struct views *views);

/* Sees what is committed now. At rest no pages are kept from being reused. */
enum err views_renew(struct views *views);
void views_rest(struct views *views);
