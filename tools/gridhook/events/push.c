#include "tools/gridhook/events/push.h"

#include <assert.h>

#include "common/hex.h"
#include "common/jscan.h"
#include "common/log.h"
#include "common/utf8.h"

#define DEPTH_MAX 2048
#define ARENA_MAX ((size_t)256 << 20)
#define MENDED_MAX ((size_t)8 << 20)

static bool
is_blank(struct span text)
{
	for (size_t i = 0; i < text.len; i++)
		if (memchr(" \t\n\v\f\r", text.ptr[i], 6) == NULL)
			return false;
	return true;
}

static enum err
add_all(struct journal *journal, const struct events *events, const char *id)
{
	struct event_place place;
	enum err err = ERR_OK;

	for (unsigned i = 0; i < events->count && err == ERR_OK; i++) {
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

	assert(journal != NULL && id != NULL && count != NULL);
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

/* A % that is no escape stays as it is. */
static struct span
decode(struct span text, struct arena *arena)
{
	char *to = arena_alloc(arena, text.len + 1);
	size_t len = 0;

	if (to == NULL)
		return SPAN("");
	for (; text.len > 0; len++) {
		bool blank = text.ptr[0] == '+';

		hex_percent(&to[len], &text);
		if (blank)
			to[len] = ' ';
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
	size_t equals;

	assert(hints != NULL && arena != NULL);
	while (span_cut(&piece, &query, '&')) {
		equals = span_find(piece, '=');
		name = span_sub(piece, 0, equals);
		for (size_t i = 0; i < sizeof(known) / sizeof(known[0]); i++)
			if (span_eq(name, known[i].name))
				*known[i].to =
				    decode(span_from(piece, equals + 1), arena);
	}
}
