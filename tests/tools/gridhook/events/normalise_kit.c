#include "tests/tools/gridhook/events/normalise_kit.h"

#include <check.h>
#include <stdio.h>
#include <stdlib.h>

#include "tools/gridhook/events/recipe.h"

static struct arena *arena;
static struct jscan doc, record;
static struct buf text;
static struct recipes *recipes;

/* The package's families, all of which must be fine. */
static void
read_families(void)
{
	const char *top = getenv("abs_top_srcdir");
	char folder[4096];

	recipes = recipes_new();
	ck_assert_ptr_nonnull(recipes);
	snprintf(folder, sizeof(folder), "%s/tools/gridhook/families",
	    top == NULL ? "." : top);
	ck_assert(recipes_add_folder(recipes, folder));
	ck_assert_uint_gt(recipes_count(recipes), 0);
}

void
normalise_kit_set_up(void)
{
	read_families();
	arena = arena_new(64 << 20);
	buf_init(&text, 1 << 20);
	ck_assert_ptr_nonnull(arena);
}

void
normalise_kit_tear_down(void)
{
	jscan_fini(&doc);
	jscan_fini(&record);
	buf_fini(&text);
	arena_free(arena);
	recipes_free(recipes);
}

struct arena *
normalise_kit_arena(void)
{
	return arena;
}

struct events
normalise_kit_take(const char *json, const struct hints *hints)
{
	struct hints with = *hints;
	struct events events;

	with.recipes = recipes;
	jscan_fini(&doc);
	ck_assert_int_eq(jscan_parse(&doc, span_of(json), 2048, NULL), ERR_OK);
	ck_assert_int_eq(
	    normalise(&events, jscan_root(&doc), &with, arena), ERR_OK);
	return events;
}

struct jval
normalise_kit_written(const struct event *event)
{
	const struct event_place place = {
	    .seq = 1, .epoch = "E", .push = SPAN("p"), .count = 1};
	struct jsonw json;

	buf_clear(&text);
	jsonw_init(&json, &text);
	event_write(&json, event, &place);
	ck_assert_int_eq(jsonw_end(&json), ERR_OK);
	jscan_fini(&record);
	ck_assert_int_eq(
	    jscan_parse(&record, buf_span(&text), 64, NULL), ERR_OK);
	return jscan_root(&record);
}

void
normalise_kit_compare(struct jval got, const char *want)
{
	struct jscan wanted;
	struct jwalk walk;
	struct jval name, value, found;
	char key[64];

	ck_assert_int_eq(jscan_parse(&wanted, span_of(want), 16, NULL), ERR_OK);
	walk = jwalk_begin(jscan_root(&wanted));
	while (jwalk_next(&walk, &name, &value)) {
		ck_assert(span_copy(key, sizeof(key), jval_text(name, arena)));
		found = jval_member(got, key);
		ck_assert_msg(span_eq(jval_raw(found), jval_raw(value)),
		    "%s is %.*s, not %.*s", key, SPAN_ARG(jval_raw(found)),
		    SPAN_ARG(jval_raw(value)));
	}
	jscan_fini(&wanted);
}
