/*
 * works: which tools can do their work here and now, for get_app_status. The
 * helper is asked about its own; what it says holds for a moment.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "common/jsonw.h"
#include "common/mcp/result.h"
#include "tools/gridhook/mcp/toolset.h"

#define WORKS_TOOL "what_works" /* of the helper */
#define WORKS_MS 3000

/* All zero is good: nothing was learnt yet. */
struct works {
	char *said; /* the helper's object, or why there is none */
	bool failed;
	int64_t at_ns;
};

struct works_facts {
	bool offered; /* not switched off */
	bool window; /* one is attached */
	struct span speech; /* why it cannot speak; empty: it can */
};

void works_fini(struct works *works);

/* True while the helper's last report is recent enough. */
bool works_is_fresh(const struct works *works);

/* Keeps what the helper said. */
void works_take(struct works *works, const struct result *result);

/* Writes an object: {"name":"open_url","works":false,"why_not":"..."}. */
void works_write(const struct works *works, struct jsonw *json,
    const struct desk_tool *tool, const struct works_facts *facts);
