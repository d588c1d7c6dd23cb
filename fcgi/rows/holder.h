/*
 * holder: requests for a supplier that this node of a cluster does not keep
 * (lmdb-schema/state/share.h). nginx passes them on to a node that does, by what
 * gridctl cluster nginx prints:
 *
 *	X-Accel-Redirect: @holder                or @page, for an answer at once
 *	X-Grid-Holder-1: https://192.0.2.12     where, from the nodes' records
 *	X-Grid-Holder-2: https://192.0.2.13     and where then
 *	X-Grid-Holder-Seen: state:1234          what is to be seen there
 *
 * A request that writes goes to @writer: nginx asks the next node where the one
 * before has surely not stored it, and nowhere else.
 *
 * For a page of a snapshot that there is nginx waits 10, 5 and 5 seconds for them,
 * else for each as long as a computation may take.
 *
 * A passed request has X-Grid-Passed, and is passed on no more: a node that does
 * not keep the supplier, or to which the last import or the snapshot does not come,
 * answers it with 421, and nginx asks the next one. Where none of them answers, the
 * request comes back with GRID_ALONE, and this node gets the snapshot or computes it.
 * It does the same where nginx has not told, by GRID_PASSES, that it has these places.
 */
#pragma once

#include <stdbool.h>

#include "common/err.h"
#include "common/span.h"

struct call;
struct holder_list; /* nodes that a request is passed on to */

/* Whether this node keeps the supplier; without `keep` always. */
enum err holder_is_here(bool *is, struct call *call, struct span supplier);

/*
 * ERR_OK: the answer is to be made here. ERR_ANSWERED: nginx is to pass the
 * request on, to call->passed; or it was passed here, call->passed is empty, and
 * the answer says that it is not for this node.
 */
enum err holder_pass(struct call *call, struct span supplier);

/*
 * The same of what an import brings to all nodes, its suppliers among it, where the
 * last one does not come to this node: any other one answers, or takes a proposal.
 */
enum err holder_pass_import(struct call *call);

/*
 * A write that fails, and of which surely nothing is stored: where the reason is this
 * node's own, such as a full disk, another one takes it. ERR_OK: say that it failed.
 */
enum err holder_pass_write(struct call *call, enum err err);

/* The 421 of such a node alone, where it is asked for its part (search/part.h). */
enum err holder_refuse_import(struct call *call);

/* The same to a node that keeps all of them; ERR_OK also where there is none. */
enum err holder_pass_all(
    struct call *call, const struct span *suppliers, unsigned count);

/*
 * As holder_pass(), of a supplier that this node keeps, and whose snapshot it
 * cannot have: its disk is full, for one.
 */
enum err holder_fall_back(struct call *call, struct span supplier);

/*
 * ERR_ANSWERED, as the call that asked within this one (fcgi/within.h) was
 * answered, whose call->passed `list` is.
 */
enum err holder_pass_on(struct call *call, const struct holder_list *list);
