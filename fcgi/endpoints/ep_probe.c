/* GET /healthz, /readyz, /metrics: for probes and for Prometheus. */
#include "fcgi/call.h"
#include "fcgi/endpoints/endpoint.h"
#include "fcgi/http/iovbuf.h"
#include "fcgi/http/reply.h"
#include "fcgi/metrics.h"
#include "fcgi/route.h"
#include "fcgi/rows/shared_source.h"

enum err
ep_healthz(struct call *call)
{
	reply_header(call->reply, "Content-Type", "application/json");
	iovbuf_text(&call->reply->body, "{\"ok\":true}");
	return ERR_OK;
}

/* The views were renewed before it ran: the environments can be read. */
enum err
ep_readyz(struct call *call)
{
	struct shared_source *source = NULL;
	enum err err;

	if (metrics_behind_ms(call->server->metrics) > METRICS_BEHIND_MS)
		return reply_fail(call->reply, 503, CODE_INTERNAL,
		    "Other nodes may have written what is not here: etcd is "
		    "out of reach, or gridapi's log says what cannot be "
		    "applied. What is here can be read.");
	err = shared_source_get(&source, call);
	if (err != ERR_OK && err != ERR_NOT_FOUND)
		return reply_fail(call->reply, 503, CODE_INTERNAL,
		    "The facts cannot be read: %s", err_text(err));
	reply_header(call->reply, "Content-Type", "application/json");
	iovbuf_add(&call->reply->body,
	    err == ERR_OK ? SPAN("{\"ok\":true,\"imported\":true}")
			  : SPAN("{\"ok\":true,\"imported\":false}"));
	shared_source_release(source);
	return ERR_OK;
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
