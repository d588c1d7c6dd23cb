/*
 * toolargs: a call's arguments, checked against the published schema, and that
 * schema itself.
 */
#pragma once

#include "common/err.h"
#include "common/jscan.h"
#include "common/jsonw.h"
#include "common/mcp/tool.h"

/*
 * ERR_BAD_INPUT and a fault in words that help a model to do better: the
 * first of an unknown member, a missing one, a wrong type, a value out of its
 * limits. Absent arguments count as {}. Lengths are in characters.
 */
enum err toolargs_check(
    const struct tool *tool, struct jval args, struct fault *fault);

/* The JSON Schema of the arguments. */
void toolargs_schema(struct jsonw *json, const struct tool *tool);

/* The tool as tools/list shows it, and as chat completions want it. */
void toolargs_mcp(struct jsonw *json, const struct tool *tool);
void toolargs_chat(struct jsonw *json, const struct tool *tool);
