/*
 * pack: a compact encoding of numbers and short texts, read strictly.
 *
 *	unsigned  7 bits a byte, least significant first, high bit = more:
 *	          300 is AC 02
 *	signed    zigzag, then as unsigned: -1 is 01
 *	decimal   0 is null; else 1 + zigzag(digits) * 7 + places, where the
 *	          value is digits / 10^places, places 0..6 and as few as will do:
 *	          12.5 is digits 125, places 1: 1 + 250 * 7 + 1 = 1752 = D8 0D
 *	text      its length as unsigned, then its bytes; null has length 0
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "common/buf.h"
#include "common/span.h"

/* Longest form of one packed number. */
#define PACK_NUMBER_MAX 10

/* Write at `to`, which must have room; return the end. */
uint8_t *pack_unsigned(uint8_t *to, uint64_t value);
uint8_t *pack_signed(uint8_t *to, int64_t value);

/* NUM_NULL gives null. Values within ±5e11 units fit, see pack_fits(). */
uint8_t *pack_decimal(uint8_t *to, int64_t micro);
bool pack_fits(int64_t micro);

void pack_add_unsigned(struct buf *buf, uint64_t value);
void pack_add_signed(struct buf *buf, int64_t value);
void pack_add_decimal(struct buf *buf, int64_t micro);
void pack_add_text(struct buf *buf, struct span text);

/* A reading position. After the first bad byte every value reads as zero. */
struct unpack {
	const uint8_t *at;
	const uint8_t *end;
	bool bad;
};

void unpack_init(struct unpack *from, struct span bytes);

uint64_t unpack_unsigned_slow(struct unpack *from);

/* Nearly all numbers have one to three bytes. */
static inline uint64_t
unpack_unsigned(struct unpack *from)
{
	const uint8_t *at = from->at;

	if (from->end - at < 3)
		return unpack_unsigned_slow(from);
	if (at[0] < 0x80) {
		from->at = at + 1;
		return at[0];
	}
	if (at[1] < 0x80) {
		from->at = at + 2;
		return (at[0] & 0x7fu) | (uint64_t)at[1] << 7;
	}
	if (at[2] < 0x80) {
		from->at = at + 3;
		return (at[0] & 0x7fu) | (at[1] & 0x7fu) << 7 |
		    (uint64_t)at[2] << 14;
	}
	return unpack_unsigned_slow(from);
}

/* Skips one number of any kind. */
static inline void
unpack_skip(struct unpack *from)
{
	while (from->at < from->end && *from->at >= 0x80)
		from->at++;
	if (from->at < from->end)
		from->at++;
	else
		from->bad = true;
}

int64_t unpack_signed(struct unpack *from);
int64_t unpack_decimal(struct unpack *from);
struct span unpack_text(struct unpack *from);

/* True when all bytes were read and none was bad. */
bool unpack_done(const struct unpack *from);
