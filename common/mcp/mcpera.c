#include "common/mcp/mcpera.h"

#include <assert.h>
#include <stdarg.h>
#include <stdio.h>

#define META_VERSION "io.modelcontextprotocol/protocolVersion"
#define META_CAPABILITIES "io.modelcontextprotocol/clientCapabilities"
#define NAME_MAX_BYTES 512

static const char *const legacy_versions[] = {
    MCP_LEGACY_LATEST, "2025-06-18", MCP_BATCH, "2024-11-05"};

#define LEGACY_VERSIONS (sizeof(legacy_versions) / sizeof(legacy_versions[0]))

bool
mcp_is_legacy_version(struct jval version)
{
	for (size_t i = 0; i < LEGACY_VERSIONS; i++)
		if (jval_is(version, span_of(legacy_versions[i])))
			return true;
	return false;
}

static bool
header_is_legacy(struct span version)
{
	for (size_t i = 0; i < LEGACY_VERSIONS; i++)
		if (span_eq(version, span_of(legacy_versions[i])))
			return true;
	return false;
}

/* Revisions are dates, so they compare as text. */
static bool
header_is_modern(struct span version)
{
	return version.len == sizeof(MCP_MODERN) - 1 && version.ptr[0] >= '0' &&
	    version.ptr[0] <= '9' && span_cmp(version, SPAN(MCP_MODERN)) >= 0;
}

static struct jval
meta_of(const struct rpc *rpc, const char *name)
{
	return jval_member(jval_member(rpc->params, "_meta"), name);
}

enum mcp_era
mcp_era_of(const struct rpc *rpc, const struct mcp_headers *headers)
{
	assert(rpc != NULL && headers != NULL);
	if (!jval_is_absent(meta_of(rpc, META_VERSION)))
		return MCP_ERA_MODERN;
	return header_is_modern(headers->version) ? MCP_ERA_MODERN
						  : MCP_ERA_LEGACY;
}

bool
mcp_may_batch(const struct mcp_headers *headers)
{
	assert(headers != NULL);
	return headers->version.ptr == NULL ||
	    span_eq(headers->version, SPAN(MCP_BATCH));
}

static void __attribute__((format(printf, 4, 5)))
set(struct mcp_trouble *trouble, int status, int code, const char *format, ...)
{
	va_list args;

	trouble->status = status;
	trouble->code = code;
	va_start(args, format);
	vsnprintf(trouble->message, sizeof(trouble->message), format, args);
	va_end(args);
}

/* --- Mcp-Name, which may be =?base64?...?= -------------------------------- */

