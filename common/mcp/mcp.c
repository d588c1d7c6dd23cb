#include "common/mcp/mcp_priv.h"

#include <assert.h>
#include <stdio.h>
#include <stdlib.h>

#include "common/jsonw.h"
#include "common/log.h"
#include "common/mcp/mcpera.h"
#include "common/mcp/rpc.h"
#include "common/members.h"
#include "config.h"

#define DEPTH_MAX 256
#define BATCH_MAX 100
#define ANSWER_MAX ((size_t)32 << 20)
#define BATCH_BYTES ((size_t)8 << 20) /* then the rest is refused */

static void
post_free(struct mcp_post *post)
{
	if (post == NULL)
		return;
	for (unsigned i = 0; i < post->count; i++)
		buf_fini(&post->items[i].answer);
	free(post->items);
	jscan_fini(&post->doc);
	free(post->text);
	free(post);
}

/* --- one message ---------------------------------------------------------- */

/* True when it is done with; false when a tool is at work. */
static bool
do_item(struct mcp_item *item, const struct mcp_headers *headers)
{
	struct mcp_trouble trouble;

	item->status = 202;
	if (item->rpc.kind == RPC_NO_MESSAGE) {
		mcp_answer_error(
		    item, 400, RPC_INVALID_REQUEST, item->rpc.why, NULL);
		return true;
	}
	item->era = mcp_era_of(&item->rpc, headers);
	if (item->era == MCP_ERA_MODERN && item->post->batch) {
		mcp_answer_error(item, 400, RPC_INVALID_REQUEST,
		    "this revision has no batches", NULL);
		return true;
	}
	if (item->rpc.kind == RPC_NOTIFICATION && item->era == MCP_ERA_MODERN)
		return true;
	mcp_check(&trouble, item->era, &item->rpc, headers);
	if (trouble.status != 0) {
		mcp_answer_error(item, trouble.status, trouble.code,
		    trouble.message, trouble.data);
		return true;
	}
	if (item->rpc.kind != RPC_REQUEST)
		return true;
	if (item->post->bytes > BATCH_BYTES) {
		mcp_answer_error(item, 200, RPC_INTERNAL_ERROR,
		    "the answers to this batch are too long already: ask for "
		    "the rest in another one",
		    NULL);
		return true;
	}
	return mcp_do_request(item);
}

/* --- the whole POST ------------------------------------------------------- */

static void
answer_plain(struct mcp_post *post, int status, const char *message)
{
	struct jsonw json;
	struct buf body;

	buf_init(&body, 65536);
	jsonw_init(&json, &body);
	jsonw_object_begin(&json);
	members_string(&json, "error", message);
	jsonw_object_end(&json);
	post->done(post->arg,
	    &(struct mcp_answer){.status = status, .body = buf_span(&body)});
	buf_fini(&body);
}

static void
join_answers(struct mcp_post *post, struct buf *body)
{
	buf_add_char(body, '[');
	for (unsigned i = 0; i < post->count; i++) {
		if (post->items[i].answer.len == 0)
			continue;
		if (body->len > 1)
			buf_add_char(body, ',');
		buf_add_span(body, buf_span(&post->items[i].answer));
		if (buf_end(&post->items[i].answer) != ERR_OK)
			buf_fail(body, buf_end(&post->items[i].answer));
	}
	buf_add_char(body, ']');
}

static void
answer_batch(struct mcp_post *post)
{
	struct buf body;

	buf_init(&body, ANSWER_MAX);
	join_answers(post, &body);
	if (buf_end(&body) != ERR_OK)
		answer_plain(post, 500, err_text(buf_end(&body)));
	else
		post->done(post->arg,
		    &(struct mcp_answer){.status = body.len > 2 ? 200 : 202,
			.body = body.len > 2 ? buf_span(&body) : SPAN("")});
	buf_fini(&body);
}

void
mcp_finish(struct mcp_post *post)
{
	const struct mcp_item *item = &post->items[0];

	if (post->open > 0)
		return;
	if (post->batch)
		answer_batch(post);
	else if (buf_end(&item->answer) != ERR_OK) {
		log_error("an answer could not be written: reason=%s",
		    err_text(buf_end(&item->answer)));
		answer_plain(post, 500, err_text(buf_end(&item->answer)));
	} else
		post->done(post->arg,
		    &(struct mcp_answer){.status = item->status,
			.body = buf_span(&item->answer)});
	post_free(post);
}

/* Answers a message that could not be taken apart. */
static void
answer_unread(struct mcp_post *post, int status, int code, const char *message)
{
	struct mcp_item *item = &post->items[0];

	post->count = 1;
	post->batch = false;
	*item = (struct mcp_item){.post = post};
	buf_init(&item->answer, ANSWER_MAX);
	mcp_answer_error(item, status, code, message, NULL);
}

