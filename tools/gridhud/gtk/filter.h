/*
 * filter: which messages the list shows. All conditions that are set must hold.
 */
#pragma once

#include <stdbool.h>

#include "common/buf.h"
#include "tools/gridhud/message.h"

#define FILTER_SOURCE_MAX 256

struct filter {
	bool unread, alerts;
	char source[FILTER_SOURCE_MAX]; /* "": any */
	struct buf search; /* folded; empty: none */
};

void filter_init(struct filter *filter);
void filter_fini(struct filter *filter);

/* Looks for that text, without regard to case and accents. */
void filter_search(struct filter *filter, struct span text);

/* No condition is set. */
bool filter_is_open(const struct filter *filter);

bool filter_takes(const struct filter *filter, const struct message *message);
