#include "fcgi/rows/paging.h"

#include <assert.h>
#include <string.h>

#include "common/members.h"
#include "common/num.h"
#include "fcgi/call.h"
#include "fcgi/http/format.h"

/* All links together: a client such as Node takes 16 KB of head, and no more. */
#define LINKS_MAX 14000

#define SPAN_OF(literal) \
	{ \
		"" literal, sizeof(literal) - 1 \
	}

struct paging
paging_of(int64_t page, int64_t limit, int64_t total)
{
	struct paging pages = {page, limit, total, 0, false};

	assert(page >= 1 && limit >= 0 && total >= 0);
	if (limit == 0) /* 0 is no limit that a client may ask for */
		pages.limit = total > 0 ? total : 1;
	if (total > 0)
		pages.pages = limit == 0 ? 1 : (total - 1) / limit + 1;
	pages.more = page < pages.pages;
	return pages;
}

int64_t
paging_rows(int64_t *first, const struct paging *pages)
{
	__int128 before = (__int128)(pages->page - 1) * pages->limit;

	assert(pages->page >= 1 && pages->limit >= 1);
	*first = before < pages->total ? (int64_t)before : pages->total;
	return pages->total - *first < pages->limit ? pages->total - *first
						    : pages->limit;
}

/* Without printf, which takes as long as to splice a row. */
size_t
paging_warning(char text[PAGING_WARNING_MAX], const struct call *call,
    const struct paging *pages, int64_t shown, enum paging_how how)
{
	static const struct words {
		struct span one, many, how[2];
	} french = {SPAN_OF(" ligne obtenue sur "),
	    SPAN_OF(" lignes obtenues sur "),
	    {SPAN_OF(" : demander les pages suivantes, ou donner un limit "
		     "plus grand."),
		SPAN_OF(" : omettre limit pour obtenir toutes les lignes en "
			"un appel, ou demander les pages suivantes.")}},
	  english = {SPAN_OF(" row of "), SPAN_OF(" rows of "),
	      {SPAN_OF(": ask for the next pages, or give a greater limit."),
		  SPAN_OF(": omit limit to get all rows in one call, or "
			  "ask for the next pages.")}};
	const struct words *words =
	    request_french(call->request) ? &french : &english;
	struct span number = shown == 1 ? words->one : words->many;
	char *at = text;

	assert(how <= PAGING_HOW_GRID);
	at += num_int_text(at, shown);
	at = mempcpy(at, number.ptr, number.len);
	at += num_int_text(at, pages->total);
	at = mempcpy(at, words->how[how].ptr, words->how[how].len);
	return (size_t)(at - text);
}

void
paging_meta(struct jsonw *json, const struct call *call,
    const struct paging *pages, int64_t shown, enum paging_how how)
{
	char text[PAGING_WARNING_MAX];

	assert(shown >= 0 && shown <= pages->total);
	members_bool(json, "complet", !pages->more);
	if (!pages->more)
		return;
	members_text(json, "avertissement",
	    span_make(text, paging_warning(text, call, pages, shown, how)));
}

void
paging_member(struct jsonw *json, const struct paging *pages)
{
	assert(pages->page >= 1 && pages->limit >= 1);
	members_object(json, "pagination");
	members_int(json, "page", pages->page);
	members_int(json, "limit", pages->limit);
	members_int(json, "total", pages->total);
	members_int(json, "totalPages", pages->pages);
	members_bool(json, "hasMore", pages->more);
	jsonw_object_end(json);
}

/* Bytes that a link holds as %XX. */
static const bool escaped_in_link[256] = {
    [0 ... ' '] = true,
    ['<'] = true,
    ['>'] = true,
    ['"'] = true,
    ['\\'] = true,
    ['^'] = true,
    ['`'] = true,
    ['{'] = true,
    ['|'] = true,
    ['}'] = true,
    [0x7f ... 0xff] = true,
};

/* Up to three bytes of link for each byte of the address. */
static char *
add_raw(char *to, struct span raw)
{
	static const char digits[] = "0123456789ABCDEF";

	for (size_t i = 0; i < raw.len; i++) {
		unsigned char c = (unsigned char)raw.ptr[i];

		if (!escaped_in_link[c]) {
			*to++ = (char)c;
			continue;
		}
		*to++ = '%';
		*to++ = digits[c >> 4];
		*to++ = digits[c & 15];
	}
	return to;
}

/* The request's address without the page, ready for one: "/path?q=a&page=".
   Empty when memory is out. */
static struct span
link_base(struct call *call)
{
	const struct query *query = &call->query;
	struct span uri = call->request->uri;
	struct span raw, rest = query->raw;
	unsigned place = 0;
	char *base = arena_alloc(call->serving->arena, 3 * uri.len + 8);
	char *to = base;
	char sign = '?';

	if (base == NULL)
		return span_make(NULL, 0);
	to = add_raw(to, span_sub(uri, 0, span_find(uri, '?')));

	/* The pairs stand in the order of the raw pieces that are not empty. */
	while (span_cut(&raw, &rest, '&')) {
		if (raw.len == 0 ||
		    span_eq(query->pairs[place++].name, SPAN("page")))
			continue;
		*to++ = sign;
		to = add_raw(to, raw);
		sign = '&';
	}
	*to++ = sign;
	to = mempcpy(to, "page=", 5);
	return span_make(base, (size_t)(to - base));
}

struct link {
	struct span rel;
	int64_t page;
	bool wanted;
};

static void
add_link(struct buf *head, struct span base, const struct link *link)
{
	char text[NUM_TEXT_MAX];

	buf_add_char(head, '<');
	buf_add_span(head, base);
	buf_add(head, text, num_int_text(text, link->page));
	buf_add_text(head, ">; rel=\"");
	buf_add_span(head, link->rel);
	buf_add_char(head, '"');
}

/* Of a long address the next page alone, which no client can do without. */
static void
link_header(struct call *call, const struct paging *pages)
{
	struct span base =
	    pages->pages < 1 ? span_make(NULL, 0) : link_base(call);
	size_t each = base.len + sizeof("<>; rel=\"first\", ") + NUM_TEXT_MAX;
	bool all = 4 * each <= LINKS_MAX;
	bool behind = pages->page > pages->pages;
	struct span before = SPAN("Link: ");
	const struct link links[] = {
	    {SPAN("first"), 1, all},
	    {SPAN("prev"), behind ? pages->pages : pages->page - 1,
		all && pages->page > 1},
	    {SPAN("next"), pages->page + 1, pages->more},
	    {SPAN("last"), pages->pages, all},
	};

	if (base.len == 0 || each > LINKS_MAX)
		return;
	for (unsigned i = 0; i < 4; i++) {
		if (!links[i].wanted)
			continue;
		buf_add_span(&call->reply->head, before);
		add_link(&call->reply->head, base, &links[i]);
		before = SPAN(", ");
	}
	if (before.ptr[0] == ',')
		buf_add_text(&call->reply->head, "\r\n");
}

void
paging_headers(
    struct call *call, const struct paging *pages, enum format format)
{
	assert(format < FORMATS);
	link_header(call, pages);
	if (format == FORMAT_JSON)
		return;
	reply_header(call->reply, "X-Page", "%lld", (long long)pages->page);
	reply_header(call->reply, "X-Limit", "%lld", (long long)pages->limit);
	reply_header(
	    call->reply, "X-Total-Count", "%lld", (long long)pages->total);
	reply_header(
	    call->reply, "X-Total-Pages", "%lld", (long long)pages->pages);
	reply_header(
	    call->reply, "X-Has-More", "%s", pages->more ? "true" : "false");
}
