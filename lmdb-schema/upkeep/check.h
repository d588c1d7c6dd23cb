/*
 * check: reads and verifies everything that is stored: each record, each
 * checksum, each reference from one part to another.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "common/err.h"

struct store;

struct check_counts {
	uint64_t articles; /* of the facts, each record decoded */
	uint64_t references; /* looked up from one part in another */
	uint64_t networks, gammes; /* live records */
	uint64_t people; /* keys, users and sessions */
	uint64_t proposals; /* pending and validated */
	uint64_t entries; /* of the audit trail */
	uint64_t archived; /* files of the trail in an archive: no damage */
	uint64_t snapshots, sections, bytes; /* verified by checksum */
	uint64_t foreign; /* snapshots of another version: no damage */
	uint64_t records; /* of live, catalogue and state, with their sums */
	uint64_t leftovers; /* files without a reference: no damage */
	uint64_t strays; /* files beside those of the trail: no damage */
	uint64_t damages;
	bool unreadable; /* while `tell` is called: it may be whole */
	bool words_missing; /* words.idx was removed: no damage */
};

/*
 * Calls `tell` with each damage found, and goes on. The result is ERR_OK even
 * so: see counts->damages. An error is returned only when the check itself
 * could not go on, or left something unread for a limit of this process, which is
 * no damage.
 */
enum err check_store(struct check_counts *counts, struct store *store,
    void (*tell)(void *context, const struct fault *fault),
    void (*at)(void *context, uint64_t bytes), void *context);
