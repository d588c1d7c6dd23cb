/*
 * feed_entry: an entry of the trail about a range, as JSON: /propositions,
 * /products/{codein}/gammes and the events that hooks send have it alike.
 */
#pragma once

#include <stdbool.h>

#include "common/jsonw.h"
#include "lmdb-schema/state/audit.h"

/* The entry's state, as a bit of enum feed_state; 0: not about a range. */
unsigned feed_entry_state(const struct audit_entry *entry);

/* Whether the author made the proposal, or the one that it took the place of. */
bool feed_entry_is_by(const struct audit_entry *entry, struct span author);

/* An object; only for an entry with a state. */
void feed_entry_write(struct jsonw *json, const struct audit_entry *entry);
