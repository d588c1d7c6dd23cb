/*
 * Digits are parsed and written without strtod, printf or the locale; writing
 * goes two digits at a time.
 */
#include "common/num.h"

#define INT_DIGITS_MAX 19 /* of INT64_MAX */
#define WHOLE_DIGITS_MAX 13 /* of INT64_MAX / NUM_MICRO */
#define FRACTION_DIGITS 6

const char num_pairs[201] = "00010203040506070809"
			    "10111213141516171819"
			    "20212223242526272829"
			    "30313233343536373839"
			    "40414243444546474849"
			    "50515253545556575859"
			    "60616263646566676869"
			    "70717273747576777879"
			    "80818283848586878889"
			    "90919293949596979899";

/* Gives `magnitude` its sign; false when int64_t cannot hold the value. */
static inline bool
with_sign(int64_t *out, uint64_t magnitude, bool negative)
{
	if (magnitude > (uint64_t)INT64_MAX + negative)
		return false;
	*out = (int64_t)(negative ? -magnitude : magnitude);
	return true;
}

bool
num_int(int64_t *out, struct span text, int64_t min, int64_t max)
{
	const char *at = text.ptr;
	size_t len = text.len;
	uint64_t magnitude = 0;
	bool negative = false;
	int64_t value;

	if (min < 0 && len > 0 && *at == '-') {
		negative = true;
		at++;
		len--;
	}
	if (len == 0 || len > INT_DIGITS_MAX || (*at == '0' && len > 1))
		return false;
	for (size_t i = 0; i < len; i++) {
		unsigned digit = (unsigned char)at[i] - (unsigned)'0';

		if (digit > 9)
			return false;
		magnitude = magnitude * 10 + digit;
	}
	if (!with_sign(&value, magnitude, negative) || value < min ||
	    value > max)
		return false;
	*out = value;
	return true;
}

/*
 * The digits before the point, at most WHOLE_DIGITS_MAX behind leading zeros.
 * Returns where they end, or NULL when there are none or too many.
 */
static inline const char *
read_whole(uint64_t *out, const char *at, const char *end)
{
	const char *start = at;
	uint64_t value = 0;

	while (at < end && *at == '0')
		start = ++at;
	for (; at < end; at++) {
		unsigned digit = (unsigned char)*at - (unsigned)'0';

		if (digit > 9)
			break;
		if (at - start == WHOLE_DIGITS_MAX)
			return NULL;
		value = value * 10 + digit;
	}
	*out = value;
	return at;
}

/* The digits behind the point, in millionths; they reach to `end`. */
static inline bool
read_fraction(uint64_t *out, const char *at, const char *end)
{
	static const uint32_t scale[FRACTION_DIGITS + 1] = {
	    1000000, 100000, 10000, 1000, 100, 10, 1};
	unsigned count = 0;
	uint64_t value = 0;

	for (; at < end && count < FRACTION_DIGITS; at++, count++) {
		unsigned digit = (unsigned char)*at - (unsigned)'0';

		if (digit > 9)
			return false;
		value = value * 10 + digit;
	}
	for (; at < end; at++)
		if (*at != '0')
			return false;
	*out = value * scale[count];
	return count > 0;
}

bool
num_decimal(int64_t *out_micro, struct span text)
{
	const char *at = text.ptr;
	const char *end;
	const char *digits;
	uint64_t whole = 0;
	uint64_t fraction = 0;
	bool negative = false;
	int64_t value;

	if (text.len == 0)
		return false;
	end = at + text.len;
	if (*at == '-') {
		negative = true;
		at++;
	}
	digits = at;
	at = read_whole(&whole, at, end);
	if (at == NULL || at == digits)
		return false;
	if (at < end && (*at != '.' || !read_fraction(&fraction, at + 1, end)))
		return false;
	/* 13 digits and six: below 10^19, so that 64 bits hold it. */
	if (!with_sign(&value, whole * NUM_MICRO + fraction, negative) ||
	    value == NUM_NULL)
		return false;
	*out_micro = value;
	return true;
}

/* Writes the digits and returns where they end. */
static inline char *
put_unsigned(char *to, uint64_t value)
{
	char digits[20];
	char *at = digits + sizeof(digits);
	size_t len;

	while (value >= 100) {
		uint64_t rest = value / 100;

		at -= 2;
		num_put_pair(at, (unsigned)(value - rest * 100));
		value = rest;
	}
	if (value >= 10) {
		at -= 2;
		num_put_pair(at, (unsigned)value);
	} else
		*--at = (char)('0' + value);
	len = (size_t)(digits + sizeof(digits) - at);
	memcpy(to, at, len);
	return to + len;
}

/* Writes the sign, returns the magnitude. */
static inline uint64_t
put_sign(char **to, int64_t value)
{
	if (value >= 0)
		return (uint64_t)value;
	*(*to)++ = '-';
	return -(uint64_t)value;
}

size_t
num_int_text(char text[NUM_TEXT_MAX], int64_t value)
{
	char *to = text;
	uint64_t magnitude = put_sign(&to, value);

	to = put_unsigned(to, magnitude);
	*to = '\0';
	return (size_t)(to - text);
}

