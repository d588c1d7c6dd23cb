/*
 * ensure: a supplier's snapshot for an endpoint that may compute one: there
 * already, computed now, handed to the slow pool, or refused with the answer
 * that says why.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "common/err.h"
#include "common/span.h"

struct call;
struct snapview;

/*
 * ERR_OK: *view is open, and *computed says whether it was computed now.
 * ERR_ANSWERED: the answer is made (404, 202, 500), or nginx is to ask the slow
 * pool. Any other failure is the storage's. The view is without ranges: for
 * endpoints that show no rows.
 */
enum err ensure_snapshot(struct snapview *view, struct call *call,
    struct span supplier, uint64_t generation, bool compute, bool *computed);

/* The same with the ranges of today. */
enum err ensure_supplier(struct snapview *view, struct call *call,
    struct span supplier, uint64_t generation, bool compute, bool *computed);

/* The same for the supplier and generation that the parameters name. */
enum err ensure_asked(struct snapview *view, struct call *call, bool *computed);

/*
 * nginx is to run the request again on the pool that may take seconds.
 * ERR_ANSWERED.
 */
enum err ensure_hand_over(struct call *call);

/* The same by another way through nginx to that pool, such as "@login". */
enum err ensure_hand_over_to(struct call *call, const char *location);
