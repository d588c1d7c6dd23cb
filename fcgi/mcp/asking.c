#include "fcgi/mcp/asking.h"

#include <assert.h>
#include <string.h>

#include "common/arena.h"
#include "fcgi/call.h"
#include "fcgi/mcp/tell.h"
#include "fcgi/mcp/wording.h"
#include "fcgi/within.h"

#define URI_MAX ((size_t)1 << 20)
#define OUT_MAX ((size_t)4 << 20)
#define DEPTH_MAX 64

void
asking_init(struct asking *asking, struct agent *agent, const struct tool *tool,
    struct jval args, struct result *result)
{
	assert(agent->call != NULL && result != NULL);
	*asking = (struct asking){.agent = agent,
	    .tool = tool,
	    .args = args,
	    .result = result,
	    .has_doc = false};
	buf_init(&asking->uri, URI_MAX);
	buf_init(&asking->out, OUT_MAX);
}

static void
drop_doc(struct asking *asking)
{
	if (asking->has_doc)
		jscan_fini(&asking->doc);
	asking->has_doc = false;
}

void
asking_fini(struct asking *asking)
{
	drop_doc(asking);
	buf_fini(&asking->uri);
	buf_fini(&asking->out);
}

/* --- arguments ------------------------------------------------------------ */

bool
asking_has(const struct asking *asking, const char *argument)
{
	struct jval value = jval_member(asking->args, argument);

	if (jval_type(value) == JARRAY)
		return jval_count(value) > 0;
	return !jval_is_absent(value) && !jval_is(value, SPAN(""));
}

struct span
asking_string(struct asking *asking, struct jval value)
{
	struct arena *arena = asking->agent->call->serving->arena;
	struct span text;

	if (jval_type(value) != JSTRING)
		return SPAN("");
	text = jval_text(value, arena);
	if (text.ptr == NULL)
		buf_fail(&asking->uri, ERR_NO_MEMORY);
	return text;
}

struct span
asking_text(struct asking *asking, const char *argument)
{
	return asking_string(asking, jval_member(asking->args, argument));
}

int64_t
asking_int(const struct asking *asking, const char *argument, int64_t fallback)
{
	int64_t value;

	return jval_int(jval_member(asking->args, argument), &value) ? value
								     : fallback;
}

/* --- the request ---------------------------------------------------------- */

static void
add_escaped(struct buf *buf, struct span text)
{
	static const char plain[] = "-._~,()*:";
	static const char digits[] = "0123456789ABCDEF";

	for (size_t i = 0; i < text.len; i++) {
		unsigned char c = (unsigned char)text.ptr[i];

		if ((c >= '0' && c <= '9') ||
		    ((c | 32) >= 'a' && (c | 32) <= 'z') ||
		    memchr(plain, c, sizeof(plain) - 1) != NULL) {
			buf_add_char(buf, (char)c);
			continue;
		}
		buf_add_char(buf, '%');
		buf_add_char(buf, digits[c >> 4]);
		buf_add_char(buf, digits[c & 15]);
	}
}

void
asking_begin(struct asking *asking, const char *path)
{
	assert(path[0] == '/');
	buf_clear(&asking->uri);
	buf_addf(&asking->uri, "/api/v1%s", path);
}

void
asking_segment(struct asking *asking, struct span text)
{
	assert(span_find(buf_span(&asking->uri), '?') == asking->uri.len);
	buf_add_char(&asking->uri, '/');
	add_escaped(&asking->uri, text);
}

void
asking_pair(struct asking *asking, struct span name, struct span value)
{
	struct span uri = buf_span(&asking->uri);

	buf_add_char(&asking->uri, span_find(uri, '?') == uri.len ? '?' : '&');
	add_escaped(&asking->uri, name);
	buf_add_char(&asking->uri, '=');
	add_escaped(&asking->uri, value);
}

