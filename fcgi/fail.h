/* fail: error answers that several steps and endpoints give. */
#pragma once

#include "common/err.h"
#include "common/span.h"

struct call;

/* 404 for a supplier that does not exist or has no article. */
void fail_no_supplier(struct call *call, struct span supplier);

/* 500 for storage that is damaged or cannot be read; the log says why. */
void fail_storage(struct call *call, enum err err);

/*
 * 500 for a write, which is all or nothing: says that nothing was stored and
 * what must change first, or to look again where the outcome is not known.
 */
void fail_write(struct call *call, enum err err);
