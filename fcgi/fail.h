/*
 * fail: error answers that several endpoints give. Each is made whole, and
 * gives ERR_ANSWERED.
 */
#pragma once

#include "common/err.h"
#include "common/jsonw.h"
#include "common/span.h"
#include "fcgi/http/reply.h"

struct call;

/* 404 for a supplier that does not exist or has no article. */
enum err fail_no_supplier(struct call *call, struct span supplier);

/*
 * 500 for a write, which is all or nothing: says that nothing was stored and
 * what must change first, or to look again where the outcome is not known. Of
 * several nodes 503, as another one may take it, or their log is away;
 * details.outcome is "unknown" where the write may be in the log, and "stored"
 * where it is, and this node cannot show it.
 */
enum err fail_write(struct call *call, enum err err);

/*
 * An error whose `details` the caller writes: members of an object, to `json`,
 * between the two. A failure of memory is given as such.
 */
void fail_begin(struct jsonw *json, struct call *call);
enum err fail_end(struct jsonw *json, struct call *call, int status,
    enum reply_code code, struct span message);
