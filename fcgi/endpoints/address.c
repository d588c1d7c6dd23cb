#include "fcgi/endpoints/address.h"

#include <assert.h>

#include "common/buf.h"
#include "fcgi/call.h"
#include "fcgi/settings.h"

/* A host as it may stand in an address: name or number, and a port. */
static bool
host_ok(struct span host)
{
	static const char other[] = ".-:[]_";

	for (size_t i = 0; i < host.len; i++) {
		char c = host.ptr[i];

		if (!((c >= '0' && c <= '9') ||
			((c | 32) >= 'a' && (c | 32) <= 'z')) &&
		    memchr(other, c, sizeof(other) - 1) == NULL)
			return false;
	}
	return host.len > 0 && host.len <= 255;
}

static bool
is_trusted(const struct request *request, const char *addresses)
{
	struct span address, rest = span_of(addresses);

	while (span_cut(&address, &rest, ','))
		if (address.len > 0 &&
		    span_eq(span_trim(address), request->remote_addr))
			return true;
	return false;
}

/* Of a list that proxies have added to, the one nearest to the caller. */
static struct span
first_of(struct span list)
{
	return span_trim(span_sub(list, 0, span_find(list, ',')));
}

/* The address the caller used, as far as its word counts. */
static void
caller_url(struct buf *url, const struct request *request, bool trusted)
{
	struct span host = request->host, proto;
	bool tls = request->https;

	if (trusted) {
		if (host_ok(first_of(request->forwarded_host)))
			host = first_of(request->forwarded_host);
		proto = first_of(request->forwarded_proto);
		if (span_eq_nocase(proto, SPAN("https")))
			tls = true;
		else if (span_eq_nocase(proto, SPAN("http")))
			tls = false;
	}
	buf_add_span(url, tls ? SPAN("https://") : SPAN("http://"));
	buf_add_span(url, host_ok(host) ? host : SPAN("localhost"));
}

void
address_of_site(struct buf *url, const struct call *call)
{
	const struct api_settings *settings = call->server->settings;
	struct span site = span_of(settings->public_url);

	assert(url != NULL);
	while (span_ends(site, SPAN("/")))
		site.len--;
	if (site.len > 0)
		buf_add_span(url, site);
	else
		caller_url(url, call->request,
		    is_trusted(call->request, settings->trusted_proxies));
}
