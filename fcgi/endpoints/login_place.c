#include "fcgi/endpoints/login_place.h"

#include <assert.h>

#include "fcgi/call.h"
#include "fcgi/fail.h"
#include "lmdb-schema/store/store.h"

#define PLACE_WAIT_MS 5000

/* As nginx refuses those beyond its queue. */
static enum err
refuse_for_now(struct call *call)
{
	reply_fail(call->reply, 429, CODE_UNAUTHORIZED,
	    "Too many log in at this moment: try again in a second.");
	reply_header(call->reply, "Retry-After", "1");
	return ERR_ANSWERED;
}

enum err
login_place_take(int *place, struct call *call)
{
	enum err err =
	    store_lock_login(place, call->server->store, PLACE_WAIT_MS);

	assert(call->request->slow_pool);
	if (err == ERR_BUSY)
		return refuse_for_now(call);
	return err == ERR_OK ? ERR_OK : fail_write(call, err);
}
