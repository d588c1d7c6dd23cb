#include "fcgi/rows/rows.h"

#include <stdio.h>

#include "common/date.h"
#include "common/fold.h"
#include "common/jsonw.h"
#include "common/log.h"
#include "common/num.h"
#include "fcgi/route.h"
#include "fcgi/rows/on_demand.h"
#include "fcgi/rows/splice.h"
#include "lmdb-schema/key.h"
#include "lmdb-schema/snapshot/catalog.h"

/* The longest address that pages are linked by, as it came and as it goes. */
#define LINK_URI_MAX 1024
#define LINK_BASE_MAX (3 * LINK_URI_MAX + 8)
#define LINK_MAX 2000

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))

/* A damaged snapshot that is the current one is computed anew at once. */
static void
tell_damage(struct call *call, struct span supplier, bool current)
{
	call->server->metrics->damages++;
	if (current)
		on_demand_begin(call, supplier);
}

static enum err
pin_known(struct rows_view *view, struct call *call, struct span supplier,
    uint64_t generation)
{
	enum err err;

	view->pinned = NULL;
	view->ranges = NULL;
	view->damaged = false;
	err = snapcache_pin(
	    &view->pinned, call->server->snapcache, supplier, generation);
	if (err == ERR_DAMAGED) {
		view->damaged = true;
		tell_damage(call, supplier, true);
	}
	if (err == ERR_NOT_FOUND || err == ERR_DAMAGED || err == ERR_VERSION)
		return ERR_NOT_READY; /* a computation heals it */
	if (err == ERR_OK && snapshot_gammes(view->pinned->snap) == NULL) {
		err = rows_blame(call, view, ERR_DAMAGED);
		rows_drop(view, call);
	}
	return err;
}

enum err
rows_add_ranges(struct rows_view *view, struct call *call)
{
	struct serving *serving = call->serving;
	enum err err = ranges_get(&view->ranges, view->pinned->ranges,
	    view->pinned->snap, serving->live, serving->state);

	/* Or a proposal is damaged, or a range of today. */
	if (snapshot_is_damaged(view->pinned->snap))
		rows_blame(call, view, err);
	if (err != ERR_OK)
		rows_drop(view, call);
	return err;
}

enum err
rows_open_known(struct rows_view *view, struct call *call, struct span supplier,
    uint64_t generation)
{
	enum err err = pin_known(view, call, supplier, generation);

	return err == ERR_OK ? rows_add_ranges(view, call) : err;
}

enum err
rows_pin(struct rows_view *view, struct call *call, struct span supplier,
    uint64_t generation)
{
	struct catalog_view *catalog = call->serving->catalog;
	struct catalog_entry entry;
	enum err err;

	*view = (struct rows_view){NULL, NULL, false};
	if (generation == 0) {
		err = catalog_get(catalog, supplier, &entry);
		if (err != ERR_OK)
			return err == ERR_NOT_FOUND ? ERR_NOT_READY : err;
		generation = entry.generation;
	} else if (!catalog_keeps(catalog, supplier, generation))
		return ERR_NOT_FOUND;
	return pin_known(view, call, supplier, generation);
}

enum err
rows_open(struct rows_view *view, struct call *call, struct span supplier,
    uint64_t generation)
{
	enum err err = rows_pin(view, call, supplier, generation);

	return err == ERR_OK ? rows_add_ranges(view, call) : err;
}

static void
unpin(void *cache, void *pinned)
{
	snapcache_unpin(cache, pinned);
}

void
rows_close(struct rows_view *view, struct call *call)
{
	ranges_release(view->ranges);
	/* What refers to rows that were let go must not go out. */
	if (view->pinned != NULL &&
	    call_hold(call, unpin, call->server->snapcache, view->pinned) !=
		ERR_OK)
		call->reply->body.err = ERR_NO_MEMORY;
	view->ranges = NULL;
	view->pinned = NULL;
}

void
rows_drop(struct rows_view *view, struct call *call)
{
	ranges_release(view->ranges);
	snapcache_unpin(call->server->snapcache, view->pinned);
	view->ranges = NULL;
	view->pinned = NULL;
}

