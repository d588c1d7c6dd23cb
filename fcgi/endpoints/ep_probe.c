/* GET /healthz, /readyz, /metrics: for probes and for Prometheus. */
#include <stdio.h>

#include "fcgi/call.h"
#include "fcgi/endpoints/endpoint.h"
#include "fcgi/http/iovbuf.h"
#include "fcgi/http/reply.h"
#include "fcgi/metrics.h"
#include "fcgi/route.h"
#include "fcgi/rows/shared_source.h"
#include "lmdb-schema/store/store.h"
#include "lmdb-schema/upkeep/edition.h"
#include "lmdb-schema/upkeep/lacks.h"

enum err
ep_healthz(struct call *call)
{
	reply_header(call->reply, "Content-Type", "application/json");
	iovbuf_text(&call->reply->body, "{\"ok\":true}");
	return ERR_OK;
}

/*
 * Whether what is shown here is old for longer than an import takes to be got again: a
 * node that others may answer for passes its requests on, and one that is getting the
 * files is ready meanwhile.
 */
static bool
is_stale(const struct call *call)
{
	return !call->server->keeps_part &&
	    metrics_import_fails_ms(call->server->metrics) >
	    LACKS_S * INT64_C(1000);
}

/*
 * Of nodes that give each other their imports: the one that is shown, and the
 * last. Older rows are served meanwhile; a node that has none yet is not ready.
 */
static enum err
tell_ready(struct call *call, bool imported)
{
	struct editions editions;
	enum err err = edition_look(&editions, call->server->store);
	char text[128];

	if (err != ERR_OK)
		return err;
	if (!imported && editions.now.number > 0)
		return reply_fail(call->reply, 503, CODE_INTERNAL,
		    "Import %llu of node %s is not here yet.",
		    (unsigned long long)editions.now.number, editions.now.node);
	if (is_stale(call))
		return reply_fail(call->reply, 503, CODE_INTERNAL,
		    "Import %llu of node %s does not come here: gridapi's log "
		    "says why. What is here, of import %llu, can be read.",
		    (unsigned long long)editions.now.number, editions.now.node,
		    (unsigned long long)editions.shown);
	snprintf(text, sizeof(text), "{\"ok\":true,\"imported\":%s",
	    imported ? "true" : "false");
	iovbuf_add(&call->reply->body, span_of(text));
	if (editions.now.number > 0) {
		snprintf(text, sizeof(text), ",\"import\":%llu,\"last\":%llu",
		    (unsigned long long)editions.shown,
		    (unsigned long long)editions.now.number);
		iovbuf_add(&call->reply->body, span_of(text));
	}
	iovbuf_text(&call->reply->body, "}");
	reply_header(call->reply, "Content-Type", "application/json");
	store_identity(text, store_dir(call->server->store));
	reply_header(call->reply, "X-Grid-Data", "%s", text);
	return ERR_OK;
}

static enum err
tell_behind(struct call *call)
{
	enum err err = (enum err)metrics_cluster_now(
	    call->server->metrics, CLUSTER_FOLLOWED);

	if (err == ERR_AWAY)
		return reply_fail(call->reply, 503, CODE_INTERNAL,
		    "Other nodes may have written what is not here: the log of "
		    "all nodes is out of reach. What is here can be read.");
	if (err == ERR_EXISTS)
		return reply_fail(call->reply, 503, CODE_INTERNAL,
		    "Another node has this one's name: set another [cluster] "
		    "node in cluster.conf. What is here can be read.");
	if (err == ERR_OK)
		return reply_fail(call->reply, 503, CODE_INTERNAL,
		    "This node is taking in what other nodes have written. "
		    "What is here can be read.");
	return reply_fail(call->reply, 503, CODE_INTERNAL,
	    "This node does not take in what other nodes have written: %s. "
	    "What is here can be read.",
	    err_text(err));
}

/* The views were renewed before it ran: the environments can be read. */
enum err
ep_readyz(struct call *call)
{
	const char *refusal = metrics_refusal(call->server->metrics);
	struct shared_source *source = NULL;
	enum err err;

	if (store_is_cut_off(call->server->store))
		return reply_fail(call->reply, 503, CODE_INTERNAL,
		    "This node is of a cluster, and its cluster.conf is "
		    "missing: nothing is stored here, and what other nodes "
		    "write does not come. gridapi's log says what to do. What "
		    "is here can be read.");
	if (refusal != NULL)
		return reply_fail(call->reply, 503, CODE_INTERNAL,
		    "%s: writes may be refused here, and other nodes not hear "
		    "of this one. 'gridctl cluster status' says which right is "
		    "lacking. What is here can be read.",
		    refusal);
	if (metrics_behind_ms(call->server->metrics) > METRICS_BEHIND_MS)
		return tell_behind(call);
	err = shared_source_get(&source, call);
	if (err != ERR_OK && err != ERR_NOT_FOUND)
		return reply_fail(call->reply, 503, CODE_INTERNAL,
		    "The facts cannot be read: %s", err_text(err));
	shared_source_release(source);
	return tell_ready(call, err == ERR_OK);
}

enum err
ep_metrics(struct call *call)
{
	struct buf text;
	enum err err;

	reply_header(call->reply, "Content-Type",
	    "text/plain; version=0.0.4; charset=utf-8");
	buf_init(&text, 1 << 22);
	metrics_write(&text, call->server->metrics, route_name);
	iovbuf_add(&call->reply->body, buf_span(&text));
	err = buf_end(&text);
	buf_fini(&text);
	return err;
}
