/*
 * Eight bytes of text at once, as one word.
 *
 * A mark is the high bit of a byte. A byte above a marked byte may be marked
 * without reason, as the subtraction borrows from it: marks tell whether all
 * eight bytes are plain, and not which of them is not.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#define WORD8_EACH(byte) (UINT64_C(0x0101010101010101) * (byte))

static inline uint64_t
word8_load(const char *at)
{
	uint64_t word;

	memcpy(&word, at, sizeof(word));
	return word;
}

/* Marks bytes that are `byte`, which is ASCII. */
static inline uint64_t
word8_equal(uint64_t word, char byte)
{
	uint64_t zero = word ^ WORD8_EACH((unsigned char)byte);

	return (zero - WORD8_EACH(0x01)) & ~zero;
}

/* Marks control characters, and what is not ASCII. */
static inline uint64_t
word8_unprintable(uint64_t word)
{
	return word | (word - WORD8_EACH(0x20));
}

static inline bool
word8_marked(uint64_t marks)
{
	return (marks & WORD8_EACH(0x80)) != 0;
}

/*
 * Copies `len` bytes and returns marks of those that are `byte`, which is ASCII
 * and not NUL. Short texts take no call, and no loop that ends sooner or later.
 */
static inline uint64_t
word8_copy(char *to, const char *from, size_t len, char byte)
{
	uint64_t word, marks = 0;

	if (len >= sizeof(word)) {
		for (size_t at = 0; at < len - sizeof(word);
		     at += sizeof(word)) {
			word = word8_load(from + at);
			memcpy(to + at, &word, sizeof(word));
			marks |= word8_equal(word, byte);
		}
		word = word8_load(from + len - sizeof(word));
		memcpy(to + len - sizeof(word), &word, sizeof(word));
	} else if (len >= sizeof(uint32_t)) {
		uint32_t first, last;

		memcpy(&first, from, sizeof(first));
		memcpy(&last, from + len - sizeof(last), sizeof(last));
		memcpy(to, &first, sizeof(first));
		memcpy(to + len - sizeof(last), &last, sizeof(last));
		word = (uint64_t)last << 32 | first;
	} else {
		word = 0;
		for (size_t at = 0; at < len; at++) {
			to[at] = from[at];
			word = word << 8 | (unsigned char)from[at];
		}
	}
	return marks | word8_equal(word, byte);
}
