/*
 * A push's body, as far as the record. What comes out must be what the most
 * particular reader takes, with a source, and within its limits.
 */
#include "common/jsonr.h"
#include "common/log.h"
#include "tests/fuzz/fuzz.h"
#include "tools/gridhook/events/normalise.h"
#include "tools/gridhook/events/push.h"
#include "common/utf8.h"

static void
drop_line(enum log_level level, const char *line)
{
	(void)level;
	(void)line;
}

static void
check_record(struct span text)
{
	const struct jsonr_limits limits = {.bytes = 1 << 20, .depth = 64};
	const struct jsonr_value *root;
	struct jsonr *doc = NULL;
	struct span source;

	FUZZ_CHECK(memchr(text.ptr, '\n', text.len) == NULL);
	FUZZ_CHECK(jsonr_parse(&doc, text, &limits, NULL) == ERR_OK);
	root = jsonr_root(doc);
	source = jsonr_as_string(jsonr_member(root, "source"));
	FUZZ_CHECK(source.len > 0 && utf8_count(source) <= EVENT_SOURCE_MAX);
	FUZZ_CHECK(
	    jsonr_as_string(jsonr_member(root, "text")).len <= EVENT_TEXT_MAX);
	FUZZ_CHECK(utf8_count(jsonr_as_string(jsonr_member(root, "title"))) <=
	    EVENT_TITLE_MAX);
	jsonr_free(doc);
}

static void
write_all(const struct events *events)
{
	struct event_place place = {
	    .seq = 1, .epoch = "E", .push = SPAN("p"), .count = 1};
	struct jsonw json;
	struct buf text;

	FUZZ_CHECK(events->count >= 1 && events->count <= NORMALISE_MAX);
	buf_init(&text, 1 << 20);
	for (unsigned i = 0; i < events->count; i++) {
		buf_clear(&text);
		jsonw_init(&json, &text);
		event_write(&json, events->list[i], &place);
		FUZZ_CHECK(jsonw_end(&json) == ERR_OK);
		check_record(buf_span(&text));
	}
	buf_fini(&text);
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t len)
{
	struct arena *arena = arena_new((size_t)256 << 20);
	struct span body = span_make(data, len);
	struct hints hints = {.suffix = SPAN("suffix")};
	struct events events;
	struct jscan doc;
	struct buf mended;

	log_catch(drop_line);
	/* A first line that begins with '?' is the query. */
	if (body.len > 0 && body.ptr[0] == '?') {
		push_read_query(
		    &hints, span_sub(body, 1, span_find(body, '\n')), arena);
		body = span_from(body, span_find(body, '\n'));
	}
	buf_init(&mended, (size_t)16 << 20);
	utf8_mend(&mended, body);
	FUZZ_CHECK(utf8_is_valid(buf_span(&mended)));
	if (jscan_parse(&doc, buf_span(&mended), 2048, NULL) == ERR_OK) {
		FUZZ_CHECK(normalise(&events, jscan_root(&doc), &hints,
			       arena) == ERR_OK);
		write_all(&events);
		jscan_fini(&doc);
	}
	buf_fini(&mended);
	arena_free(arena);
	return 0;
}
