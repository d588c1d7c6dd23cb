/*
 * Eight bytes of text at once, as one word.
 *
 * A mark is the high bit of a byte. A byte above a marked byte may be marked
 * without reason, as the subtraction borrows from it: marks tell whether all
 * eight bytes are plain, and not which of them is not.
 */
#pragma once

#include <stdbool.h>
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
