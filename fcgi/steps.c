#include "fcgi/steps.h"

#include <assert.h>

#include "common/members.h"
#include "fcgi/call.h"
#include "fcgi/fail.h"
#include "fcgi/http/format.h"
#include "fcgi/http/french.h"
#include "fcgi/route.h"

/* As params_read() tells what is wrong with a parameter. */
static enum err
refuse_pair(struct call *call, const struct fault *fault)
{
	struct buf *message = &call->serving->message;
	struct jsonw json;

	buf_clear(message);
	buf_addf(message, "%s %s", fault->place, fault->message);
	if (buf_end(message) != ERR_OK)
		return buf_end(message);
	fail_begin(&json, call);
	jsonw_key(&json, "issues");
	jsonw_array_begin(&json);
	jsonw_object_begin(&json);
	members_text(&json, "parameter", span_of(fault->place));
	members_text(&json, "message", span_of(fault->message));
	jsonw_object_end(&json);
	jsonw_array_end(&json);
	return fail_end(&json, call, 400, CODE_BAD_REQUEST, buf_span(message));
}

static void
in_french(struct fault *fault)
{
	char text[sizeof(fault->message)];
	struct fault told;

	fault_clear(&told);
	fault_set(&told, fault->place, "%s",
	    french_made(text, sizeof(text), fault->message));
	*fault = told;
}

enum err
steps_query(struct call *call)
{
	struct fault fault;
	enum err err;

	fault_clear(&fault);
	err = query_parse(
	    &call->query, call->request->uri, call->serving->arena, &fault);
	if (err == ERR_OK)
		return ERR_OK;
	if (request_french(call->request))
		in_french(&fault);
	if (call->query.bad_pair)
		return refuse_pair(call, &fault);
	return reply_fail(call->reply, 400, CODE_BAD_REQUEST, "%s %s",
	    fault.place, fault.message);
}

/* Says which formats there are. */
static enum err
refuse_format(struct call *call)
{
	struct buf *message = &call->serving->message;
	struct jsonw json;

	buf_clear(message);
	fail_begin(&json, call);
	jsonw_key(&json, "formats");
	jsonw_array_begin(&json);
	buf_add_span(message,
	    span_of(reply_words(
		call->reply, "There is no such format; format is one of")));
	for (unsigned i = 0; i < FORMATS; i++) {
		const struct format_info *info = &format_infos[i];

		buf_addf(message, "%s %.*s", i == 0 ? "" : ",",
		    SPAN_ARG(info->name));
		jsonw_object_begin(&json);
		members_text(&json, "format", info->name);
		members_text(&json, "type", info->type);
		jsonw_object_end(&json);
	}
	jsonw_array_end(&json);
	if (buf_end(message) != ERR_OK)
		return buf_end(message);
	return fail_end(&json, call, 406, CODE_BAD_REQUEST, buf_span(message));
}

enum err
steps_params(struct call *call)
{
	struct serving *serving = call->serving;
	enum err err;

	buf_clear(&serving->message);
	buf_clear(&serving->details);
	err = params_read(&call->params, &call->query, call->route->use,
	    request_french(call->request), serving->arena, &serving->message,
	    &serving->details);
	if (err == ERR_OK && call->params.format == FORMATS)
		return refuse_format(call);
	if (err != ERR_BAD_INPUT)
		return err;
	return reply_error(call->reply, 400, CODE_BAD_REQUEST,
	    buf_span(&serving->message), buf_span(&serving->details));
}

void
steps_end(struct call *call, enum err err)
{
	struct reply *reply = call->reply;

	assert(reply != NULL);
	if (err == ERR_ANSWERED)
		err = ERR_OK;
	/* The writers of an answer keep their first failure; see reply.h. */
	if (err == ERR_OK && !reply->begun)
		err = reply->err == ERR_OK ? reply->body.err : reply->err;
	if (err != ERR_OK)
		reply_fail(reply, 500, CODE_INTERNAL,
		    "The data could not be read (%s). The request can be "
		    "repeated; the server's log says more.",
		    err_text(err));
}
