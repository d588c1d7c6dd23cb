/*
 * siphash: SipHash-2-4 with 128 bits of result: a keyed hash of short texts,
 * far cheaper than SHA-256. Without the key, the text cannot be recovered from
 * the hash, and no other text with the same hash can be constructed.
 */
#pragma once

#include <stdint.h>

#include "common/span.h"

#define SIPHASH_KEY_LEN 16
#define SIPHASH_LEN 16

/* `key` is random and never leaves the process. */
void siphash(uint8_t out[SIPHASH_LEN], const uint8_t key[SIPHASH_KEY_LEN],
    struct span data);
