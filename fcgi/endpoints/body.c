#include "fcgi/endpoints/body.h"

#include <assert.h>
#include <stdio.h>

#include "common/members.h"
#include "common/utf8.h"
#include "fcgi/fail.h"
#include "fcgi/http/french.h"
#include "fcgi/settings.h"
#include "lmdb-schema/key.h"
#include "lmdb-schema/row.h"
#include "lmdb-schema/state/proposal.h"

#define DEPTH_MAX 8
#define ISSUES_MAX 100

/* application/json, with or without parameters. */
static bool
is_json(struct span type)
{
	return span_eq_nocase(
	    span_trim(span_sub(type, 0, span_find(type, ';'))),
	    SPAN("application/json"));
}

static enum err
check_type(struct call *call)
{
	const struct request *request = call->request;

	if (request->body_too_large)
		return reply_fail(call->reply, 413, CODE_BAD_REQUEST,
		    "The body is too large: %lld bytes are the most.",
		    (long long)call->server->settings->body_bytes);
	if (is_json(request->content_type))
		return ERR_OK;
	return reply_fail(call->reply, 415, CODE_BAD_REQUEST,
	    "The body must be JSON, with Content-Type: application/json.");
}

static enum err
no_memory(struct call *call)
{
	return reply_fail(call->reply, 500, CODE_INTERNAL,
	    "There is no memory for this body: try again.");
}

static enum err
refuse(struct call *call, struct jsonw *json, struct span message)
{
	enum err err = fail_end(json, call, 400, CODE_BAD_REQUEST, message);

	return err == ERR_ANSWERED ? err : no_memory(call);
}

/* A body that cannot be read has one issue, as a whole: no path. */
static enum err
refuse_text(struct call *call, const struct fault *fault)
{
	struct span start =
	    span_of(reply_words(call->reply, "The body is not valid: "));
	char text[64 + sizeof(fault->place) + sizeof(fault->message)];
	struct span message;
	struct jsonw json;

	snprintf(text, sizeof(text), "%.*s%s: %s", SPAN_ARG(start),
	    fault->place, fault->message);
	message = span_of(text);
	fail_begin(&json, call);
	jsonw_key(&json, "issues");
	jsonw_array_begin(&json);
	jsonw_object_begin(&json);
	members_text(&json, "path", SPAN(""));
	members_text(&json, "message", span_from(message, start.len));
	jsonw_object_end(&json);
	jsonw_array_end(&json);
	return refuse(call, &json, message);
}

enum err
body_open(struct jsonr **out, struct call *call)
{
	const struct jsonr_limits limits = {call->request->body.len + 1,
	    DEPTH_MAX, ISSUES_MAX,
	    request_french(call->request) ? french_of : NULL};
	struct jsonr *doc = NULL;
	struct fault fault;
	enum err err = check_type(call);

	assert(!call->reply->streaming);
	*out = NULL;
	if (err != ERR_OK)
		return err;
	fault_clear(&fault);
	err = jsonr_parse(&doc, call->request->body, &limits, &fault);
	if (err == ERR_NO_MEMORY)
		err = no_memory(call);
	else if (err != ERR_OK)
		err = refuse_text(call, &fault);
	else if (!jsonr_want_object(doc, jsonr_root(doc), ""))
		err = body_check(call, doc);
	if (err == ERR_OK)
		*out = doc;
	else
		jsonr_free(doc);
	return err;
}

enum err
body_check(struct call *call, const struct jsonr *doc)
{
	struct jsonw json;
	char message[96];
	int len;

	assert(doc != NULL && !call->reply->streaming);
	if (jsonr_issues(doc) == 0)
		return ERR_OK;
	fail_begin(&json, call);
	jsonw_key(&json, "issues");
	jsonr_issues_write(doc, &json);
	len = snprintf(message, sizeof(message),
	    reply_words(call->reply,
		jsonr_issues(doc) == 1
		    ? "The body is not valid: %zu issue, see details.issues."
		    : "The body is not valid: %zu issues, see "
		      "details.issues."),
	    jsonr_issues(doc));
	return refuse(call, &json, span_make(message, (size_t)len));
}

bool
body_code(struct jsonr *doc, struct span *out, const struct jsonr_value *value,
    const char *path)
{
	assert(out != NULL && path != NULL);
	if (!jsonr_want_string(doc, out, value, path))
		return false;
	if (key_code_ok(*out))
		return true;
	jsonr_issue(doc, path,
	    "must be 1 to %d bytes of text without control characters",
	    SCHEMA_CODE_MAX);
	return false;
}

bool
body_gamme(struct jsonr *doc, uint8_t *out, const struct jsonr_value *value,
    const char *path, bool nullable)
{
	struct span text;

	assert(out != NULL && path != NULL);
	*out = ROW_GAMME_NONE;
	if (nullable && jsonr_type(value) == JSONR_NULL)
		return true;
	if (!jsonr_want_string(doc, &text, value, path))
		return false;
	*out = row_gamme(text);
	if (*out != ROW_GAMME_NONE && *out != ROW_GAMME_BAD)
		return true;
	jsonr_issue(doc, path,
	    nullable ? "must be one of A, B, C, Y, Z, or null"
		     : "must be one of A, B, C, Y, Z");
	return false;
}

bool
body_motif(struct jsonr *doc, struct span *out,
    const struct jsonr_value *object, const char *path)
{
	const struct jsonr_value *value = jsonr_member(object, "motif");

	assert(out != NULL && path != NULL);
	*out = SPAN("");
	if (jsonr_type(value) == JSONR_ABSENT)
		return true;
	if (!jsonr_want_string(doc, out, value, path))
		return false;
	if (proposal_motif_ok(*out))
		return true;
	if (utf8_count(*out) > PROPOSAL_MOTIF_MAX)
		jsonr_issue(doc, path, "has %zu characters, %d are the most",
		    utf8_count(*out), PROPOSAL_MOTIF_MAX);
	else
		jsonr_issue(doc, path,
		    "must be one line of text without control characters");
	return false;
}

size_t
body_array(struct jsonr *doc, const struct jsonr_value *value, const char *path,
    size_t min, size_t max)
{
	size_t count;

	assert(min <= max && path != NULL);
	if (!jsonr_want_array(doc, value, path))
		return 0;
	count = jsonr_count(value);
	if (count >= min && count <= max)
		return count;
	jsonr_issue(
	    doc, path, "must have %zu to %zu items, has %zu", min, max, count);
	return 0;
}

void
body_flag(struct jsonr *doc, bool *out, const struct jsonr_value *object,
    const char *name)
{
	const struct jsonr_value *value = jsonr_member(object, name);

	assert(out != NULL && name != NULL);
	if (jsonr_type(value) != JSONR_ABSENT)
		jsonr_want_bool(doc, out, value, name);
}
