/*
 * list_engine: an engine of one log, which takes each entry and gives none, and of the
 * nodes that a test says.
 */
#pragma once

#include <stdint.h>

#include "lmdb-schema/store/engine.h"

extern uint64_t list_entries; /* that were appended */
extern const char *list_alive; /* names, by spaces; NULL: it is out of reach */

/* Makes it, without entries, and a new store in a scratch folder that it is of. */
struct store *list_begin(struct engine *engine);
void list_end(struct store *store);
