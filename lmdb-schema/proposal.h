/*
 * proposal: ranges that the API's callers propose, and the changes that buyers
 * validated.
 *
 *	none -> pending -> validated     a range differs from the recorded one;
 *	          |                      a buyer saves it
 *	          +-> none               withdrawn: proposed as recorded again
 *	          +-> rejected           a buyer cancels it
 *
 * The recorded range of an article is its validated change, else its server
 * range. A validated change ends ("arrives") when an import brings a server
 * range equal to it.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "common/err.h"
#include "common/span.h"
#include "lmdb-schema/row.h"
#include "lmdb-schema/state.h"

struct store;

/* A pending or a validated range. */
struct proposal {
	uint8_t gamme;
	struct span author; /* who proposed, or who validated */
	int64_t when_ms;
};

/* The generation of the last change of a supplier's; 0: there never was one. */
uint64_t proposal_version(struct state_view *view, struct span supplier);

/* Each of a supplier's in the order of the codein bytes. */
enum err proposal_pending(struct state_view *view, struct span supplier,
    enum err (*each)(
	void *context, struct span codein, const struct proposal *proposal),
    void *context);
enum err proposal_validated(struct state_view *view, struct span supplier,
    enum err (*each)(
	void *context, struct span codein, const struct proposal *proposal),
    void *context);
