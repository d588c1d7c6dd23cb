#include "lmdb-schema/key.h"

#include <assert.h>
#include <ctype.h>
#include <endian.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/date.h"
#include "common/hex.h"

bool
key_code_ok(struct span code)
{
	if (code.len == 0 || code.len > SCHEMA_CODE_MAX)
		return false;
	for (size_t i = 0; i < code.len; i++)
		if ((unsigned char)code.ptr[i] < 0x20 || code.ptr[i] == 0x7f)
			return false;
	return true;
}

static void
add(struct key *key, const void *bytes, size_t len)
{
	if (len > sizeof(key->bytes) - key->len)
		len = sizeof(key->bytes) - key->len;
	memcpy(key->bytes + key->len, bytes, len);
	key->len += len;
}

struct key
key_prefix(struct span first)
{
	struct key key = {0};

	if (first.len > SCHEMA_CODE_MAX)
		first.len = SCHEMA_CODE_MAX;
	add(&key, first.ptr, first.len);
	add(&key, "", 1);
	return key;
}

struct key
key_pair(struct span first, struct span second)
{
	struct key key = key_prefix(first);

	if (second.len > SCHEMA_CODE_MAX)
		second.len = SCHEMA_CODE_MAX;
	add(&key, second.ptr, second.len);
	return key;
}

struct key
key_of_pair(struct span name, const struct key *pair)
{
	struct key key = key_prefix(name);

	assert(key.len + pair->len <= sizeof(key.bytes));
	add(&key, pair->bytes, pair->len);
	return key;
}

struct key
key_pair_u32(struct span first, uint32_t number)
{
	struct key key = key_prefix(first);

	number = htobe32(number);
	add(&key, &number, sizeof(number));
	return key;
}

struct key
key_pair_u64(struct span first, uint64_t number)
{
	struct key key = key_prefix(first);

	number = htobe64(number);
	add(&key, &number, sizeof(number));
	return key;
}

struct key
key_u16(uint16_t number)
{
	struct key key = {0};

	number = htobe16(number);
	add(&key, &number, sizeof(number));
	return key;
}

struct span
key_first(struct span key)
{
	return span_sub(key, 0, span_find(key, '\0'));
}

struct span
key_second(struct span key)
{
	return span_from(key, span_find(key, '\0') + 1);
}

uint32_t
key_read_u32(struct span bytes)
{
	uint32_t number;

	if (bytes.len != sizeof(number))
		return 0;
	memcpy(&number, bytes.ptr, sizeof(number));
	return be32toh(number);
}

uint64_t
key_read_u64(struct span bytes)
{
	uint64_t number;

	if (bytes.len != sizeof(number))
		return 0;
	memcpy(&number, bytes.ptr, sizeof(number));
	return be64toh(number);
}

uint32_t
key_value_u32(struct span value)
{
	uint32_t number;

	if (value.len != sizeof(number))
		return 0;
	memcpy(&number, value.ptr, sizeof(number));
	return le32toh(number);
}

uint64_t
key_value_u64(struct span value)
{
	uint64_t number;

	if (value.len != sizeof(number))
		return 0;
	memcpy(&number, value.ptr, sizeof(number));
	return le64toh(number);
}

struct key
key_of_u64(uint64_t value)
{
	struct key key = {0};

	value = htole64(value);
	add(&key, &value, sizeof(value));
	return key;
}

void
key_generation_text(char text[KEY_GENERATION_LEN + 1], uint64_t gen)
{
	static const char digits[] = "0123456789abcdef";

	for (unsigned i = KEY_GENERATION_LEN; i-- > 0; gen >>= 4)
		text[i] = digits[gen & 15];
	text[KEY_GENERATION_LEN] = '\0';
}

bool
key_generation(uint64_t *gen, struct span text)
{
	uint64_t value = 0;

	if (text.len != KEY_GENERATION_LEN)
		return false;
	for (size_t i = 0; i < text.len; i++) {
		char digit = text.ptr[i];

		if (digit >= '0' && digit <= '9')
			value = value << 4 | (uint64_t)(digit - '0');
		else if (digit >= 'a' && digit <= 'f')
			value = value << 4 | (uint64_t)(digit - 'a' + 10);
		else
			return false;
	}
	*gen = value;
	return true;
}

uint64_t
key_generation_next(uint64_t last)
{
	uint64_t now = (uint64_t)date_now_ms() * 1000;

	return now > last ? now : last + 1;
}

uint64_t
key_generation_lost(void)
{
	return (uint64_t)date_now_ms() * 1000 + 999;
}

uint64_t
key_generation_last(enum err err, struct span value)
{
	if (err == ERR_DAMAGED)
		return key_generation_lost();
	return err == ERR_OK ? key_value_u64(value) : 0;
}

void
key_file_text(char text[KEY_FILE_MAX], struct span code)
{
	size_t len = 0;

	for (size_t i = 0; i < code.len && len + 3 < KEY_FILE_MAX; i++) {
		unsigned char byte = (unsigned char)code.ptr[i];

		if ((byte >= '0' && byte <= '9') ||
		    (byte >= 'A' && byte <= 'Z') ||
		    (byte >= 'a' && byte <= 'z') || byte == '-' || byte == '_')
			text[len++] = (char)byte;
		else
			len += (size_t)snprintf(
			    text + len, KEY_FILE_MAX - len, "%%%02X", byte);
	}
	text[len] = '\0';
}

struct span
key_file_code(char code[KEY_FILE_MAX], const char *name)
{
	struct span found, rest = span_of(name);
	size_t len = 0;

	while (rest.len > 0 && len + 1 < KEY_FILE_MAX)
		if (!hex_percent(&code[len++], &rest))
			return SPAN("");
	found = span_make(code, len);
	return key_code_ok(found) ? found : SPAN("");
}

static uint64_t
generation_of(const char *name, struct span suffix, bool *temporary)
{
	struct span text = span_of(name);
	uint64_t generation = 0;

	*temporary = span_ends(text, SPAN(".tmp"));
	if (*temporary)
		text.len -= 4;
	if (!span_ends(text, suffix) ||
	    !key_generation(
		&generation, span_sub(text, 0, text.len - suffix.len)))
		return 0;
	return generation;
}

uint64_t
key_file_generation(const char *name, bool *temporary)
{
	return generation_of(name, SPAN(".mdb"), temporary);
}

uint64_t
key_facts_generation(const char *name, bool *temporary)
{
	char suffix[] = "-00.mdb";
	const char *dash = strchr(name, '-');

	if (dash != NULL && strlen(dash) >= sizeof(suffix) - 1 &&
	    isxdigit((unsigned char)dash[1]) &&
	    isxdigit((unsigned char)dash[2]))
		memcpy(suffix + 1, dash + 1, 2);
	return generation_of(
	    name, dash == NULL ? SPAN(".mdb") : span_of(suffix), temporary);
}

uint64_t
key_packed_generation(const char *name, bool *temporary)
{
	static const char *const suffixes[] = {
	    ".rows", ".pages", ".zstd", ".gz"};
	uint64_t generation = 0;

	for (unsigned i = 0; i < 4 && generation == 0; i++)
		generation =
		    generation_of(name, span_of(suffixes[i]), temporary);
	return generation;
}
