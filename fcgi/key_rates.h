/*
 * key_rates: how many requests a key may make, over all processes, in memory
 * that they share.
 *
 * A key of N requests a minute may make N at once, and then one every 60 / N
 * seconds. Of each key one number is kept: the moment when all that it has asked
 * for would be paid off at that pace (GCRA).
 */
#pragma once

#include <stdatomic.h>
#include <stdint.h>

#include "common/span.h"

#define KEY_RATES 2048 /* keys with a rate that are in use at once */

struct key_rates {
	struct key_rate {
		atomic_ullong key; /* a hash of its id; 0: free */
		atomic_llong paid_ns; /* monotonic */
	} slots[KEY_RATES];
};

/* 0: the request may pass, and counts. Else: seconds to wait; it counts not. */
int64_t key_rates_take(struct key_rates *rates, struct span id,
    int64_t per_minute, int64_t now_ns);
