/*
 * digest: hashes, random bytes and comparisons that leak no time. The door to
 * OpenSSL.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "common/err.h"
#include "common/span.h"

#define DIGEST_SHA256_LEN 32
#define DIGEST_PASSWORD_MAX 160

void digest_sha256(uint8_t out[DIGEST_SHA256_LEN], struct span data);

/* Lower-case hex with a NUL; `text` has room for 2 * len + 1. */
void digest_hex(char *text, const uint8_t *bytes, size_t len);

/* False when it is not exactly 2 * len hex digits. */
bool digest_unhex(uint8_t *bytes, size_t len, struct span text);

/* Letters and digits only, from the system's random source. */
enum err digest_random_text(char *text, size_t len); /* plus a NUL */
enum err digest_random(void *bytes, size_t len);

/* Takes the same time wherever they differ. */
bool digest_equal(const void *a, const void *b, size_t len);

/* The same for texts: both are hashed first, so lengths do not show. */
bool digest_equal_text(struct span a, struct span b);

/*
 * A password as "scrypt$N$r$p$salt$hash", by a memory-hard function (about
 * 64 MB and a tenth of a second); and the check of one against it. A NULL
 * `stored` takes the same time and gives false, for users that do not exist.
 */
enum err digest_password_make(
    char stored[DIGEST_PASSWORD_MAX], struct span password);
bool digest_password_check(const char *stored, struct span password);

/* Whether it has that form at all: the checks of what is stored ask. */
bool digest_password_ok(struct span stored);

/* Overwrites a secret so that the compiler cannot leave it out. */
void digest_forget(void *secret, size_t len);
