/*
 * exchange: what nodes of a cluster give each other as files (docs/cluster.md):
 * imports, what is computed, and what goes into the bucket. Each has a thread of
 * the follower's process.
 */
#pragma once

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include "fcgi/metrics.h"

struct engine_node;
struct store;

struct exchange {
	struct store *store;
	struct metrics *metrics;
	const struct engine_node *node; /* this one: its name and its run */
	_Atomic uint64_t whole; /* the version at which it lacked nothing */
	_Atomic bool refused; /* another node has its name: nothing is taken */
};

/* False: a thread cannot be had. */
bool exchange_start(struct exchange *exchange);
