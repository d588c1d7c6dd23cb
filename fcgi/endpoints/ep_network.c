/* GET /network/{codeCentrale}: one product's metrics in the network. */
#include "fcgi/call.h"
#include "fcgi/endpoints/endpoint.h"
#include "fcgi/rows/etag.h"
#include "fcgi/rows/splice.h"
#include "lmdb-schema/facts/live.h"

enum err
ep_network(struct call *call)
{
	struct span code = call->path[0];
	struct iovbuf *body = &call->reply->body;
	const uint64_t tag[] = {
	    live_network_generation(call->serving->views.live)};
	struct network network;
	struct buf json;
	enum err err = ERR_NOT_FOUND;

	if (network_code_ok(code))
		err = live_network(call->serving->views.live, code, &network);
	if (err == ERR_NOT_FOUND)
		return reply_fail(call->reply, 404, CODE_NOT_FOUND,
		    "There is no network data for the central code %.*s "
		    "(10000 followed by digits).",
		    code.len > 64 ? 64 : (int)code.len, code.ptr);
	if (err != ERR_OK)
		return err;
	reply_header(call->reply, "Content-Type", "application/json");
	if (etag_matches(call, tag, 1, SPLICE_JSON))
		return ERR_ANSWERED;
	buf_init(&json, 1 << 20);
	network_json(&json, &network);
	iovbuf_text(body, "{\"data\":");
	iovbuf_add(body, buf_span(&json));
	if (buf_end(&json) != ERR_OK)
		body->err = buf_end(&json);
	buf_fini(&json);
	iovbuf_text(body, ",\"meta\":{\"codeCentrale\":\"");
	iovbuf_add(body, code); /* digits only */
	iovbuf_text(body, "\"}}");
	return ERR_OK;
}
