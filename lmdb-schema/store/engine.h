/*
 * engine: the ordered log that several nodes share, one for each environment.
 * Each entry has a number, from 1 on without gaps, and is there for good once
 * it was appended.
 *
 * A door has these functions; a store without an engine (one machine) commits
 * to its own files alone.
 */
#pragma once

#include <stdint.h>

#include "common/err.h"
#include "common/span.h"
#include "lmdb-schema/store/store.h"

#define ENGINE_ID_LEN 16
#define ENGINE_CHAIN_LEN 32
#define ENGINE_CHAIN_AT 17 /* where an entry has its own chain */

struct engine {
	/*
	 * Appends the entry, if the last one's number is `after`, and its chain
	 * (write_log.h) is `chain`, ENGINE_CHAIN_LEN bytes:
	 *
	 *   ERR_OK       it is number after + 1, on a majority's disks
	 *   ERR_BEHIND   it was not appended: the log is at another number
	 *   ERR_AWAY     it was surely not appended
	 *   ERR_UNKNOWN  it may have been: the same call again finds out, by
	 *                `id`, ENGINE_ID_LEN bytes
	 *   ERR_DAMAGED  it was not appended: the log has not the entries that
	 *                this node has. A door that cannot compare the chains
	 *                tells it of a log that is too short.
	 */
	enum err (*append)(struct engine *engine, enum store_env log,
	    uint64_t after, struct span chain, struct span id,
	    struct span entry);

	/*
	 * Calls `each` for the entries behind number `after`, in order.
	 * ERR_AWAY when the log cannot be read.
	 */
	enum err (*read)(struct engine *engine, enum store_env log,
	    uint64_t after,
	    enum err (*each)(void *context, uint64_t number, struct span entry),
	    void *context);

	/* The number of each log's last entry; ERR_AWAY. */
	enum err (*heads)(struct engine *engine, uint64_t heads[STORE_ENVS]);

	void (*close)(struct engine *engine);
};
