/*
 * A family's file, and a push behind a line of "%%" that it may take. What is
 * refused names the file; what is taken makes an event that can be written.
 */
#include <string.h>

#include "common/log.h"
#include "tests/fuzz/fuzz.h"
#include "tools/gridhook/events/recipe.h"

static void
drop_line(enum log_level level, const char *line)
{
	(void)level;
	(void)line;
}

static struct span
header_of(void *arg, const char *name)
{
	(void)arg;
	return name[0] == 'x' ? SPAN("value") : SPAN("");
}

static void
push_it(const struct recipes *recipes, struct span text)
{
	const struct event_place place = {
	    .seq = 1, .epoch = "E", .push = SPAN("p"), .count = 1};
	const struct hints hints = {
	    .recipes = recipes, .suffix = SPAN("rest"), .header = header_of};
	struct arena *arena = arena_new((size_t)256 << 20);
	struct events events;
	struct jsonw json;
	struct jscan doc;
	struct buf out;

	if (jscan_parse(&doc, text, 64, NULL) == ERR_OK) {
		FUZZ_CHECK(normalise(&events, jscan_root(&doc), &hints,
			       arena) == ERR_OK);
		buf_init(&out, 1 << 20);
		jsonw_init(&json, &out);
		event_write(&json, events.list[0], &place);
		FUZZ_CHECK(jsonw_end(&json) == ERR_OK);
		buf_fini(&out);
		jscan_fini(&doc);
	}
	arena_free(arena);
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t len)
{
	struct span whole = span_make(data, len), file = whole;
	struct recipes *recipes = recipes_new();
	struct fault fault = {.place = ""};
	const char *cut = len == 0 ? NULL : memmem(data, len, "\n%%\n", 4);
	enum err err;

	log_catch(drop_line);
	if (cut != NULL)
		file = span_sub(whole, 0, (size_t)(cut - whole.ptr) + 1);
	err = recipes_add(recipes, "fuzz", "file", file, &fault);
	FUZZ_CHECK(err == ERR_OK || err == ERR_BAD_INPUT);
	FUZZ_CHECK((err == ERR_OK) == !fault_is_set(&fault));
	FUZZ_CHECK(err == ERR_OK || strncmp(fault.place, "file:", 5) == 0);
	if (err == ERR_OK && cut != NULL)
		push_it(recipes, span_from(whole, file.len + 3));
	recipes_free(recipes);
	return 0;
}
