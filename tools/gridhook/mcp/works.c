#include "tools/gridhook/mcp/works.h"

#include <assert.h>
#include <stdlib.h>

#include "common/arena.h"
#include "common/date.h"
#include "common/jscan.h"
#include "common/members.h"

#define FRESH_NS INT64_C(2000000000)
#define DEPTH_MAX 16
#define TEXT_MAX ((size_t)1 << 20)

void
works_fini(struct works *works)
{
	free(works->said);
	works->said = NULL;
}

bool
works_is_fresh(const struct works *works)
{
	return works->said != NULL &&
	    date_monotonic_ns() - works->at_ns < FRESH_NS;
}

void
works_take(struct works *works, const struct result *result)
{
	struct span said =
	    buf_span(result->is_error ? &result->content : &result->structured);

	assert(result != NULL);
	free(works->said);
	works->said = span_dup(said);
	works->failed = result->is_error;
	works->at_ns = date_monotonic_ns();
}

/* The text of a result that failed: [{"type":"text","text":"..."}]. */
static struct span
failure_of(struct jval content, struct arena *arena)
{
	struct jwalk walk = jwalk_begin(content);
	struct jval name, item;

	if (jval_type(content) == JARRAY && jwalk_next(&walk, &name, &item))
		return jval_text(jval_member(item, "text"), arena);
	return SPAN("");
}

static struct jval
row_of(struct jval said, const char *tool)
{
	struct jval rows = jval_member(said, "tools");
	struct jwalk walk = jwalk_begin(rows);
	struct jval name, row;

	while (jval_type(rows) == JARRAY && jwalk_next(&walk, &name, &row))
		if (jval_is(jval_member(row, "name"), span_of(tool)))
			return row;
	return (struct jval){said.doc, NULL};
}

/* Why the helper's tool does not work; empty when it does. */
static struct span
helper_why(const struct works *works, const char *tool, struct arena *arena)
{
	struct span why = SPAN("the helper gridhook-tool did not say");
	struct jval row;
	struct jscan doc;

	if (works->said == NULL ||
	    jscan_parse(&doc, span_of(works->said), DEPTH_MAX, NULL) != ERR_OK)
		return why;
	if (works->failed)
		why = failure_of(jscan_root(&doc), arena);
	else {
		row = row_of(jscan_root(&doc), tool);
		if (jval_type(jval_member(row, "works")) == JTRUE)
			why = SPAN("");
		else if (!jval_is_absent(row))
			why = jval_text(jval_member(row, "why_not"), arena);
	}
	/* The copy outlives the document. */
	why = why.len > 0 ? arena_copy(arena, why) : SPAN("");
	jscan_fini(&doc);
	return why;
}

static struct span
why_not(const struct works *works, const struct desk_tool *tool,
    const struct works_facts *facts, struct arena *arena)
{
	if (!facts->offered)
		return SPAN("switched off in the settings ([tools] disabled, "
			    "read_only)");
	switch (tool->by) {
	case TOOL_BY_HELPER:
		return helper_why(works, tool->shown.name, arena);
	case TOOL_BY_WINDOW:
		if (!facts->window)
			return SPAN("no interface window is attached (gridhud "
				    "is one)");
		if (span_eq(span_of(tool->shown.name), SPAN("speak_text")))
			return facts->speech;
		return SPAN("");
	default:
		return SPAN("");
	}
}

void
works_write(const struct works *works, struct jsonw *json,
    const struct desk_tool *tool, const struct works_facts *facts)
{
	struct arena *arena = arena_new(TEXT_MAX);
	struct span why = SPAN("out of memory");

	assert(tool != NULL && facts != NULL);
	if (arena != NULL)
		why = why_not(works, tool, facts, arena);
	jsonw_object_begin(json);
	members_string(json, "name", tool->shown.name);
	members_bool(json, "works", why.len == 0);
	if (why.len > 0)
		members_text(json, "why_not", why);
	jsonw_object_end(json);
	arena_free(arena);
}