static void
give_list(struct asking *asking, struct jval list, struct span parameter)
{
	struct jwalk walk = jwalk_begin(list);
	struct jval name, item;
	struct buf all;

	buf_init(&all, URI_MAX);
	while (jwalk_next(&walk, &name, &item)) {
		if (all.len > 0)
			buf_add_char(&all, ',');
		buf_add_span(&all, asking_string(asking, item));
	}
	buf_fail(&asking->uri, buf_end(&all));
	asking_pair(asking, parameter, buf_span(&all));
	buf_fini(&all);
}

void
asking_give(struct asking *asking, const char *argument, const char *parameter)
{
	struct jval value = jval_member(asking->args, argument);
	struct span name = span_of(parameter);

	if (!asking_has(asking, argument))
		return;
	switch (jval_type(value)) {
	case JSTRING:
		asking_pair(asking, name, asking_text(asking, argument));
		break;
	case JARRAY:
		give_list(asking, value, name);
		break;
	case JTRUE:
		asking_pair(asking, name, SPAN("1"));
		break;
	case JFALSE:
		asking_pair(asking, name, SPAN("0"));
		break;
	default:
		asking_pair(asking, name, jval_raw(value));
	}
}

static bool
refuses(struct asking *asking, struct span filter)
{
	struct buf why;
	bool refused;

	buf_init(&why, 4096);
	refused = wording_refuses(&why, asking->tool, filter);
	buf_fail(&asking->uri, buf_end(&why));
	if (refused)
		result_error(asking->result, "%.*s", SPAN_ARG(buf_span(&why)));
	buf_fini(&why);
	return refused;
}

bool
asking_filters(struct asking *asking)
{
	struct jwalk walk = jwalk_begin(jval_member(asking->args, "filters"));
	struct jval none, item;

	while (jwalk_next(&walk, &none, &item)) {
		struct span text = asking_string(asking, item);
		size_t equals = span_find(text, '=');
		struct span name = span_trim(span_sub(text, 0, equals));

		if (refuses(asking, name))
			return false;
		asking_pair(
		    asking, name, span_trim(span_from(text, equals + 1)));
	}
	return true;
}

/* --- the answer ----------------------------------------------------------- */

static bool
failed(struct asking *asking, enum err err)
{
	result_error(asking->result,
	    "The answer could not be made: %s. Ask for less, or again.",
	    err_text(err));
	return false;
}

static bool
hand_over(struct asking *asking, const struct holder_list *passed)
{
	if (!asking->agent->batch) {
		asking->agent->handed_over = true;
		asking->agent->passed = passed;
		return false;
	}
	if (passed != NULL) {
		result_error(asking->result,
		    "Another node keeps the rows of this supplier: send this "
		    "call alone, not in a batch.");
		return false;
	}
	result_error(asking->result,
	    "This takes seconds, as rows of this supplier must be computed "
	    "first: send this call alone, not in a batch.");
	return false;
}

bool
asking_send(struct asking *asking, enum method method, struct span body)
{
	struct buf *answer = &asking->agent->answer;
	struct within within;
	enum err err = buf_end(&asking->uri);

	drop_doc(asking);
	if (err == ERR_OK)
		err = within_ask(&within, answer, asking->agent->call, method,
		    buf_span(&asking->uri), body);
	if (err != ERR_OK)
		return failed(asking, err);
	if (within.handed_over || within.passed != NULL)
		return hand_over(asking, within.passed);
	err = jscan_parse(&asking->doc, within.body, DEPTH_MAX, NULL);
	if (err != ERR_OK)
		return failed(asking, err);
	asking->has_doc = true;
	asking->data = jval_member(jscan_root(&asking->doc), "data");
	asking->meta = jval_member(jscan_root(&asking->doc), "meta");
	asking->pages = jval_member(jscan_root(&asking->doc), "pagination");
	if (within.status == 200)
		return true;
	tell_error(asking, within.status, jscan_root(&asking->doc));
	return false;
}

bool
asking_get(struct asking *asking)
{
	asking_pair(asking, SPAN("strict"), SPAN("1"));
	return asking_send(asking, METHOD_GET, SPAN(""));
}
