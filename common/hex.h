/*
 * hex: bytes as hexadecimal digits, and the %XX of addresses.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "common/span.h"

/* The value of a digit of either case; -1 for what is none. */
static inline int
hex_digit(char c)
{
	if (c >= '0' && c <= '9')
		return c - '0';
	if (c >= 'a' && c <= 'f')
		return c - 'a' + 10;
	if (c >= 'A' && c <= 'F')
		return c - 'A' + 10;
	return -1;
}

/* Lower-case digits with a NUL; `text` has room for 2 * len + 1. */
void hex_text(char *text, const uint8_t *bytes, size_t len);

/* False when `text` is not exactly 2 * len digits. */
bool hex_bytes(uint8_t *bytes, size_t len, struct span text);

/*
 * Takes a byte off the front of *rest (which is not empty), where %XX is one.
 * False for a % without two digits behind it; *byte is then the % itself.
 */
bool hex_percent(char *byte, struct span *rest);
