/* No branch and no index depends on the data, so that time tells nothing. */
#include "common/sha256.h"

#include <assert.h>
#include <endian.h>
#include <string.h>

#define ROUNDS 64
#define LENGTH_AT (SHA256_BLOCK - sizeof(uint64_t)) /* of the last block */

/* The fraction of the cube root of the first 64 primes. */
static const uint32_t constants[ROUNDS] = {0x428a2f98, 0x71374491, 0xb5c0fbcf,
    0xe9b5dba5, 0x3956c25b, 0x59f111f1, 0x923f82a4, 0xab1c5ed5, 0xd807aa98,
    0x12835b01, 0x243185be, 0x550c7dc3, 0x72be5d74, 0x80deb1fe, 0x9bdc06a7,
    0xc19bf174, 0xe49b69c1, 0xefbe4786, 0x0fc19dc6, 0x240ca1cc, 0x2de92c6f,
    0x4a7484aa, 0x5cb0a9dc, 0x76f988da, 0x983e5152, 0xa831c66d, 0xb00327c8,
    0xbf597fc7, 0xc6e00bf3, 0xd5a79147, 0x06ca6351, 0x14292967, 0x27b70a85,
    0x2e1b2138, 0x4d2c6dfc, 0x53380d13, 0x650a7354, 0x766a0abb, 0x81c2c92e,
    0x92722c85, 0xa2bfe8a1, 0xa81a664b, 0xc24b8b70, 0xc76c51a3, 0xd192e819,
    0xd6990624, 0xf40e3585, 0x106aa070, 0x19a4c116, 0x1e376c08, 0x2748774c,
    0x34b0bcb5, 0x391c0cb3, 0x4ed8aa4a, 0x5b9cca4f, 0x682e6ff3, 0x748f82ee,
    0x78a5636f, 0x84c87814, 0x8cc70208, 0x90befffa, 0xa4506ceb, 0xbef9a3f7,
    0xc67178f2};

/* The same of the square root of the first eight. */
static const uint32_t start[8] = {0x6a09e667, 0xbb67ae85, 0x3c6ef372,
    0xa54ff53a, 0x510e527f, 0x9b05688c, 0x1f83d9ab, 0x5be0cd19};

static inline uint32_t
turned(uint32_t word, unsigned bits)
{
	return word >> bits | word << (32 - bits);
}

/* The standard's message schedule: sixteen words become 64. */
static void
spread(uint32_t words[ROUNDS], const uint8_t *block)
{
	for (unsigned i = 0; i < 16; i++) {
		memcpy(&words[i], block + 4 * i, sizeof(words[i]));
		words[i] = be32toh(words[i]);
	}
	for (unsigned i = 16; i < ROUNDS; i++) {
		uint32_t a = words[i - 15], b = words[i - 2];

		words[i] = words[i - 16] + words[i - 7] +
		    (turned(a, 7) ^ turned(a, 18) ^ a >> 3) +
		    (turned(b, 17) ^ turned(b, 19) ^ b >> 10);
	}
}

/* The standard's letters a to h are s[0] to s[7]. */
static void
mix(uint32_t state[8], const uint8_t *block)
{
	uint32_t words[ROUNDS], s[8];

	spread(words, block);
	memcpy(s, state, sizeof(s));
	for (unsigned i = 0; i < ROUNDS; i++) {
		uint32_t one = s[7] + constants[i] + words[i] +
		    (turned(s[4], 6) ^ turned(s[4], 11) ^ turned(s[4], 25)) +
		    ((s[4] & s[5]) ^ (~s[4] & s[6]));
		uint32_t two =
		    (turned(s[0], 2) ^ turned(s[0], 13) ^ turned(s[0], 22)) +
		    ((s[0] & s[1]) ^ (s[0] & s[2]) ^ (s[1] & s[2]));

		memmove(s + 1, s, 7 * sizeof(s[0]));
		s[4] += one;
		s[0] = one + two;
	}
	for (unsigned i = 0; i < 8; i++)
		state[i] += s[i];
	explicit_bzero(words, sizeof(words));
}

void
sha256_begin(struct sha256 *sha)
{
	assert(sha != NULL);
	memcpy(sha->state, start, sizeof(start));
	sha->len = 0;
}

void
sha256_add(struct sha256 *sha, struct span data)
{
	size_t held = sha->len % SHA256_BLOCK;
	const char *at = data.ptr;
	size_t left = data.len;

	assert(data.ptr != NULL || data.len == 0);
	sha->len += left;
	while (left >= SHA256_BLOCK - held) {
		size_t taken = SHA256_BLOCK - held;

		if (held == 0)
			mix(sha->state, (const uint8_t *)at);
		else {
			memcpy(sha->block + held, at, taken);
			mix(sha->state, sha->block);
		}
		at += taken;
		left -= taken;
		held = 0;
	}
	if (left > 0)
		memcpy(sha->block + held, at, left);
}

/* A bit, zeros, and the number of bits fill the last block. */
void
sha256_end(struct sha256 *sha, uint8_t out[SHA256_LEN])
{
	size_t held = sha->len % SHA256_BLOCK;
	uint64_t bits = htobe64(sha->len * 8);

	sha->block[held++] = 0x80;
	memset(sha->block + held, 0, SHA256_BLOCK - held);
	if (held > LENGTH_AT) {
		mix(sha->state, sha->block);
		memset(sha->block, 0, SHA256_BLOCK);
	}
	memcpy(sha->block + LENGTH_AT, &bits, sizeof(bits));
	mix(sha->state, sha->block);
	for (unsigned i = 0; i < 8; i++) {
		uint32_t word = htobe32(sha->state[i]);

		memcpy(out + 4 * i, &word, sizeof(word));
	}
	explicit_bzero(sha, sizeof(*sha));
}

void
sha256_hash(uint8_t out[SHA256_LEN], struct span data)
{
	struct sha256 sha;

	sha256_begin(&sha);
	sha256_add(&sha, data);
	sha256_end(&sha, out);
}
