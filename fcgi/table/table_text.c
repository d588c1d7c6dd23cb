/* Cells as text: CSV (RFC 4180), its local form, and TSV. */
#include <assert.h>

#include "common/jsonw.h"
#include "fcgi/http/reply.h"
#include "fcgi/table/table_priv.h"

static const struct dialect {
	struct span mark, end; /* before all, behind each line */
	char separator, point;
	bool bare; /* texts have quotes only where they need them */
} dialects[FORMATS] = {
    [FORMAT_CSV] = {{"", 0}, {"\n", 1}, ',', '.', false},
    [FORMAT_CSV_FR] = {{"\xef\xbb\xbf", 3}, {"\r\n", 2}, ';', ',', false},
    [FORMAT_TSV] = {{"", 0}, {"\n", 1}, '\t', '.', true},
};

static const struct dialect *
dialect_of(const struct table *table)
{
	assert(dialects[table->format].separator != '\0');
	return &dialects[table->format];
}

static bool
is_plain(struct span text, const struct dialect *dialect)
{
	for (size_t i = 0; i < text.len; i++)
		if (text.ptr[i] == dialect->separator || text.ptr[i] == '"' ||
		    text.ptr[i] == '\n' || text.ptr[i] == '\r' ||
		    text.ptr[i] == '\\')
			return false;
	return text.len > 0;
}

/* The bytes up to the first that is doubled or escaped, in one go. */
static size_t
plain_part(struct span text, size_t at)
{
	size_t end = at;

	while (end < text.len && text.ptr[end] != '"' && text.ptr[end] != '\\')
		end++;
	return end - at;
}

/* Adds the text between the quotes of a JSON string, with quotes doubled. */
static void
add_string(struct iovbuf *body, struct span text)
{
	iovbuf_text(body, "\"");
	for (size_t at = 0; at < text.len;) {
		size_t plain = plain_part(text, at);
		char byte;

		iovbuf_copy(body, text.ptr + at, plain);
		at += plain;
		if (at == text.len)
			break;
		byte = jsonw_plain_byte(text, &at);
		iovbuf_copy(body, &byte, 1);
		if (byte == '"')
			iovbuf_copy(body, &byte, 1);
	}
	iovbuf_text(body, "\"");
}

/* Text as it is, JSON's too, with quotes doubled. */
static void
add_quoted(struct iovbuf *body, struct span text)
{
	iovbuf_text(body, "\"");
	for (size_t at = 0; at < text.len;) {
		size_t plain = span_find(span_from(text, at), '"');

		iovbuf_copy(body, text.ptr + at, plain);
		at += plain;
		if (at++ < text.len)
			iovbuf_text(body, "\"\"");
	}
	iovbuf_text(body, "\"");
}

static void
add_number(struct iovbuf *body, struct span json, char point)
{
	size_t at = span_find(json, '.');

	iovbuf_add(body, span_sub(json, 0, at));
	if (at == json.len)
		return;
	iovbuf_copy(body, &point, 1);
	iovbuf_add(body, span_from(json, at + 1));
}

static enum err
begin(struct table *table)
{
	const struct dialect *dialect = dialect_of(table);
	struct iovbuf *body = &table->reply->body;

	iovbuf_add(body, dialect->mark);
	for (unsigned i = 0; i < table->count; i++) {
		struct span name = table->columns[i].name;

		if (i > 0)
			iovbuf_copy(body, &dialect->separator, 1);
		/* A store's code stands in some, and may be anything. */
		if (is_plain(name, dialect))
			iovbuf_add(body, name);
		else
			add_quoted(body, name);
	}
	iovbuf_add(body, dialect->end);
	return body->err;
}

static enum err
cell(struct table *table, struct span json)
{
	const struct dialect *dialect = dialect_of(table);
	struct iovbuf *body = &table->reply->body;
	struct span text = jsonw_inside(json);

	if (table->at > 0)
		iovbuf_copy(body, &dialect->separator, 1);
	if (json.ptr[0] == '"' && dialect->bare && is_plain(text, dialect))
		iovbuf_add(body, text);
	else if (json.ptr[0] == '"')
		add_string(body, text);
	else if (json.ptr[0] == '{' || json.ptr[0] == '[')
		add_quoted(body, json);
	else if (!span_eq(json, SPAN("null")))
		add_number(body, json, dialect->point);
	return body->err;
}

static enum err
row_end(struct table *table)
{
	iovbuf_add(&table->reply->body, dialect_of(table)->end);
	return table->reply->body.err;
}

static enum err
end(struct table *table)
{
	return table->reply->body.err;
}

const struct table_ops table_text_ops = {begin, cell, row_end, end, NULL};
