/*
 * Aumasson and Bernstein, "SipHash: a fast short-input PRF" (2012), with the
 * 128-bit result of their reference code. Words are little-endian:
 *
 *	v0..v3 = constants ^ key
 *	each 8 bytes m:  v3 ^= m, two rounds, v0 ^= m
 *	the last word:   the bytes left over, and the length in the top byte
 *	v2 ^= 0xee, four rounds: the first 64 bits are v0 ^ v1 ^ v2 ^ v3
 *	v1 ^= 0xdd, four rounds: the other 64 bits likewise
 */
#include "common/siphash.h"

#include <assert.h>
#include <endian.h>
#include <string.h>

static inline uint64_t
rotated(uint64_t word, unsigned bits)
{
	return word << bits | word >> (64 - bits);
}

static inline void
rounds(uint64_t v[4], unsigned count)
{
	while (count-- > 0) {
		v[0] += v[1];
		v[2] += v[3];
		v[1] = rotated(v[1], 13) ^ v[0];
		v[3] = rotated(v[3], 16) ^ v[2];
		v[0] = rotated(v[0], 32);
		v[2] += v[1];
		v[0] += v[3];
		v[1] = rotated(v[1], 17) ^ v[2];
		v[3] = rotated(v[3], 21) ^ v[0];
		v[2] = rotated(v[2], 32);
	}
}

static inline void
add_word(uint64_t v[4], uint64_t word)
{
	v[3] ^= word;
	rounds(v, 2);
	v[0] ^= word;
}

static void
put_word(uint8_t *out, const uint64_t v[4])
{
	uint64_t word = htole64(v[0] ^ v[1] ^ v[2] ^ v[3]);

	memcpy(out, &word, sizeof(word));
}

void
siphash(uint8_t out[SIPHASH_LEN], const uint8_t key[SIPHASH_KEY_LEN],
    struct span data)
{
	size_t whole = data.len / 8 * 8;
	uint64_t k[2], v[4], word;

	assert(data.ptr != NULL || data.len == 0);
	memcpy(k, key, sizeof(k));
	k[0] = le64toh(k[0]);
	k[1] = le64toh(k[1]);
	v[0] = UINT64_C(0x736f6d6570736575) ^ k[0];
	v[1] = UINT64_C(0x646f72616e646f6d) ^ k[1] ^ 0xee;
	v[2] = UINT64_C(0x6c7967656e657261) ^ k[0];
	v[3] = UINT64_C(0x7465646279746573) ^ k[1];
	for (size_t i = 0; i < whole; i += 8) {
		memcpy(&word, data.ptr + i, sizeof(word));
		add_word(v, le64toh(word));
	}
	word = 0;
	if (data.len > whole)
		memcpy(&word, data.ptr + whole, data.len - whole);
	add_word(v, le64toh(word) | (uint64_t)data.len << 56);
	v[2] ^= 0xee;
	rounds(v, 4);
	put_word(out, v);
	v[1] ^= 0xdd;
	rounds(v, 4);
	put_word(out + 8, v);
}
