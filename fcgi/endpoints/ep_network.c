/* GET /network/{codeCentrale}: one product's metrics in the network. */
#include <assert.h>

#include "common/members.h"
#include "fcgi/call.h"
#include "fcgi/endpoints/answer.h"
#include "fcgi/endpoints/endpoint.h"
#include "fcgi/rows/etag.h"
#include "fcgi/rows/holder.h"
#include "fcgi/http/format.h"
#include "lmdb-schema/facts/live.h"

enum err
ep_network(struct call *call)
{
	struct span code = call->path[0];
	const uint64_t tag[] = {
	    live_network_generation(call->serving->views.live)};
	struct network network;
	struct answer answer;
	enum err err = holder_pass_import(call);

	assert(call->subject.kind != SUBJECT_NOBODY);
	if (err == ERR_OK && !network_code_ok(code))
		err = ERR_NOT_FOUND;
	if (err == ERR_OK)
		err = live_network(call->serving->views.live, code, &network);
	if (err == ERR_NOT_FOUND)
		return reply_fail(call->reply, 404, CODE_NOT_FOUND,
		    "There is no network data for the central code %.*s "
		    "(10000 followed by digits).",
		    code.len > 64 ? 64 : (int)code.len, code.ptr);
	if (err != ERR_OK)
		return err;
	reply_header(call->reply, "Content-Type", "application/json");
	if (etag_matches(call, tag, 1, FORMAT_JSON))
		return ERR_ANSWERED;
	answer_begin(&answer, call);
	jsonw_raw(&answer.json, SPAN(""));
	network_json(answer.json.buf, &network);
	members_object(&answer.json, "meta");
	members_text(&answer.json, "codeCentrale", code);
	jsonw_object_end(&answer.json);
	return answer_end(&answer);
}
