/*
 * Checksums of pairs: each value is followed by the checksum of its key and the
 * value. Covering the key detects a value that ended up beside another key.
 */
#include <assert.h>
#include <endian.h>
#include <stdio.h>
#include <string.h>

#include "common/kv/kv_priv.h"
#include "common/log.h"

void
kv_keep_sums(
    struct kv *kv, uint32_t (*sum)(uint32_t sum, const void *bytes, size_t len))
{
	assert(kv->sum == NULL || kv->sum == sum);
	kv->sum = sum;
}

const char *
kv_table_name(const struct kv *kv, unsigned table)
{
	return table < kv->table_count ? kv->names[table] : "";
}

void
kv_key_text(char text[KV_KEY_TEXT_MAX], struct span key)
{
	const size_t room = KV_KEY_TEXT_MAX - sizeof("\\xNN...");
	size_t at = 0;

	assert(text != NULL);
	for (size_t i = 0; i < key.len; i++) {
		unsigned char byte = (unsigned char)key.ptr[i];

		if (at > room) {
			memcpy(text + at, "...", 3);
			at += 3;
			break;
		}
		if (byte > ' ' && byte < 0x7f && byte != '\\')
			text[at++] = (char)byte;
		else
			at += (size_t)snprintf(
			    text + at, sizeof("\\xNN"), "\\x%02x", byte);
	}
	text[at] = '\0';
}

uint32_t
kv_sum_of(const struct kv *kv, struct span key, struct span value)
{
	uint32_t sum = kv->sum(0, key.ptr, key.len);

	/*
	 * An empty value may have a NULL pointer, for which zlib would start
	 * over.
	 */
	if (value.len > 0)
		sum = kv->sum(sum, value.ptr, value.len);
	return htole32(sum);
}

/* Log a record once: repeated requests for it would fill the log. */
static enum err
tell_damaged(struct kv *kv, unsigned table, struct span key, uint32_t sum)
{
	char text[KV_KEY_TEXT_MAX];

	if (atomic_exchange(&kv->told_sum, sum) == sum)
		return ERR_DAMAGED;
	kv_key_text(text, key);
	log_error("storage: a record does not match its checksum: file=%s "
		  "table=%s key=%s",
	    kv->path, kv_table_name(kv, table), text);
	return ERR_DAMAGED;
}

enum err
kv_take_sum(struct kv *kv, unsigned table, struct span key, struct span *value)
{
	struct span whole = *value;
	uint32_t kept, sum;

	if (kv->sum == NULL)
		return ERR_OK;
	*value = span_make(NULL, 0);
	if (whole.len < KV_SUM_BYTES)
		return tell_damaged(
		    kv, table, key, ~kv_sum_of(kv, key, SPAN("")));
	whole.len -= KV_SUM_BYTES;
	memcpy(&kept, whole.ptr + whole.len, KV_SUM_BYTES);
	sum = kv_sum_of(kv, key, whole);
	if (sum != kept)
		return tell_damaged(kv, table, key, sum);
	*value = whole;
	return ERR_OK;
}
