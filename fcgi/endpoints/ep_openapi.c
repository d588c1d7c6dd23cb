/*
 * GET /openapi.json: what there is, for programs. Open to all, from any
 * origin.
 */
#include "common/digest.h"
#include "fcgi/call.h"
#include "fcgi/endpoints/address.h"
#include "fcgi/endpoints/endpoint.h"
#include "fcgi/openapi/openapi.h"
#include "fcgi/rows/etag.h"
#include "fcgi/http/format.h"

#define DOCUMENT_MAX (4u << 20)

enum err
ep_openapi(struct call *call)
{
	struct buf *url = &call->serving->folded;
	uint64_t tag[DIGEST_SHA256_LEN / sizeof(uint64_t)];
	struct buf text;
	enum err err;

	buf_clear(url);
	address_of_site(url, call);
	buf_add_text(url, "/api/v1");
	buf_init(&text, DOCUMENT_MAX);
	err = buf_end(url);
	if (err == ERR_OK)
		err = openapi_write(&text, buf_span(url));
	if (err != ERR_OK) {
		buf_fini(&text);
		return err;
	}
	digest_sha256((uint8_t *)tag, buf_span(&text));
	reply_header(call->reply, "Content-Type", "application/json");
	reply_header(call->reply, "Access-Control-Allow-Origin", "*");
	if (!etag_matches(call, tag, sizeof(tag) / sizeof(tag[0]), FORMAT_JSON))
		iovbuf_add(&call->reply->body, buf_span(&text));
	buf_fini(&text);
	return ERR_OK;
}
