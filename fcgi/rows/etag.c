#include "fcgi/rows/etag.h"

#include <assert.h>
#include <string.h>

#include "fcgi/call.h"
#include "fcgi/route.h"
#include "fcgi/http/format.h"
#include "lmdb-schema/key.h"

/* Of each bit of a word, the upper half of the product has something. */
static inline uint64_t
mix(uint64_t hash, uint64_t word)
{
	hash = (hash ^ word) * UINT64_C(0x9e3779b97f4a7c15);
	return hash ^ hash >> 32;
}

uint64_t
etag_mix(uint64_t hash, const void *data, size_t len)
{
	const char *bytes = data;
	uint64_t word;

	for (; len >= sizeof(word); len -= sizeof(word)) {
		memcpy(&word, bytes, sizeof(word));
		hash = mix(hash, word);
		bytes += sizeof(word);
	}
	word = 0;
	memcpy(&word, bytes, len);
	return mix(hash, word ^ (uint64_t)(len + 1) << 56);
}

/* True when the list names the tag; weak and strong tags compare alike. */
static bool
names_tag(struct span list, struct span tag)
{
	struct span item, rest = list;

	if (span_eq(span_trim(list), SPAN("*")))
		return true;
	while (span_cut(&item, &rest, ',')) {
		item = span_trim(item);
		if (span_starts(item, SPAN("W/")))
			item = span_from(item, 2);
		if (span_eq(item, tag))
			return true;
	}
	return false;
}

bool
etag_matches(struct call *call, const uint64_t *generations, unsigned count,
    enum format format)
{
	char text[] = "W/\"0123456789abcdef\"";
	struct span tag = span_from(span_of(text), 2);
	uint64_t hash = UINT64_C(0xcbf29ce484222325);

	assert(count > 0 && format < FORMATS);
	assert(generations != NULL && count > 0 && !call->reply->streaming);
	hash = etag_mix(hash, generations, count * sizeof(*generations));
	hash = etag_mix(hash, call->request->uri.ptr, call->request->uri.len);
	hash = etag_mix(hash, &format, sizeof(format));
	call->reply->by_language =
	    (call->route->doc.answers & (ANSWERS_PAGES | ANSWERS_ROWS)) != 0;
	if (call->reply->by_language && request_french(call->request))
		hash = etag_mix(hash, "fr", 2);
	/* Another key may see other suppliers at the same address. */
	if (call->subject.suppliers.len > 0)
		hash = etag_mix(hash, call->subject.suppliers.ptr,
		    call->subject.suppliers.len);
	key_generation_text(text + 3, hash);
	text[3 + KEY_GENERATION_LEN] = '"';
	reply_header_text(call->reply, "ETag", span_of(text));
	/* An answer that needs no key is the same for every client. */
	reply_header_text(call->reply, "Cache-Control",
	    call->route->auth == ROUTE_OPEN ? SPAN("public, no-cache")
					    : SPAN("private, no-cache"));
	if (call->request->if_none_match.len == 0 ||
	    !names_tag(call->request->if_none_match, tag))
		return false;
	call->reply->status = 304;
	return true;
}
