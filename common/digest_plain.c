/* The part of digest.h that needs no OpenSSL: a program with no other use of it
 * does not load its library. */
#include "common/digest.h"

#include <assert.h>
#include <errno.h>
#include <string.h>
#include <sys/random.h>

#include "common/log.h"
#include "common/sha256.h"

void
digest_hmac_sha256(uint8_t out[DIGEST_SHA256_LEN], struct span key,
    const struct span *parts, size_t count)
{
	uint8_t block[SHA256_BLOCK] = {0};
	struct span padded = span_make((const char *)block, sizeof(block));
	struct sha256 sha;

	if (key.len > sizeof(block))
		sha256_hash(block, key);
	else if (key.len > 0)
		memcpy(block, key.ptr, key.len);
	for (size_t i = 0; i < sizeof(block); i++)
		block[i] ^= 0x36;
	sha256_begin(&sha);
	sha256_add(&sha, padded);
	for (size_t i = 0; i < count; i++)
		sha256_add(&sha, parts[i]);
	sha256_end(&sha, out);
	for (size_t i = 0; i < sizeof(block); i++)
		block[i] ^= 0x36 ^ 0x5c;
	sha256_begin(&sha);
	sha256_add(&sha, padded);
	sha256_add(&sha, span_make((const char *)out, SHA256_LEN));
	sha256_end(&sha, out);
	digest_forget(block, sizeof(block));
}

enum err
digest_random(void *bytes, size_t len)
{
	uint8_t *at = bytes;

	assert(bytes != NULL || len == 0);
	while (len > 0) {
		ssize_t got = getrandom(at, len, 0);

		if (got < 0 && errno == EINTR)
			continue;
		if (got < 0) {
			log_error("random source failed: %s", strerror(errno));
			return ERR_SYSTEM;
		}
		at += got;
		len -= (size_t)got;
	}
	return ERR_OK;
}

enum err
digest_random_text(char *text, size_t len)
{
	static const char letters[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZ"
				      "abcdefghijklmnopqrstuvwxyz0123456789";
	const size_t count = sizeof(letters) - 1;
	uint8_t bytes[64];
	enum err err = ERR_OK;
	size_t done = 0;

	assert(text != NULL);
	while (done < len && err == ERR_OK) {
		err = digest_random(bytes, sizeof(bytes));
		for (size_t i = 0; i < sizeof(bytes) && done < len; i++)
			/*
			 * 248 is 4 * 62: accepting larger bytes would favour
			 * some characters.
			 */
			if (err == ERR_OK && bytes[i] < 256 / count * count)
				text[done++] = letters[bytes[i] % count];
	}
	text[err == ERR_OK ? done : 0] = '\0';
	digest_forget(bytes, sizeof(bytes));
	return err;
}

bool
digest_equal(const void *a, const void *b, size_t len)
{
	const volatile uint8_t *one = a, *two = b;
	uint8_t differ = 0;

	assert((a != NULL && b != NULL) || len == 0);
	for (size_t i = 0; i < len; i++)
		differ |= one[i] ^ two[i];
	return differ == 0;
}

bool
digest_equal_text(struct span a, struct span b)
{
	uint8_t hash_a[DIGEST_SHA256_LEN];
	uint8_t hash_b[DIGEST_SHA256_LEN];

	sha256_hash(hash_a, a);
	sha256_hash(hash_b, b);
	return digest_equal(hash_a, hash_b, sizeof(hash_a));
}

void
digest_forget(void *secret, size_t len)
{
	assert(secret != NULL || len == 0);
	if (len > 0)
		explicit_bzero(secret, len);
}
