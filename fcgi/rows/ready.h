/*
 * ready: a supplier's snapshot for an endpoint that may compute one: there
 * already, computed now, handed to the slow pool, or refused with the answer
 * that says why.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "common/span.h"

struct call;
struct snapview;

/*
 * True: *view is open, and *computed says whether it was computed now. False:
 * the answer is made (404, 202, 500), or the slow pool is to be asked. The
 * view is without ranges: for who shows no rows.
 */
bool ready_snapshot(struct snapview *view, struct call *call,
    struct span supplier, uint64_t generation, bool compute, bool *computed);

/* The same with the ranges of today. */
bool ready_supplier(struct snapview *view, struct call *call,
    struct span supplier, uint64_t generation, bool compute, bool *computed);

/* The 202 of a supplier that has no snapshot. */
void ready_refuse(struct call *call, const char *why, unsigned retry_after);

/* nginx is to run the request again on the pool that may take seconds. */
void ready_hand_over(struct call *call);

/* The same by another way through nginx to that pool, such as "@login". */
void ready_hand_over_to(struct call *call, const char *location);
