/*
 * sha256: SHA-256 (FIPS 180-4) for programs that need nothing else of OpenSSL,
 * whose library takes 1.4 MB of each process. OpenSSL's, behind digest_sha256(),
 * is several times faster on long data.
 */
#pragma once

#include <stdint.h>

#include "common/span.h"

#define SHA256_LEN 32
#define SHA256_BLOCK 64

struct sha256 {
	uint32_t state[8];
	uint64_t len; /* bytes so far */
	uint8_t block[SHA256_BLOCK]; /* the last ones, not hashed yet */
};

/* Begin, add any number of times, end; the end wipes what was hashed. */
void sha256_begin(struct sha256 *sha);
void sha256_add(struct sha256 *sha, struct span data);
void sha256_end(struct sha256 *sha, uint8_t out[SHA256_LEN]);

/* In one call. */
void sha256_hash(uint8_t out[SHA256_LEN], struct span data);
