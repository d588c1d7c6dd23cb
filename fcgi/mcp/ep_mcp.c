/*
 * POST /mcp: the grid as tools, for agents. A message comes in, its tool asks
 * the API's own endpoints (fcgi/within.h), and the answer goes out at once: no
 * session, no stream.
 */
#include <assert.h>

#include "fcgi/auth.h"
#include "fcgi/call.h"
#include "fcgi/endpoints/endpoint.h"
#include "fcgi/mcp/agent.h"
#include "fcgi/rows/ensure.h"
#include "fcgi/rows/holder.h"

#define BODY_MAX ((size_t)1 << 20)
#define ANSWER_MAX ((size_t)32 << 20)

static void
on_answer(void *arg, const struct mcp_answer *answer)
{
	struct agent *agent = arg;
	struct reply *reply = agent->call->reply;

	if (agent->handed_over)
		return;
	reply->status = answer->status;
	reply_header(reply, "Cache-Control", "no-store");
	if (answer->body.len == 0)
		return;
	reply_header(reply, "Content-Type", "application/json");
	iovbuf_add(&reply->body, answer->body);
}

static enum err
check_size(struct call *call)
{
	const struct request *request = call->request;

	if (!request->body_too_large && request->body.len <= BODY_MAX)
		return ERR_OK;
	return reply_fail(call->reply, 413, CODE_BAD_REQUEST,
	    "The body is too large: %zu bytes are the most.", BODY_MAX);
}

enum err
ep_mcp(struct call *call)
{
	const struct request *request = call->request;
	const struct mcp_headers headers = {
	    .content_type = request->content_type,
	    .version = request->mcp_version,
	    .method = request->mcp_method,
	    .name = request->mcp_name};
	struct agent agent = {.call = call,
	    .batch = span_starts(span_trim(request->body), SPAN("["))};
	enum err err = auth_same_origin(call);

	assert(call->subject.kind == SUBJECT_KEY);
	if (err == ERR_OK)
		err = check_size(call);
	if (err != ERR_OK)
		return err;
	buf_init(&agent.answer, ANSWER_MAX);
	mcp_post(
	    &agent_service, &agent, request->body, &headers, on_answer, &agent);
	buf_fini(&agent.answer);
	if (!agent.handed_over)
		return ERR_OK;
	return agent.passed != NULL ? holder_pass_on(call, agent.passed)
				    : ensure_hand_over(call);
}