enum err
rows_blame(struct call *call, const struct rows_view *view, enum err err)
{
	struct snapshot *snap;
	uint64_t generation;
	bool was_current;

	if (err != ERR_DAMAGED || view->pinned == NULL)
		return err;
	snap = view->pinned->snap;
	generation = snapshot_head(snap)->generation;
	was_current = false;
	if (catalog_disown(call->server->store, snapshot_supplier(snap),
		generation, &was_current) == ERR_OK)
		log_error("a damaged snapshot is used no more: supplier=%.*s "
			  "generation=%016llx current=%s",
		    SPAN_ARG(snapshot_supplier(snap)),
		    (unsigned long long)generation, was_current ? "yes" : "no");
	tell_damage(call, snapshot_supplier(snap), was_current);
	return err;
}

bool
rows_flush(struct call *call, int64_t nth)
{
	if (call->reply->streaming && nth % 64 == 0)
		reply_flush_some(call->reply);
	return call->reply->err == ERR_OK;
}

/* --- forms -------------------------------------------------------------------
 */

/* The quality of a media range's parameters, in thousandths. */
static unsigned
quality(struct span params)
{
	struct span piece, rest = params;

	while (span_cut(&piece, &rest, ';')) {
		struct span text = span_trim(piece);

		if (span_starts(text, SPAN("q=")) && text.len > 2) {
			int64_t q;

			if (num_decimal(&q, span_from(text, 2)) && q >= 0 &&
			    q <= NUM_MICRO)
				return (unsigned)(q / 1000);
			return 0;
		}
	}
	return 1000;
}

enum splice_form
rows_form(const struct request *request)
{
	static const struct {
		struct span type;
		enum splice_form form;
	} types[] = {
	    {{"application/json", 16}, SPLICE_JSON},
	    {{"application/x-ndjson", 20}, SPLICE_NDJSON},
	    {{"text/csv", 8}, SPLICE_CSV},
	    {{"*/*", 3}, SPLICE_JSON},
	    {{"application/*", 13}, SPLICE_JSON},
	};
	struct span range, rest = request->accept;
	enum splice_form best = SPLICE_JSON;
	unsigned best_quality = 0;

	while (span_cut(&range, &rest, ',')) {
		size_t end = span_find(range, ';');
		struct span type = span_trim(span_sub(range, 0, end));
		unsigned q = quality(span_from(range, end + 1));

		for (unsigned i = 0; i < COUNT(types); i++)
			if (span_eq_nocase(type, types[i].type) &&
			    q > best_quality) {
				best = types[i].form;
				best_quality = q;
			}
	}
	return best;
}

bool
rows_takes_gzip(const struct request *request)
{
	struct span coding, rest = request->accept_encoding;
	int gzip = -1, any = -1, identity = -1;

	while (span_cut(&coding, &rest, ',')) {
		size_t end = span_find(coding, ';');
		struct span name = span_trim(span_sub(coding, 0, end));
		int q = (int)quality(span_from(coding, end + 1));

		if (span_eq_nocase(name, SPAN("gzip")) ||
		    span_eq_nocase(name, SPAN("x-gzip")))
			gzip = q;
		else if (span_eq_nocase(name, SPAN("identity")))
			identity = q;
		else if (span_eq(name, SPAN("*")))
			any = q;
	}
	if (gzip < 0)
		gzip = any;
	return gzip > 0 && gzip >= identity;
}

void
rows_headers(struct call *call, enum splice_form form, bool packed)
{
	static const char *const types[] = {"application/json",
	    "application/x-ndjson", "text/csv; charset=utf-8; header=present"};

	reply_header_text(call->reply, "Content-Type", span_of(types[form]));
	reply_header_text(call->reply, "Vary",
	    packed ? SPAN("Accept, Accept-Encoding") : SPAN("Accept"));
}

/* --- pages
 * --------------------------------------------------------------------- */

struct rows_pages
rows_pages(int64_t page, int64_t limit, int64_t total)
{
	struct rows_pages pages = {page, limit, total, 0, false};

	if (limit == 0) /* never one that limit= would refuse */
		pages.limit = total > 0 ? total : 1;
	if (total > 0)
		pages.pages = limit == 0 ? 1 : (total - 1) / limit + 1;
	pages.more = page < pages.pages;
	return pages;
}

int64_t
rows_page_of(int64_t *first, const struct rows_pages *pages)
{
	__int128 before = (__int128)(pages->page - 1) * pages->limit;

	*first = before < pages->total ? (int64_t)before : pages->total;
	return pages->total - *first < pages->limit ? pages->total - *first
						    : pages->limit;
}

