/* base64: bytes as text, with padding and without line breaks (RFC 4648). */
#pragma once

#include "common/buf.h"
#include "common/span.h"

void base64_add(struct buf *buf, struct span bytes);
