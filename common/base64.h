/* base64: bytes as text, with padding and without line breaks (RFC 4648). */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "common/buf.h"
#include "common/span.h"

void base64_add(struct buf *buf, struct span bytes);

/*
 * The reverse, with or without padding; `to` may be where the text is. False for
 * other text, and for more than `size` bytes.
 */
bool base64_bytes(uint8_t *to, size_t size, size_t *len, struct span text);
