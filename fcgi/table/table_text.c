/* Cells as text: CSV (RFC 4180), its local form, and TSV. */
#include <assert.h>
#include <stdlib.h>

#include "common/buf.h"
#include "common/jsonw.h"
#include "common/word8.h"
#include "fcgi/http/reply.h"
#include "fcgi/table/table_priv.h"

#define ROW_MAX ((size_t)1 << 28)
#define END_MAX 2 /* bytes behind a line */

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

/* The most that a row comes to: a byte becomes two, a map has quotes. */
static size_t
room_for(const struct table *table)
{
	size_t most = END_MAX;

	for (unsigned i = 0; i < table->count; i++)
		most += 1 + 2 * table->cells[i].len + 2;
	return most;
}

/* Text, JSON's too, with quotes doubled: half of its bytes may be some. */
static char *
put_quoted(char *to, struct span text)
{
	*to++ = '"';
	for (size_t i = 0; i < text.len; i++) {
		*to++ = text.ptr[i];
		*to = '"';
		to += text.ptr[i] == '"';
	}
	*to++ = '"';
	return to;
}

static char *
put_escaped(char *to, struct span text)
{
	*to++ = '"';
	for (size_t at = 0; at < text.len;) {
		char byte = jsonw_plain_byte(text, &at);

		*to++ = byte;
		*to = '"';
		to += byte == '"';
	}
	*to++ = '"';
	return to;
}

/* A JSON string: hardly any has an escape, without which it has no quote. */
static char *
put_string(char *to, struct span json, const struct dialect *dialect)
{
	if (dialect->bare && is_plain(jsonw_inside(json), dialect))
		return mempcpy(to, json.ptr + 1, json.len - 2);
	if (word8_marked(word8_copy(to, json.ptr, json.len, '\\')))
		return put_escaped(to, jsonw_inside(json));
	return to + json.len;
}

static char *
put_number(char *to, struct span json, char point)
{
	char *end = to + json.len;

	word8_copy(to, json.ptr, json.len, '.');
	for (; point != '.' && to < end; to++)
		if (*to == '.')
			*to = point;
	return end;
}

static char *
put_cell(char *to, struct span json, const struct dialect *dialect)
{
	switch (json.ptr[0]) {
	case '"':
		return put_string(to, json, dialect);
	case '{':
	case '[':
		return put_quoted(to, json);
	case 'n':
		return to; /* null */
	default:
		return put_number(to, json, dialect->point);
	}
}

/* A store's code stands in some names, and may be anything. */
static void
add_name(struct iovbuf *body, struct span name, const struct dialect *dialect)
{
	char *start = iovbuf_room(body, 2 * name.len + 2);

	assert(2 * name.len + 2 <= IOVBUF_CHUNK);
	if (start == NULL)
		return; /* the body keeps the failure */
	if (is_plain(name, dialect))
		iovbuf_add(body, name);
	else
		iovbuf_used(
		    body, start, (size_t)(put_quoted(start, name) - start));
}

static enum err
begin(struct table *table)
{
	const struct dialect *dialect = dialect_of(table);
	struct iovbuf *body = &table->reply->body;

	table->writer = malloc(sizeof(struct buf));
	if (table->writer == NULL)
		return ERR_NO_MEMORY;
	buf_init(table->writer, ROW_MAX);
	iovbuf_add(body, dialect->mark);
	for (unsigned i = 0; i < table->count; i++) {
		if (i > 0)
			iovbuf_copy(body, &dialect->separator, 1);
		add_name(body, table->columns[i].name, dialect);
	}
	iovbuf_add(body, dialect->end);
	return body->err;
}

static char *
put_row(char *to, const struct table *table)
{
	const struct dialect *dialect = dialect_of(table);

	for (unsigned i = 0; i < table->count; i++) {
		*to = dialect->separator;
		to = put_cell(to + (i > 0), table->cells[i], dialect);
	}
	return mempcpy(to, dialect->end.ptr, dialect->end.len);
}

/* Where the body wants it; a row that is larger than its chunks, by a copy. */
static enum err
row(struct table *table)
{
	struct iovbuf *body = &table->reply->body;
	struct buf *large = table->writer;
	size_t most = room_for(table);
	char *start;

	if (most <= IOVBUF_CHUNK) {
		start = iovbuf_room(body, most);
		if (start != NULL)
			iovbuf_used(body, start,
			    (size_t)(put_row(start, table) - start));
		return body->err;
	}
	buf_clear(large);
	start = buf_room(large, most);
	if (start == NULL)
		return buf_end(large);
	iovbuf_copy(body, start, (size_t)(put_row(start, table) - start));
	return body->err;
}

static void
fini(struct table *table)
{
	if (table->writer != NULL)
		buf_fini(table->writer);
	free(table->writer);
	table->writer = NULL;
}

static enum err
end(struct table *table)
{
	return table->reply->body.err;
}

const struct table_ops table_text_ops = {begin, row, end, fini};
