#include "fcgi/fail.h"

#include <assert.h>

#include "common/fs.h"
#include "common/limits.h"
#include "common/members.h"
#include "fcgi/call.h"
#include "fcgi/seen.h"
#include "lmdb-schema/facts/live.h"
#include "lmdb-schema/store/store.h"

#define AWAY_RETRY_S 2

enum err
fail_no_supplier(struct call *call, struct span supplier)
{
	assert(!call->reply->begun);
	if (live_facts(call->serving->views.live) == 0)
		return reply_fail(call->reply, 404, CODE_NOT_FOUND,
		    "There is no supplier %.*s: nothing has been imported yet; "
		    "on the server 'gridctl import FOLDER' does it.",
		    SPAN_ARG(supplier));
	return reply_fail(call->reply, 404, CODE_NOT_FOUND,
	    "There is no supplier %.*s with articles; /fournisseurs lists "
	    "them.",
	    SPAN_ARG(supplier));
}

/* Of the log that several nodes share; `details` tell it to programs. */
static enum err
fail_of_log(struct call *call, const char *outcome, const char *why)
{
	char seen[SEEN_TEXT_MAX];
	struct jsonw json;

	fail_begin(&json, call);
	members_string(&json, "outcome", outcome);
	seen_at_most(seen, call);
	members_given(&json, "seen", seen);
	return fail_end(&json, call, 503, CODE_INTERNAL, span_of(why));
}

/* 503: it can be repeated, at another node where this one does not take it. */
static enum err
fail_for_now(struct call *call, const char *why)
{
	enum err err = reply_fail(call->reply, 503, CODE_INTERNAL, "%s",
	    reply_words(call->reply, why));

	reply_header(call->reply, "Retry-After", "%d", AWAY_RETRY_S);
	return err;
}

/* Of nodes that share the state; a machine on its own never fails so. */
static enum err
fail_shared(struct call *call, enum err err)
{
	switch (err) {
	case ERR_AWAY:
		return fail_for_now(call,
		    "Nothing was stored: the nodes' shared log is out of "
		    "reach. The request can be repeated. What is there can be "
		    "read.");
	case ERR_UNKNOWN:
		return fail_of_log(call, "unknown",
		    "It may have been stored, or not: the nodes' shared log "
		    "did not answer. Look again before you repeat it.");
	case ERR_STORED:
		return fail_of_log(call, "stored",
		    "It is stored, and other nodes show it. The disk of this "
		    "node is full or takes no writes: look at another node. "
		    "There is no need to repeat it.");
	case ERR_OUTRUN:
		return fail_for_now(call,
		    "Nothing was stored: this node was away for too long, and "
		    "has to join the others anew. Its pages are of before. "
		    "Another node takes the request.");
	case ERR_FORKED:
		return fail_for_now(call,
		    "Nothing was stored: the nodes' shared log has lost "
		    "entries that this node has, or is another one. The "
		    "operator decides which is right: 'gridctl cluster "
		    "status' says how. What is there can be read.");
	case ERR_VERSION:
		return fail_for_now(call,
		    "Nothing was stored: this node's program is of an earlier "
		    "version than the others'. Its pages are of before. "
		    "Another node takes the request.");
	case ERR_NO_SPACE:
	case ERR_READ_ONLY:
		return fail_for_now(call,
		    "Nothing was stored: the disk of this node is full or "
		    "takes no writes. Another node takes the request.");
	default:
		return ERR_OK;
	}
}

/* A write that needs more room there fails as on a full disk. */
static bool
has_met_limit(const struct call *call)
{
	char path[FS_PATH_MAX];

	return fs_path(path, "%s/state.mdb", store_dir(call->server->store)) ==
	    ERR_OK &&
	    limits_ends(path);
}

enum err
fail_write(struct call *call, enum err err)
{
	assert(err != ERR_OK && err != ERR_ANSWERED);
	if (err == ERR_CUT_OFF)
		return fail_for_now(call,
		    "Nothing was stored: this node is of a cluster, and its "
		    "cluster.conf is missing. Its pages are of before. Another "
		    "node takes the request.");
	if (store_is_shared(call->server->store) &&
	    fail_shared(call, err) == ERR_ANSWERED)
		return ERR_ANSWERED;
	if (err == ERR_NO_SPACE && has_met_limit(call))
		return reply_fail(call->reply, 500, CODE_INTERNAL,
		    "The server has met a limit on the size of files; the disk "
		    "is not full. Nothing was stored; the request can be "
		    "repeated when the operator has raised it: the server's "
		    "log says how.");
	if (err == ERR_NO_SPACE)
		return reply_fail(call->reply, 500, CODE_INTERNAL,
		    "The server's disk is full. Nothing was stored; the "
		    "request can be repeated when there is room.");
	if (err == ERR_MAP_FULL || err == ERR_NO_ADDRESS)
		return reply_fail(call->reply, 500, CODE_INTERNAL,
		    "The server's storage has met a limit of its own; the disk "
		    "is not full. Nothing was stored; the request can be "
		    "repeated when the operator has raised it: the server's "
		    "log says how.");
	if (err == ERR_READ_ONLY)
		return reply_fail(call->reply, 500, CODE_INTERNAL,
		    "The server's disk takes no writes at present. Nothing was "
		    "stored; the request can be repeated when it does. What "
		    "is there can be read.");
	return reply_fail(call->reply, 500, CODE_INTERNAL,
	    "It could not be stored (%s): look again before you repeat it; the "
	    "server's log says more.",
	    err_text(err));
}

void
fail_begin(struct jsonw *json, struct call *call)
{
	assert(!call->reply->begun);
	buf_clear(&call->serving->details);
	jsonw_init(json, &call->serving->details);
	jsonw_object_begin(json);
}

enum err
fail_end(struct jsonw *json, struct call *call, int status,
    enum reply_code code, struct span message)
{
	enum err err;

	assert(json->buf == &call->serving->details && status >= 400);
	jsonw_object_end(json);
	err = jsonw_end(json);
	if (err != ERR_OK)
		return err;
	return reply_error(
	    call->reply, status, code, message, buf_span(json->buf));
}
