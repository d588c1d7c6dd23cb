#include "tools/gridhook/events/push.h"

#include "common/log.h"
#include "tools/gridhook/net/jscan.h"
#include "tools/gridhook/net/utf8.h"

#define DEPTH_MAX 2048
#define ARENA_MAX ((size_t)256 << 20)
#define MENDED_MAX ((size_t)8 << 20)

static bool
is_blank(struct span text)
{
	size_t i;

	for (i = 0; i < text.len; i++) {
		if (memchr(" \t\n\v\f\r", text.ptr[i], 6) == NULL)
			return false;
	}
	return true;
}

static enum err
add_all(struct journal *journal, const struct events *events, const char *id)
{
	struct event_place place;
	enum err err = ERR_OK;
	unsigned i;

	for (i = 0; i < events->count && err == ERR_OK; i++) {
		place = (struct event_place){
		    .push = span_of(id), .index = i, .count = events->count};
		err = journal_add(journal, events->list[i], &place);
	}
	return err;
}

static enum err
take_json(struct journal *journal, struct span text, const struct hints *hints,
    const char *id, unsigned *count)
{
	struct arena *arena = arena_new(ARENA_MAX);
	struct fault fault = {.place = ""};
	struct jscan doc = {.count = 0};
	struct events events;
	enum err err = arena == NULL ? ERR_NO_MEMORY : ERR_OK;

	if (err == ERR_OK)
		err = jscan_parse(&doc, text, DEPTH_MAX, &fault);
	if (err == ERR_BAD_INPUT || err == ERR_TOO_LARGE) {
		log_info("push is not JSON: push=%s place=%s reason=%s", id,
		    fault.place, fault.message);
		err = ERR_BAD_INPUT;
	}
	if (err == ERR_OK)
		err = normalise(&events, jscan_root(&doc), hints, arena);
	if (err == ERR_OK)
		err = add_all(journal, &events, id);
	if (err == ERR_OK)
		*count = events.count;
	jscan_fini(&doc);
	arena_free(arena);
	return err;
}

enum err
push_take(struct journal *journal, struct span body, const struct hints *hints,
    const char *id, unsigned *count)
{
	struct buf mended;
	enum err err;

	if (span_starts(body, SPAN("\xEF\xBB\xBF")))
		body = span_from(body, 3);
	if (is_blank(body))
		body = SPAN("{}");
	if (utf8_is_valid(body))
		return take_json(journal, body, hints, id, count);
	buf_init(&mended, MENDED_MAX);
	utf8_mend(&mended, body);
	err = buf_end(&mended);
	if (err == ERR_OK)
		err = take_json(journal, buf_span(&mended), hints, id, count);
	buf_fini(&mended);
	return err;
}

/* --- the query ------------------------------------------------------------ */

static int
hex_of(char byte)
{
	static const char digits[] = "0123456789abcdef";
	const char *at = byte == '\0'
	    ? NULL
	    : strchr(digits, byte >= 'A' && byte <= 'F' ? byte + 32 : byte);

	return at == NULL ? -1 : (int)(at - digits);
}

static struct span
decode(struct span text, struct arena *arena)
{
	char *to = arena_alloc(arena, text.len + 1);
	size_t i, len = 0;
	int high, low;

	if (to == NULL)
		return SPAN("");
	for (i = 0; i < text.len; i++) {
		high = low = -1;
		if (text.ptr[i] == '%' && text.len - i > 2) {
			high = hex_of(text.ptr[i + 1]);
			low = hex_of(text.ptr[i + 2]);
		}
		if (high >= 0 && low >= 0) {
			to[len++] = (char)(high << 4 | low);
			i += 2;
		} else
			to[len++] = text.ptr[i] == '+' ? ' ' : text.ptr[i];
	}
	return span_make(to, len);
}

void
push_read_query(struct hints *hints, struct span query, struct arena *arena)
{
	struct {
		struct span name;
		struct span *to;
	} known[] = {
	    {SPAN("source"), &hints->source},
	    {SPAN("title"), &hints->title},
	    {SPAN("priority"), &hints->priority},
	    {SPAN("speak"), &hints->speak},
	};
	struct span piece, name;
	size_t i, equals;

	while (span_cut(&piece, &query, '&')) {
		equals = span_find(piece, '=');
		name = span_sub(piece, 0, equals);
		for (i = 0; i < sizeof(known) / sizeof(known[0]); i++) {
			if (span_eq(name, known[i].name))
				*known[i].to =
				    decode(span_from(piece, equals + 1), arena);
		}
	}
}
