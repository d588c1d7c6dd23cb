/*
 * event: an entry of the trail as a hook is told of it, signed as Standard
 * Webhooks say: docs/api.md describes both.
 */
#pragma once

#include <stdint.h>

#include "common/buf.h"
#include "lmdb-schema/state/hook.h"

#define EVENT_BODY_MAX (64 << 10)
#define EVENT_HEADERS 5 /* and a NULL */
#define EVENT_HEADER_MAX 200
#define EVENT_ID_MAX 64

/* The body; `entry` is one that hook_event_of() knows. */
enum err event_write(struct buf *body, const struct audit_entry *entry);

/* The body of an event that says nothing, for tries. */
enum err event_write_test(struct buf *body, struct span hook, int64_t now_ms);

/*
 * The same for each try: with the time in it, another trail, from a backup, has
 * other ids.
 */
void event_id(char id[EVENT_ID_MAX], uint64_t number, int64_t when_ms);

/* Signed headers of a try at `now_ms`. */
struct event_headers {
	char texts[EVENT_HEADERS][EVENT_HEADER_MAX];
	const char *list[EVENT_HEADERS + 1];
};
void event_sign(struct event_headers *headers, struct span secret,
    const char *id, int64_t now_ms, struct span body);

/* "whsec_" and base64, and back: false for other text, or a wrong length. */
#define EVENT_SECRET_TEXT_MAX 128
void event_secret_text(char text[EVENT_SECRET_TEXT_MAX], struct span secret);
bool event_secret(
    uint8_t secret[HOOK_SECRET_MAX], size_t *len, struct span text);
