#include "fcgi/endpoints/answer.h"

#include <assert.h>

#include "common/date.h"
#include "fcgi/call.h"
#include "fcgi/http/members.h"
#include "lmdb-schema/snapshot/snapfile.h"

void
answer_begin(struct answer *answer, struct call *call)
{
	struct buf *text = &call->serving->text;

	assert(call->reply != NULL);
	answer->call = call;
	buf_clear(text);
	jsonw_init(&answer->json, text);
	jsonw_object_begin(&answer->json);
	jsonw_key(&answer->json, "data");
}

void
answer_begin_unkept(struct answer *answer, struct call *call)
{
	assert(!call->reply->streaming);
	reply_header(call->reply, "Content-Type", "application/json");
	reply_header(call->reply, "Cache-Control", "no-store");
	answer_begin(answer, call);
}

/* The body keeps the failure: an answer without a part of it must not go out. */
static bool
is_whole(struct iovbuf *body, const struct buf *text)
{
	if (buf_end(text) != ERR_OK && body->err == ERR_OK)
		body->err = buf_end(text);
	return buf_end(text) == ERR_OK;
}

void
answer_put(struct answer *answer)
{
	struct iovbuf *body = &answer->call->reply->body;
	struct buf *text = answer->json.buf;

	assert(text == &answer->call->serving->text);
	if (is_whole(body, text))
		iovbuf_add(body, buf_span(text));
	buf_clear(text);
}

enum err
answer_end(struct answer *answer)
{
	struct iovbuf *body = &answer->call->reply->body;
	struct buf *text = answer->json.buf;

	assert(text == &answer->call->serving->text);
	jsonw_object_end(&answer->json);
	if (is_whole(body, text))
		iovbuf_refer_all(body, text->data, text->len);
	return jsonw_end(&answer->json);
}

void
answer_days(struct jsonw *json, const struct snap_head *head)
{
	char text[DATE_TEXT_MAX];
	size_t len = 0;

	if (head->oldest_sales != 0)
		len = date_month_text(text, head->oldest_sales);
	members_day(json, "donneesAu", head->as_of_day);
	members_null_text(json, "ventesDepuis", span_make(text, len));
}

void
answer_rights(struct answer *answer, const struct rights *rights)
{
	members_text(&answer->json, "role", span_of(role_text(rights->role)));
	members_codes(&answer->json, "suppliers", rights->suppliers);
}
