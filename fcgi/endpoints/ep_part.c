/*
 * POST /cluster/part: this node's part of a search over all suppliers, or of an
 * article at several of them, for another node that answers it (search/part.h).
 * nginx lets those through alone that show the nodes' secret.
 *
 * The thread waits for nobody: others wait for it.
 */
#include "fcgi/call.h"
#include "fcgi/endpoints/asked.h"
#include "fcgi/endpoints/endpoint.h"
#include "fcgi/endpoints/product_part.h"
#include "fcgi/route.h"
#include "fcgi/rows/holder.h"
#include "fcgi/search/part.h"
#include "fcgi/steps.h"

static enum err
refuse(struct call *call)
{
	return reply_fail(call->reply, 400, CODE_BAD_REQUEST,
	    "This is no question that this version knows.");
}

/* The request that the other node answers, as if it had come here. */
static enum err
read_request(struct call *call)
{
	char allowed[64];
	enum err err = steps_query(call);

	if (err == ERR_OK && route_find(call, allowed) != ERR_OK)
		err = refuse(call);
	if (err == ERR_OK && call->route->run != ep_search &&
	    call->route->run != ep_product)
		err = refuse(call);
	return err == ERR_OK ? steps_params(call) : err;
}

static enum err
make(struct buf *out, struct call *call, const struct part_question *question)
{
	struct rowset_query query;
	enum err err = read_request(call);

	if (err != ERR_OK)
		return err;
	if (call->route->run == ep_product)
		return product_part(out, call, question, NULL);
	err = asked_rows(&query, call, call->params.q);
	return err == ERR_OK ? part_search(out, call, &query, question) : err;
}

enum err
ep_part(struct call *call)
{
	const struct request *asked = call->request;
	const struct route *route = call->route;
	struct buf *out = &call->serving->text;
	struct part_question question;
	struct request request = *asked;
	enum err err;

	if (asked->grid_part.len == 0)
		return reply_fail(call->reply, 404, CODE_NOT_FOUND,
		    "There is nothing at this path; /api/v1/openapi.json "
		    "lists what there is.");
	err = holder_refuse_import(call);
	if (err != ERR_OK)
		return err;
	err = part_question_read(&question, asked->body, call->serving->arena);
	if (err == ERR_BAD_INPUT)
		return refuse(call);
	if (err != ERR_OK)
		return err;
	request.method = METHOD_GET;
	request.uri = question.address;
	call->request = &request;
	err = make(out, call, &question);
	call->request = asked;
	call->route = route;
	if (err != ERR_OK)
		return err;
	reply_header(call->reply, "Content-Type", "application/octet-stream");
	reply_header(call->reply, "Cache-Control", "no-store");
	iovbuf_refer_all(&call->reply->body, out->data, out->len);
	return ERR_OK;
}
