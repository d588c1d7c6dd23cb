#include "fcgi/http/request.h"

#include "fcgi/http/coding.h"

#include <string.h>

static const struct method_name {
	struct span name;
	enum method method;
} methods[] = {
    {{"GET", 3}, METHOD_GET},
    {{"HEAD", 4}, METHOD_HEAD},
    {{"POST", 4}, METHOD_POST},
    {{"PUT", 3}, METHOD_PUT},
    {{"DELETE", 6}, METHOD_DELETE},
    {{"OPTIONS", 7}, METHOD_OPTIONS},
};

/* Where each parameter that matters goes, longest first where it matters. */
static const struct param {
	struct span name;
	size_t offset;
} params[] = {
#define PARAM(name, member) \
	{ \
		{name, sizeof(name) - 1}, offsetof(struct request, member) \
	}
    PARAM("REQUEST_URI", uri),
    PARAM("CONTENT_TYPE", content_type),
    PARAM("HTTP_ACCEPT", accept),
    PARAM("HTTP_ACCEPT_ENCODING", accept_encoding),
    PARAM("HTTP_ACCEPT_LANGUAGE", accept_language),
    PARAM("HTTP_IF_NONE_MATCH", if_none_match),
    PARAM("HTTP_X_API_KEY", api_key),
    PARAM("HTTP_AUTHORIZATION", authorization),
    PARAM("HTTP_COOKIE", cookie),
    PARAM("HTTP_ORIGIN", origin),
    PARAM("HTTP_SEC_FETCH_SITE", sec_fetch_site),
    PARAM("HTTP_MCP_PROTOCOL_VERSION", mcp_version),
    PARAM("HTTP_MCP_METHOD", mcp_method),
    PARAM("HTTP_MCP_NAME", mcp_name),
    PARAM("HTTP_X_GRID_SEEN", grid_seen),
    PARAM("HTTP_X_GRID_PASSED", grid_passed),
    PARAM("GRID_ALONE", grid_alone),
    PARAM("GRID_PART", grid_part),
    PARAM("GRID_PASSES", grid_passes),
    PARAM("HTTP_HOST", host),
    PARAM("HTTP_X_FORWARDED_HOST", forwarded_host),
    PARAM("HTTP_X_FORWARDED_PROTO", forwarded_proto),
    PARAM("OUTSIDE_USER", outside_user),
    PARAM("OUTSIDE_GROUPS", outside_groups),
    PARAM("REMOTE_ADDR", remote_addr),
    PARAM("REQUEST_ID", request_id),
#undef PARAM
};

void
request_init(struct request *request)
{
	memset(request, 0, sizeof(*request));
	request->method_text = SPAN("GET");
}

static void
take_method(struct request *request, struct span value)
{
	request->method = METHOD_OTHER;
	request->method_text = value;
	for (unsigned i = 0; i < sizeof(methods) / sizeof(methods[0]); i++)
		if (span_eq(methods[i].name, value))
			request->method = methods[i].method;
}

void
request_param(struct request *request, struct span name, struct span value)
{
	if (span_eq(name, SPAN("REQUEST_METHOD"))) {
		take_method(request, value);
		return;
	}
	if (span_eq(name, SPAN("HTTPS"))) {
		request->https = span_eq_nocase(value, SPAN("on"));
		return;
	}
	if (span_eq(name, SPAN("COUNT_REFUSAL"))) {
		request->count_refusal = span_eq(value, SPAN("1"));
		return;
	}
	for (unsigned i = 0; i < sizeof(params) / sizeof(params[0]); i++)
		if (span_eq(params[i].name, name)) {
			memcpy((char *)request + params[i].offset, &value,
			    sizeof(value));
			return;
		}
}

/* "en" and "en-GB" are ranges of English. */
static bool
is_language(struct span range, struct span language)
{
	return range.len >= 2 &&
	    span_eq_nocase(span_sub(range, 0, 2), language) &&
	    (range.len == 2 || range.ptr[2] == '-');
}

/* A language's weight in the list; `named` is where the list names it. */
static unsigned
weight_of(struct span list, struct span language, const char **named)
{
	struct span range, rest = list;
	unsigned best = 0, others = 0;

	*named = NULL;
	while (span_cut(&range, &rest, ',')) {
		size_t end = span_find(range, ';');
		struct span name = span_trim(span_sub(range, 0, end));
		unsigned weight = coding_weight(span_from(range, end + 1));

		if (span_eq(name, SPAN("*")))
			others = weight;
		if (!is_language(name, language))
			continue;
		if (*named == NULL)
			*named = name.ptr;
		best = weight > best ? weight : best;
	}
	return *named == NULL ? others : best;
}

bool
request_french(const struct request *request)
{
	const char *english_at, *french_at;
	struct span list = request->accept_language;
	unsigned english = weight_of(list, SPAN("en"), &english_at);
	unsigned french = weight_of(list, SPAN("fr"), &french_at);

	/* Of the same weight, the one that is named first. */
	if (french != english || french == 0 || french_at == NULL)
		return french > english;
	return english_at == NULL || french_at < english_at;
}
