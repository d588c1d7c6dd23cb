/*
 * on_demand: a supplier computed, its rows packed, or the word index made,
 * because somebody asks for it. `gridctl compute`, `pack` or `index` runs as a
 * child, so that a crash or the time limit ends a child and never a worker.
 * Requests for the same supplier share one child.
 */
#pragma once

#include "common/err.h"
#include "common/span.h"
#include "lmdb-schema/snapshot/packed_rows.h"

struct call;
struct computing_table;
struct metrics;
struct api_settings;

/*
 * computing_table_free() does not wait for the children that are under way:
 * they go on, without `settings` and `metrics`, and are no longer counted.
 */
struct computing_table *computing_table_new(
    const struct api_settings *settings, struct metrics *metrics);
void computing_table_free(struct computing_table *table);

/*
 *   ERR_OK         there is a snapshot now
 *   ERR_BUSY       too many computations, or too many who wait
 *   ERR_TIMED_OUT  it took longer than the limit and was ended
 *   ERR_CLOSED     the client has gone; the computation goes on
 *   ERR_INTERNAL   it failed; the log says why
 */
enum err on_demand_compute(struct call *call, struct span supplier);

/*
 * Has it computed, and does not wait: its snapshot was found to be damaged.
 * Requests that ask meanwhile wait for this computation.
 */
void on_demand_begin(struct call *call, struct span supplier);

/*
 * Has a supplier's rows packed (lmdb-schema/snapshot/packed_rows.h), and does not
 * wait for it: the next answer may find them. After a failure nothing of the kind
 * is started for a minute.
 */
void on_demand_pack(
    struct call *call, struct span supplier, enum packed_kind kind);

/*
 * Has the word index made (lmdb-schema/search/word_index.h), and does not wait for
 * it
 * either. After one has ended, none is begun by this worker for a minute, and
 * for ten when it could not be made.
 */
void on_demand_index(struct call *call);
