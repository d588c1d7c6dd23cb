/* grid_since: GET /grid?depuis=, what changed since a generation. */
#pragma once

#include "common/err.h"

struct call;
struct snapview;

/*
 * Answers with the rows that differ, and the codes that are gone; `computed` is
 * whether this call computed the supplier.
 */
enum err grid_since_send(
    struct call *call, struct snapview *view, bool computed);

/* 400 when depuis comes with filters: a row may leave a filter, too. */
enum err grid_since_check(struct call *call);