void
rows_int(struct pieces *body, int64_t value)
{
	char text[NUM_TEXT_MAX];

	pieces_copy(body, text, num_int_text(text, value));
}

void
rows_member_int(struct pieces *body, const char *name, int64_t value)
{
	pieces_text(body, ",\"");
	pieces_add(body, span_of(name));
	pieces_text(body, "\":");
	rows_int(body, value);
}

void
rows_member_bool(struct pieces *body, const char *name, bool value)
{
	pieces_text(body, ",\"");
	pieces_add(body, span_of(name));
	pieces_add(body, value ? SPAN("\":true") : SPAN("\":false"));
}

void
rows_quote(struct pieces *body, struct span text)
{
	struct buf quoted;

	if (jsonw_is_plain(text)) {
		pieces_text(body, "\"");
		pieces_add(body, text);
		pieces_text(body, "\"");
		return;
	}
	buf_init(&quoted, 1 << 20);
	jsonw_quote(&quoted, text);
	pieces_add(body, buf_span(&quoted));
	if (buf_end(&quoted) != ERR_OK && body->err == ERR_OK)
		body->err = buf_end(&quoted);
	buf_fini(&quoted);
}

void
rows_member_text(struct pieces *body, const char *name, struct span text)
{
	pieces_text(body, ",\"");
	pieces_add(body, span_of(name));
	pieces_text(body, "\":");
	rows_quote(body, text);
}

void
rows_member_null_text(struct pieces *body, const char *name, struct span text)
{
	if (text.len > 0) {
		rows_member_text(body, name, text);
		return;
	}
	pieces_text(body, ",\"");
	pieces_add(body, span_of(name));
	pieces_text(body, "\":null");
}

void
rows_member_time(struct pieces *body, const char *name, int64_t ms)
{
	char text[DATE_TEXT_MAX];

	rows_member_text(
	    body, name, span_make(text, date_instant_text(text, ms)));
}

void
rows_member_day(struct pieces *body, const char *name, int32_t day)
{
	char text[DATE_TEXT_MAX];

	rows_member_text(body, name, span_make(text, date_day_text(text, day)));
}

void
rows_meta_cut(struct pieces *body, const struct rows_pages *pages,
    int64_t shown, const char *how)
{
	pieces_text(body, "\"complet\":");
	pieces_add(body, pages->more ? SPAN("false") : SPAN("true"));
	if (!pages->more)
		return;
	pieces_text(body, ",\"avertissement\":\"");
	rows_int(body, shown);
	pieces_text(body, " lignes obtenues sur ");
	rows_int(body, pages->total);
	pieces_text(body, " : ");
	pieces_add(body, span_of(how));
	pieces_text(body, "\"");
}

void
rows_pagination(struct pieces *body, const struct rows_pages *pages)
{
	pieces_text(body, ",\"pagination\":{\"page\":");
	rows_int(body, pages->page);
	rows_member_int(body, "limit", pages->limit);
	rows_member_int(body, "total", pages->total);
	rows_member_int(body, "totalPages", pages->pages);
	rows_member_bool(body, "hasMore", pages->more);
	pieces_text(body, "}");
}

/* What a link may not hold as it is stands in it as %XX. */
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