size_t
num_decimal_text(char text[NUM_TEXT_MAX], int64_t micro)
{
	char *to = text;
	uint64_t magnitude = put_sign(&to, micro);
	uint64_t whole = magnitude / (uint64_t)NUM_MICRO;
	unsigned fraction = (unsigned)(magnitude % (uint64_t)NUM_MICRO);

	to = put_unsigned(to, whole);
	if (fraction != 0) {
		*to++ = '.';
		num_put_pair(to, fraction / 10000);
		num_put_pair(to + 2, fraction / 100 % 100);
		num_put_pair(to + 4, fraction % 100);
		to += FRACTION_DIGITS;
		while (to[-1] == '0')
			to--;
	}
	*to = '\0';
	return (size_t)(to - text);
}

/* Writes in place where there is room, so that the ceiling stays exact. */
void
num_add_decimal(struct buf *buf, int64_t micro)
{
	char text[NUM_TEXT_MAX];

	if (buf->err == ERR_OK && buf->cap - buf->len >= sizeof(text))
		buf->len += num_decimal_text(buf->data + buf->len, micro);
	else
		buf_add(buf, text, num_decimal_text(text, micro));
}

void
num_add_int(struct buf *buf, int64_t value)
{
	char text[NUM_TEXT_MAX];

	if (buf->err == ERR_OK && buf->cap - buf->len >= sizeof(text))
		buf->len += num_int_text(buf->data + buf->len, value);
	else
		buf_add(buf, text, num_int_text(text, value));
}

static inline unsigned __int128
magnitude_of(__int128 value)
{
	return value < 0 ? -(unsigned __int128)value : (unsigned __int128)value;
}

/*
 * part * 10^6 / bottom, rounded, where part < bottom <= 2^127: by shifting and
 * adding, as the product may need more than 128 bits.
 */
static uint64_t
scaled_quotient(unsigned __int128 part, unsigned __int128 bottom)
{
	unsigned __int128 rest = 0;
	uint64_t quotient = 0;

	for (int bit = 19; bit >= 0; bit--) {
		quotient *= 2;
		rest *= 2;
		if (rest >= bottom) {
			rest -= bottom;
			quotient++;
		}
		if ((NUM_MICRO >> bit & 1) == 0)
			continue;
		rest += part;
		if (rest >= bottom) {
			rest -= bottom;
			quotient++;
		}
	}
	return quotient + (rest >= bottom - rest);
}

/* Both below 2^64; the quotient in millionths, or UINT64_MAX for too much. */
static inline uint64_t
quotient_64(uint64_t top, uint64_t bottom)
{
	uint64_t scaled;

	if (!__builtin_mul_overflow(top, (uint64_t)NUM_MICRO, &scaled)) {
		uint64_t quotient = scaled / bottom;
		uint64_t rest = scaled - quotient * bottom;

		return quotient + (rest >= bottom - rest);
	}
	return UINT64_MAX;
}

/* Any size; UINT64_MAX for too much. */
static uint64_t
quotient_128(unsigned __int128 top, unsigned __int128 bottom)
{
	unsigned __int128 whole = top / bottom;

	if (whole > INT64_MAX / NUM_MICRO)
		return UINT64_MAX;
	return (uint64_t)whole * NUM_MICRO +
	    scaled_quotient(top - whole * bottom, bottom);
}

int64_t
num_ratio(__int128 top, __int128 bottom)
{
	unsigned __int128 t = magnitude_of(top);
	unsigned __int128 b = magnitude_of(bottom);
	uint64_t quotient = UINT64_MAX;
	int64_t value;

	if (b == 0)
		return NUM_NULL;
	if (t <= UINT64_MAX / NUM_MICRO && b <= UINT64_MAX)
		quotient = quotient_64((uint64_t)t, (uint64_t)b);
	else
		quotient = quotient_128(t, b);
	if (!with_sign(&value, quotient, (top < 0) != (bottom < 0)))
		return NUM_NULL;
	return value;
}

int64_t
num_times(int64_t a_micro, int64_t b_micro)
{
	__int128 product = (__int128)a_micro * b_micro;
	unsigned __int128 half = NUM_MICRO / 2;
	unsigned __int128 rounded;
	int64_t value;

	if (a_micro == NUM_NULL || b_micro == NUM_NULL)
		return NUM_NULL;
	rounded = (magnitude_of(product) + half) / NUM_MICRO;
	if (rounded > INT64_MAX)
		return NUM_NULL;
	value = (int64_t)rounded;
	return product < 0 ? -value : value;
}

bool
num_add(int64_t *out, int64_t a, int64_t b)
{
	int64_t sum;

	if (__builtin_add_overflow(a, b, &sum) || sum == NUM_NULL)
		return false;
	*out = sum;
	return true;
}

int64_t
num_round_units(int64_t micro)
{
	int64_t half = micro < 0 ? -NUM_MICRO / 2 : NUM_MICRO / 2;
	int64_t whole = micro / NUM_MICRO;
	int64_t rest = micro % NUM_MICRO;

	if (micro == NUM_NULL)
		return NUM_NULL;
	return whole + (rest + half) / NUM_MICRO;
}
