#include "fcgi/mcp/agent.h"

#include "common/mcp/toolargs.h"
#include "fcgi/auth.h"
#include "fcgi/call.h"
#include "fcgi/mcp/asking.h"
#include "fcgi/mcp/grid_tools.h"
#include "fcgi/mcp/hints.h"

static const struct tool *
offer(void *owner, unsigned nth)
{
	(void)owner;
	return nth < grid_tool_count ? &grid_tools[nth].shown : NULL;
}

/* The POST itself has counted as one; each further call of a batch is one. */
static bool
take_turn(struct agent *agent, struct result *result)
{
	if (agent->calls++ == 0 || auth_rate(agent->call) == ERR_OK)
		return true;
	reply_restart(agent->call->reply);
	result_error(result,
	    "This key may make %lld requests a minute, and each call of a "
	    "batch is one: wait, then call this one again.",
	    (long long)agent->call->subject.per_minute);
	return false;
}

/* Says what is wrong; for a name that is no argument, the nearest one. */
static void
refuse(const struct agent *agent, const struct tool *tool, struct jval args,
    const struct fault *fault, struct result *result)
{
	struct buf text;

	buf_init(&text, 4096);
	buf_addf(&text, "Wrong arguments for %s: %s %s", tool->name,
	    fault->place, fault->message);
	hints_arguments(&text, tool, args, agent->call->serving->arena);
	if (buf_end(&text) != ERR_OK)
		buf_clear(&text);
	result_error(result, "%.*s.", SPAN_ARG(buf_span(&text)));
	buf_fini(&text);
}

static void
act(struct agent *agent, const struct tool *tool, struct jval args,
    struct result *result)
{
	struct fault fault = {.place = ""};
	struct asking asking;

	if (toolargs_check(tool, args, &fault) != ERR_OK) {
		refuse(agent, tool, args, &fault, result);
		return;
	}
	if (!take_turn(agent, result))
		return;
	asking_init(&asking, agent, tool, args, result);
	((const struct grid_tool *)tool)->act(&asking);
	asking_fini(&asking);
	if (result->content.len == 0 && !agent->handed_over)
		result_error(result, "%s", err_text(ERR_NO_MEMORY));
}

static void *
start(void *owner, const struct tool *tool, struct jval args,
    void (*done)(void *arg, const struct result *result), void *arg)
{
	struct agent *agent = owner;
	struct result result;

	result_init(&result);
	if (!agent->handed_over)
		act(agent, tool, args, &result);
	done(arg, &result);
	result_fini(&result);
	return NULL;
}

const struct mcp_service agent_service = {
    .name = "product-grid",
    .title = "Product Grid",
    .instructions =
	"A buyer's grid of articles: turnover, margin, stock, months and "
	"ranges (gamme A, B, C, Y, Z) of each article of each supplier. Begin "
	"with list_suppliers, then describe_columns for the columns' names and "
	"meaning. Totals are exact: to count or to sum, ask aggregate, or read "
	"total of query_rows, rather than rows. Ratios are raw: 0.32 is 32 %. "
	"propose_ranges only proposes: a person decides in the Grid screen.",
    .offer = offer,
    .start = start,
};
