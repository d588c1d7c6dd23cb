#include "tools/gridctl/hook/event.h"

#include <assert.h>
#include <stdio.h>
#include <string.h>

#include "common/base64.h"
#include "common/digest.h"
#include "common/members.h"
#include "lmdb-schema/state/feed_entry.h"

#define SECRET_PREFIX SPAN("whsec_")

/* An import, a computation, or a failure of either. */
static void
write_other(struct jsonw *json, const struct audit_entry *entry)
{
	unsigned event = hook_event_of(entry);

	jsonw_object_begin(json);
	members_int(json, "numero", (int64_t)entry->number);
	if (event == HOOK_IMPORTED)
		members_text(json, "donnees", entry->codein);
	else
		members_null_text(json, "codeFournisseur", entry->codein);
	if (event == HOOK_COMPUTED)
		members_text(json, "snapshot", entry->motif);
	else if (event == HOOK_IMPORTED)
		members_text(json, "generation", entry->motif);
	else
		members_text(json, "raison", entry->motif);
	members_text(json, "par", entry->actor);
	jsonw_object_end(json);
}

static void
begin(struct jsonw *json, struct buf *body, struct span type, int64_t when_ms)
{
	jsonw_init(json, body);
	jsonw_object_begin(json);
	members_text(json, "type", type);
	members_time(json, "timestamp", when_ms);
	jsonw_key(json, "data");
}

enum err
event_write(struct buf *body, const struct audit_entry *entry)
{
	unsigned event = hook_event_of(entry);
	struct jsonw json;

	assert(event != 0);
	begin(&json, body, hook_event_name(event), entry->when_ms);
	if (event >= HOOK_IMPORTED)
		write_other(&json, entry);
	else
		feed_entry_write(&json, entry);
	jsonw_object_end(&json);
	return jsonw_end(&json);
}

enum err
event_write_test(struct buf *body, struct span hook, int64_t now_ms)
{
	struct jsonw json;

	begin(&json, body, SPAN("test"), now_ms);
	jsonw_object_begin(&json);
	members_text(&json, "hook", hook);
	jsonw_object_end(&json);
	jsonw_object_end(&json);
	return jsonw_end(&json);
}

void
event_id(char id[EVENT_ID_MAX], uint64_t number, int64_t when_ms)
{
	snprintf(id, EVENT_ID_MAX, "evt_%llu_%lld", (unsigned long long)number,
	    (long long)when_ms);
}

static void
sign(char text[EVENT_HEADER_MAX], struct span secret, const char *id,
    const char *when, struct span body)
{
	const struct span parts[] = {
	    span_of(id), SPAN("."), span_of(when), SPAN("."), body};
	uint8_t mac[DIGEST_SHA256_LEN];
	struct buf buf;

	digest_hmac_sha256(mac, secret, parts, 5);
	buf_init(&buf, EVENT_HEADER_MAX);
	base64_add(&buf, span_make(mac, sizeof(mac)));
	snprintf(text, EVENT_HEADER_MAX, "webhook-signature: v1,%.*s",
	    SPAN_ARG(buf_span(&buf)));
	buf_fini(&buf);
}

void
event_sign(struct event_headers *headers, struct span secret, const char *id,
    int64_t now_ms, struct span body)
{
	char when[32];

	snprintf(when, sizeof(when), "%lld", (long long)(now_ms / 1000));
	snprintf(headers->texts[0], EVENT_HEADER_MAX,
	    "Content-Type: application/json");
	snprintf(headers->texts[1], EVENT_HEADER_MAX, "webhook-id: %s", id);
	snprintf(
	    headers->texts[2], EVENT_HEADER_MAX, "webhook-timestamp: %s", when);
	sign(headers->texts[3], secret, id, when, body);
	/* No pause before the body. */
	snprintf(headers->texts[4], EVENT_HEADER_MAX, "Expect:");
	for (unsigned i = 0; i < EVENT_HEADERS; i++)
		headers->list[i] = headers->texts[i];
	headers->list[EVENT_HEADERS] = NULL;
}

void
event_secret_text(char text[EVENT_SECRET_TEXT_MAX], struct span secret)
{
	struct buf buf;

	buf_init(&buf, EVENT_SECRET_TEXT_MAX);
	buf_add_span(&buf, SECRET_PREFIX);
	base64_add(&buf, secret);
	span_copy(text, EVENT_SECRET_TEXT_MAX, buf_span(&buf));
	if (buf.data != NULL)
		digest_forget(buf.data, buf.len);
	buf_fini(&buf);
}

bool
event_secret(uint8_t secret[HOOK_SECRET_MAX], size_t *len, struct span text)
{
	return span_starts(text, SECRET_PREFIX) &&
	    base64_bytes(secret, HOOK_SECRET_MAX, len,
		span_from(text, SECRET_PREFIX.len)) &&
	    *len >= HOOK_SECRET_MIN;
}
