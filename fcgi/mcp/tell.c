#include "fcgi/mcp/tell.h"

#include <assert.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>

#include "common/members.h"
#include "fcgi/call.h"
#include "fcgi/mcp/asking.h"
#include "fcgi/mcp/hints.h"
#include "fcgi/mcp/wording.h"

#define ERROR_MAX 1000 /* of its text; a result's text has 1024 bytes */
#define SENTENCE_MAX 600

void
tell_begin(struct asking *asking)
{
	buf_clear(&asking->out);
	jsonw_init(&asking->json, &asking->out);
	jsonw_object_begin(&asking->json);
	assert(asking->result != NULL);
}

void
tell_end(struct asking *asking, const char *format, ...)
{
	char sentence[SENTENCE_MAX];
	va_list args;

	assert(format != NULL);
	va_start(args, format);
	vsnprintf(sentence, sizeof(sentence), format, args);
	va_end(args);
	jsonw_object_end(&asking->json);
	if (jsonw_end(&asking->json) == ERR_OK)
		result_told(
		    asking->result, span_of(sentence), buf_span(&asking->out));
	else
		result_error(asking->result,
		    "The answer could not be written: %s. Ask for less.",
		    err_text(buf_end(&asking->out)));
}

void
tell_member(struct jsonw *json, const char *name, struct jval object,
    const char *member)
{
	struct jval value = jval_member(object, member);

	jsonw_key(json, name);
	if (jval_is_absent(value))
		jsonw_null(json);
	else
		jsonw_raw(json, jval_raw(value));
}

unsigned
tell_rows(struct asking *asking, const char *name)
{
	struct jwalk walk = jwalk_begin(asking->data);
	struct jsonw *json = &asking->json;
	size_t bytes = 0;
	struct jval none, row;
	unsigned count = 0;
	bool cut = false;

	jsonw_key(json, name);
	jsonw_array_begin(json);
	while (!cut && jwalk_next(&walk, &none, &row)) {
		bytes += jval_raw(row).len + 1;
		cut = bytes > TELL_BYTES_MAX;
		if (!cut) {
			jsonw_raw(json, jval_raw(row));
			count++;
		}
	}
	jsonw_array_end(json);
	members_int(json, "returned", count);
	members_bool(json, "cut", cut);
	return count;
}

void
tell_pages(struct asking *asking)
{
	struct jsonw *json = &asking->json;

	tell_member(json, "total", asking->pages, "total");
	tell_member(json, "page", asking->pages, "page");
	tell_member(json, "more", asking->pages, "hasMore");
}

/* The number of pages, of which each list says something else. */
static int64_t
count_pages(const struct asking *asking)
{
	int64_t pages = 0, limit = asking_int(asking, "limit", TELL_ENTRIES);

	if (jval_int(jval_member(asking->pages, "totalPages"), &pages))
		return pages;
	jval_int(jval_member(asking->meta, "total"), &pages);
	return (pages + limit - 1) / limit;
}

const char *
tell_rest(struct asking *asking, unsigned returned)
{
	struct jval meta = asking->meta;
	int64_t pages = count_pages(asking);

	if (pages > 0 && asking_int(asking, "page", 1) > pages) {
		snprintf(asking->rest, sizeof(asking->rest),
		    " The last page is %" PRId64 ".", pages);
		return asking->rest;
	}
	if (returned < jval_count(asking->data))
		return " The others did not fit: name fewer fields, or a "
		       "smaller limit.";
	if (jval_type(jval_member(asking->pages, "hasMore")) == JTRUE ||
	    jval_type(jval_member(meta, "complet")) == JFALSE)
		return " There are more: ask for the next page.";
	return "";
}

/* As many of them as there is room for. */
static void
add_details(struct buf *text, struct span details)
{
	static const char label[] = " details: ";
	size_t room = text->len + sizeof(label) + 4 < ERROR_MAX
	    ? ERROR_MAX - text->len - sizeof(label) - 4
	    : 0;

	if (details.len > 0 && room > 0)
		buf_addf(text, "%s%.*s%s", label,
		    SPAN_ARG(span_sub(details, 0, room)),
		    details.len > room ? "..." : "");
}

void
tell_error(struct asking *asking, int status, struct jval answer)
{
	struct jval error = jval_member(answer, "error");
	struct arena *arena = asking->agent->call->serving->arena;
	struct span message = jval_text(jval_member(error, "message"), arena);
	struct span details = jval_raw(jval_member(error, "details"));
	struct jval issues =
	    jval_member(jval_member(error, "details"), "issues");
	struct jval allowed =
	    jval_member(jval_member(error, "details"), "allowed");
	struct buf text;

	buf_init(&text, 65536);
	if (jval_count(issues) > 0)
		wording_issues(&text, issues, arena);
	if (text.len == 0)
		wording_add(&text, span_sub(message, 0, 600));
	if (!span_ends(buf_span(&text), SPAN(".")))
		buf_add_char(&text, '.');
	if (status == 202)
		buf_add_text(&text, " Ask query_rows for one row of it first.");
	if (status == 400)
		hints_write(&text, asking);
	if (jval_is_absent(issues))
		add_details(&text, details);
	else if (!jval_is_absent(allowed))
		buf_add_text(&text, " describe_columns lists the columns.");
	if (buf_end(&text) != ERR_OK)
		buf_clear(&text);
	result_error(asking->result, "%.*s",
	    SPAN_ARG(span_sub(buf_span(&text), 0, ERROR_MAX)));
	buf_fini(&text);
}

void
tell_unknown(struct asking *asking, const char *argument)
{
	struct buf text;

	buf_init(&text, 65536);
	buf_addf(&text, "%s names what is no column:", argument);
	hints_write(&text, asking);
	if (buf_end(&text) != ERR_OK)
		buf_clear(&text);
	result_error(asking->result, "%.*s",
	    SPAN_ARG(span_sub(buf_span(&text), 0, ERROR_MAX)));
	buf_fini(&text);
}