static void
start_items(struct mcp_post *post, const struct mcp_headers *headers)
{
	post->starting = true;
	post->open = post->count;
	for (unsigned i = 0; i < post->count; i++)
		if (do_item(&post->items[i], headers))
			post->open--;
	post->starting = false;
}

static void
set_item(struct mcp_post *post, struct jval message)
{
	struct mcp_item *item = &post->items[post->count++];

	*item = (struct mcp_item){.post = post, .rpc = rpc_read(message)};
	buf_init(&item->answer, ANSWER_MAX);
}

static void
start_batch(struct mcp_post *post, const struct mcp_headers *headers)
{
	struct jwalk walk = jwalk_begin(jscan_root(&post->doc));
	size_t count = jval_count(jscan_root(&post->doc));
	struct jval name, message;
	struct mcp_item *item;

	if (!mcp_may_batch(headers) || count == 0 || count > BATCH_MAX) {
		answer_unread(post, 400, RPC_INVALID_REQUEST,
		    count == 0              ? "an empty batch"
			: count > BATCH_MAX ? "a batch of more than 100"
					    : "this revision has no batches");
		return;
	}
	item = reallocarray(post->items, count, sizeof(*post->items));
	if (item == NULL) {
		answer_unread(post, 500, RPC_INTERNAL_ERROR, "no memory");
		return;
	}
	post->items = item;
	post->batch = true;
	while (jwalk_next(&walk, &name, &message))
		set_item(post, message);
	for (unsigned i = 0; i < post->count; i++) {
		if (mcp_era_of(&post->items[i].rpc, headers) != MCP_ERA_MODERN)
			continue;
		answer_unread(post, 400, RPC_INVALID_REQUEST,
		    "this revision has no batches");
		return;
	}
	start_items(post, headers);
}

static void
start(struct mcp_post *post, const struct mcp_headers *headers)
{
	struct jval root = jscan_root(&post->doc);

	if (jval_type(root) == JARRAY)
		start_batch(post, headers);
	else {
		set_item(post, root);
		start_items(post, headers);
	}
}

static bool
is_json_type(struct span type)
{
	struct span media = span_trim(span_sub(type, 0, span_find(type, ';')));

	return type.ptr == NULL ||
	    span_eq_nocase(media, SPAN("application/json"));
}

static struct mcp_post *
post_new(const struct mcp_service *service, void *owner, struct span body,
    void (*done)(void *arg, const struct mcp_answer *answer), void *arg)
{
	struct mcp_post *post = calloc(1, sizeof(*post));

	if (post == NULL)
		return NULL;
	post->service = service;
	post->owner = owner;
	post->done = done;
	post->arg = arg;
	post->text = malloc(body.len + 1);
	post->items = calloc(1, sizeof(*post->items));
	if (post->text == NULL || post->items == NULL) {
		post_free(post);
		return NULL;
	}
	if (body.len > 0)
		memcpy(post->text, body.ptr, body.len);
	return post;
}

static void
read_and_start(
    struct mcp_post *post, size_t len, const struct mcp_headers *headers)
{
	struct fault fault = {.place = ""};
	char message[800];
	enum err err;

	if (!is_json_type(headers->content_type)) {
		answer_unread(post, 415, RPC_INVALID_REQUEST,
		    "Content-Type must be application/json");
		return;
	}
	err = jscan_parse(
	    &post->doc, span_make(post->text, len), DEPTH_MAX, &fault);
	if (err == ERR_OK)
		start(post, headers);
	else if (err == ERR_NO_MEMORY)
		answer_unread(post, 500, RPC_INTERNAL_ERROR, err_text(err));
	else {
		snprintf(message, sizeof(message), "Parse error: %s: %s",
		    fault.place, fault.message);
		answer_unread(post, 400, RPC_PARSE_ERROR, message);
	}
}

struct mcp_post *
mcp_post(const struct mcp_service *service, void *owner, struct span body,
    const struct mcp_headers *headers,
    void (*done)(void *arg, const struct mcp_answer *answer), void *arg)
{
	struct mcp_post *post;
	assert(service != NULL && headers != NULL && done != NULL);
	if (span_starts(body, SPAN("\xEF\xBB\xBF")))
		body = span_from(body, 3);
	post = post_new(service, owner, body, done, arg);
	if (post == NULL) {
		done(arg,
		    &(struct mcp_answer){.status = 500,
			.body = SPAN("{\"error\":\"out of memory\"}")});
		return NULL;
	}
	read_and_start(post, body.len, headers);
	if (post->open > 0)
		return post;
	mcp_finish(post);
	return NULL;
}

void
mcp_cancel(struct mcp_post *post)
{
	if (post == NULL)
		return;
	for (unsigned i = 0; i < post->count; i++)
		if (post->items[i].call != NULL)
			post->service->cancel(post->items[i].call);
	post_free(post);
}
