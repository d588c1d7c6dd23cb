/*
 * digest: hashes, random bytes and comparisons that leak no time. The door to
 * OpenSSL, which digest_sha256(), digest_parts_*() and digest_password_*() need:
 * the first call of one loads its library, and ends the program, with a word to
 * the log, where that fails.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "common/err.h"
#include "common/span.h"

#define DIGEST_SHA256_LEN 32
#define DIGEST_PASSWORD_MAX 160

/*
 * Loads the library, for a program that must not end later, and forks. As
 * library_load(), from any thread.
 */
enum err digest_load(struct fault *fault);

void digest_sha256(uint8_t out[DIGEST_SHA256_LEN], struct span data);

/*
 * SHA-256 of data that come in parts. Each part counts with its length, so that
 * "ab", "c" and "a", "bc" differ. One digest after another: digest_parts_end()
 * begins the next. ERR_NO_MEMORY, also for a part before.
 */
struct digest_parts;
enum err digest_parts_new(struct digest_parts **out);
void digest_parts_add(struct digest_parts *parts, struct span part);

/* The same without its length: bytes in as many pieces as may be. */
void digest_parts_more(struct digest_parts *parts, struct span bytes);
enum err digest_parts_end(
    struct digest_parts *parts, uint8_t out[DIGEST_SHA256_LEN]);
void digest_parts_free(struct digest_parts *parts);

/* HMAC-SHA256 (RFC 2104) of the parts, one behind the other. */
void digest_hmac_sha256(uint8_t out[DIGEST_SHA256_LEN], struct span key,
    const struct span *parts, size_t count);

/* Letters and digits only, from the system's random source. */
enum err digest_random_text(char *text, size_t len); /* plus a NUL */
enum err digest_random(void *bytes, size_t len);

/* Takes the same time wherever the inputs differ. */
bool digest_equal(const void *a, const void *b, size_t len);

/*
 * As digest_equal(), for texts: both are hashed first, so that their lengths do
 * not leak.
 */
bool digest_equal_text(struct span a, struct span b);

/*
 * A password as "scrypt$N$r$p$salt$hash", by a memory-hard function (about 64
 * MB and a tenth of a second); and the check of a password against such a text.
 * A NULL `stored`, for a user that does not exist, takes the same time and
 * gives false.
 */
enum err digest_password_make(
    char stored[DIGEST_PASSWORD_MAX], struct span password);
bool digest_password_check(const char *stored, struct span password);

/* Whether `stored` has that form; used by `gridctl check`. */
bool digest_password_ok(struct span stored);

/* Overwrites a secret; the compiler cannot optimise the write away. */
void digest_forget(void *secret, size_t len);