/* The request's address without the page, ready for one: "/path?q=a&page=". */
static struct span
link_base(char base[LINK_BASE_MAX], struct call *call)
{
	const struct query *query = &call->query;
	struct span uri = call->request->uri;
	struct span raw, rest = query->raw;
	unsigned place = 0;
	char *to = add_raw(base, span_sub(uri, 0, span_find(uri, '?')));
	char sign = '?';

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

static void
add_link(struct buf *head, struct span base, int64_t page, struct span rel)
{
	char text[NUM_TEXT_MAX];

	buf_add_char(head, '<');
	buf_add_span(head, base);
	buf_add(head, text, num_int_text(text, page));
	buf_add_text(head, ">; rel=\"");
	buf_add_span(head, rel);
	buf_add_char(head, '"');
}

static void
link_header(struct call *call, const struct rows_pages *pages)
{
	struct buf *head = &call->reply->head;
	char text[LINK_BASE_MAX];
	struct span base;

	/* A raw query may be long, or hold what no header may. */
	if (pages->pages < 1 || call->request->uri.len > LINK_URI_MAX)
		return;
	base = link_base(text, call);
	if (base.len > LINK_MAX)
		return;
	buf_add_text(head, "Link: ");
	add_link(head, base, 1, SPAN("first"));
	if (pages->page > 1) {
		buf_add_text(head, ", ");
		add_link(head, base,
		    pages->page > pages->pages ? pages->pages : pages->page - 1,
		    SPAN("prev"));
	}
	if (pages->more) {
		buf_add_text(head, ", ");
		add_link(head, base, pages->page + 1, SPAN("next"));
	}
	buf_add_text(head, ", ");
	add_link(head, base, pages->pages, SPAN("last"));
	buf_add_text(head, "\r\n");
}

void
rows_page_headers(
    struct call *call, const struct rows_pages *pages, enum splice_form form)
{
	link_header(call, pages);
	if (form == SPLICE_JSON)
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

/* --- tags
 * ------------------------------------------------------------------------ */

uint64_t
rows_mix(uint64_t hash, const void *data, size_t len)
{
	const unsigned char *bytes = data;

	for (size_t i = 0; i < len; i++)
		hash = (hash ^ bytes[i]) * UINT64_C(0x100000001b3);
	return hash ^ hash >> 32;
}

/* True when the list names the tag; weak or strong is the same here. */
static bool
names_tag(struct span list, struct span tag)
{
	struct span item, rest = list;

	if (span_eq(span_trim(list), SPAN("*")))
		return true;
	while (span_cut(&item, &rest, ',')) {
		item = span_trim(item);
		if (span_starts(item, SPAN("W/")))
			item = span_from(item, 2);
		if (span_eq(item, tag))
			return true;
	}
	return false;
}

bool
rows_not_modified(struct call *call, const uint64_t *generations,
    unsigned count, enum splice_form form)
{
	char text[] = "W/\"0123456789abcdef\"";
	struct span tag = span_from(span_of(text), 2);
	uint64_t hash = UINT64_C(0xcbf29ce484222325);

	hash = rows_mix(hash, generations, count * sizeof(*generations));
	hash = rows_mix(hash, call->request->uri.ptr, call->request->uri.len);
	hash = rows_mix(hash, &form, sizeof(form));
	key_generation_text(text + 3, hash);
	text[3 + KEY_GENERATION_LEN] = '"';
	reply_header_text(call->reply, "ETag", span_of(text));
	/* What needs no key is the same for all who ask. */
	reply_header_text(call->reply, "Cache-Control",
	    call->route->auth == ROUTE_OPEN ? SPAN("public, no-cache")
					    : SPAN("private, no-cache"));
	if (call->request->if_none_match.len == 0 ||
	    !names_tag(call->request->if_none_match, tag))
		return false;
	call->reply->status = 304;
	return true;
}

/* --- the rest
 * ---------------------------------------------------------------------- */

enum err
rows_words(struct span *words, struct call *call, struct span text)
{
	struct buf *folded = &call->serving->folded;

	buf_clear(folded);
	fold_add(folded, text);
	*words = buf_span(folded);
	return buf_end(folded);
}

void
rows_no_supplier(struct call *call, struct span supplier)
{
	reply_fail(call->reply, 404, CODE_NOT_FOUND,
	    "There is no supplier %.*s with articles; /fournisseurs lists "
	    "them.",
	    SPAN_ARG(supplier));
}

void
rows_storage_failed(struct call *call, enum err err)
{
	reply_fail(call->reply, 500, CODE_INTERNAL,
	    "The data could not be read (%s). The request can be repeated; "
	    "the server's log says more.",
	    err_text(err));
}

void
rows_write_failed(struct call *call, enum err err)
{
	if (err == ERR_NO_SPACE)
		reply_fail(call->reply, 500, CODE_INTERNAL,
		    "The server's disk is full. Nothing was stored; the "
		    "request can be repeated when there is room.");
	else if (err == ERR_READ_ONLY)
		reply_fail(call->reply, 500, CODE_INTERNAL,
		    "The server's disk takes no writes at present. Nothing was "
		    "stored; the request can be repeated when it does. What "
		    "is there can be read.");
	else
		reply_fail(call->reply, 500, CODE_INTERNAL,
		    "It could not be stored (%s): look again before you repeat "
		    "it; the server's log says more.",
		    err_text(err));
}