static int
digit_64(char byte)
{
	static const char digits[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZ"
				     "abcdefghijklmnopqrstuvwxyz0123456789+/";
	const char *at = byte == '\0' ? NULL : strchr(digits, byte);

	return at == NULL ? -1 : (int)(at - digits);
}

/* Whole groups of four, padded. */
static bool
decode_64(struct buf *to, struct span text)
{
	unsigned bits;
	size_t pad;
	int digit;

	if (text.len % 4 != 0)
		return false;
	for (size_t i = 0; i < text.len; i += 4) {
		bits = 0;
		pad = 0;
		for (size_t j = 0; j < 4; j++) {
			digit = digit_64(text.ptr[i + j]);
			if (digit < 0 && text.ptr[i + j] == '=' && j >= 2 &&
			    i + 4 == text.len)
				pad++;
			else if (digit < 0 || pad > 0)
				return false;
			bits = bits << 6 | (unsigned)(digit < 0 ? 0 : digit);
		}
		for (size_t j = 0; j + pad < 3; j++)
			buf_add_char(to, (char)(bits >> (16 - 8 * j)));
	}
	return buf_end(to) == ERR_OK;
}

static bool
header_says(struct span header, struct jval value)
{
	struct span text = header;
	struct buf buf;
	bool same;

	if (!span_starts(text, SPAN("=?base64?")) ||
	    !span_ends(text, SPAN("?=")) || text.len < 11)
		return jval_is(value, text);
	text = span_sub(text, 9, text.len - 11);
	buf_init(&buf, NAME_MAX_BYTES);
	same = decode_64(&buf, text) && jval_is(value, buf_span(&buf));
	buf_fini(&buf);
	return same;
}

/* --- the checks ----------------------------------------------------------- */

/* `requested` is JSON text. */
static void
unsupported(struct mcp_trouble *trouble, struct span requested)
{
	set(trouble, 400, RPC_UNSUPPORTED_VERSION,
	    "Unsupported protocol version; supported without "
	    "initialize: " MCP_MODERN);
	snprintf(trouble->data, sizeof(trouble->data),
	    "{\"supported\":[\"" MCP_MODERN "\"],\"requested\":%.*s}",
	    SPAN_ARG(requested.len <= 100 ? requested : SPAN("\"?\"")));
}

/* A header of a revision that is not known, and no _meta. */
static void
unsupported_header(struct mcp_trouble *trouble, struct span version)
{
	struct buf quoted;

	buf_init(&quoted, 256);
	jsonw_quote(&quoted, version);
	unsupported(trouble,
	    buf_end(&quoted) == ERR_OK ? buf_span(&quoted) : SPAN("\"?\""));
	buf_fini(&quoted);
}

static void
check_version(struct mcp_trouble *trouble, const struct rpc *rpc,
    const struct mcp_headers *headers)
{
	struct jval version = meta_of(rpc, META_VERSION);

	if (jval_is_absent(version) && !headers->is_stdio &&
	    header_is_modern(headers->version) &&
	    !span_eq(headers->version, SPAN(MCP_MODERN))) {
		unsupported_header(trouble, headers->version);
		return;
	}
	if (jval_type(version) != JSTRING) {
		set(trouble, 400, RPC_INVALID_PARAMS,
		    "Invalid params: _meta must have \"" META_VERSION "\"");
		return;
	}
	if (!headers->is_stdio &&
	    (headers->version.ptr == NULL ||
		!jval_is(version, headers->version))) {
		set(trouble, 400, RPC_HEADER_MISMATCH,
		    "Header mismatch: MCP-Protocol-Version must be what "
		    "_meta says");
		return;
	}
	if (!jval_is(version, SPAN(MCP_MODERN)))
		unsupported(trouble, jval_raw(version));
}

static void
check_modern(struct mcp_trouble *trouble, const struct rpc *rpc,
    const struct mcp_headers *headers)
{
	struct jval name = jval_member(rpc->params, "name");

	check_version(trouble, rpc, headers);
	if (trouble->status != 0)
		return;
	if (jval_type(meta_of(rpc, META_CAPABILITIES)) != JOBJECT)
		set(trouble, 400, RPC_INVALID_PARAMS,
		    "Invalid params: _meta must have \"" META_CAPABILITIES
		    "\"");
	else if (headers->is_stdio)
		return;
	else if (headers->method.ptr == NULL ||
	    !jval_is(rpc->method, headers->method))
		set(trouble, 400, RPC_HEADER_MISMATCH,
		    "Header mismatch: Mcp-Method must be the method");
	else if (jval_is(rpc->method, SPAN("tools/call")) &&
	    jval_type(name) == JSTRING &&
	    (headers->name.ptr == NULL || !header_says(headers->name, name)))
		set(trouble, 400, RPC_HEADER_MISMATCH,
		    "Header mismatch: Mcp-Name must be params.name");
}

static void
check_legacy(struct mcp_trouble *trouble, const struct rpc *rpc,
    const struct mcp_headers *headers)
{
	if (headers->version.ptr == NULL ||
	    jval_is(rpc->method, SPAN("initialize")) ||
	    header_is_legacy(headers->version))
		return;
	set(trouble, 400, RPC_INVALID_REQUEST,
	    "Unsupported MCP-Protocol-Version; supported: " MCP_MODERN
	    ", 2025-11-25, 2025-06-18, 2025-03-26, 2024-11-05");
}

void
mcp_check(struct mcp_trouble *trouble, enum mcp_era era, const struct rpc *rpc,
    const struct mcp_headers *headers)
{
	assert(trouble != NULL && era <= MCP_ERA_MODERN);
	*trouble = (struct mcp_trouble){.status = 0};
	if (era == MCP_ERA_MODERN)
		check_modern(trouble, rpc, headers);
	else
		check_legacy(trouble, rpc, headers);
}
