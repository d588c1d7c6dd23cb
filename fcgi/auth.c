#include "fcgi/auth.h"

#include "common/log.h"
#include "fcgi/server.h"

static enum err
by_key(struct call *call, struct span text)
{
	struct access_key key;
	enum err err = access_key_check(&key, call->serving->state, text);

	if (err != ERR_OK)
		return err;
	call->subject.kind = SUBJECT_KEY;
	call->subject.name = arena_copy(call->serving->arena, key.name);
	call->subject.id = arena_copy(call->serving->arena, key.id);
	call->subject.may_propose = key.scope == ACCESS_PROPOSE;
	server_note_use(call->server, key.id);
	return ERR_OK;
}

/* "Bearer <token>", the scheme in any case. */
static struct span
bearer(struct span header)
{
	if (header.len < 7 ||
	    !span_eq_nocase(span_sub(header, 0, 7), SPAN("bearer ")))
		return (struct span){NULL, 0};
	return span_trim(span_from(header, 7));
}

enum err
auth_subject(struct call *call)
{
	const struct request *request = call->request;

	if (request->api_key.ptr != NULL && request->api_key.len > 0)
		return by_key(call, request->api_key);
	if (request->authorization.ptr != NULL &&
	    request->authorization.len > 0)
		return by_key(call, bearer(request->authorization));
	return ERR_DENIED;
}

void
auth_refuse(struct call *call)
{
	/* nginx counts it on the way, and asks again without this. */
	if (call->request->count_refusal) {
		reply_header(call->reply, "X-Accel-Redirect", "@refused");
		call->handed_over = true;
		return;
	}
	reply_fail(call->reply, 401, CODE_UNAUTHORIZED,
	    "An API key is needed, in the header X-API-Key or as "
	    "Authorization: Bearer; this one is missing, invalid or revoked.");
	reply_header(
	    call->reply, "WWW-Authenticate", "Bearer realm=\"product-grid\"");
}
