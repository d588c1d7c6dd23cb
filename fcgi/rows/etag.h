/* etag: the tag of an answer, and whether the client has that answer. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "fcgi/http/format.h"

struct call;

/* Mixes bytes into a hash, for tags of many generations; begin with 0. */
uint64_t etag_mix(uint64_t hash, const void *data, size_t len);

/*
 * Adds the tag of an answer that depends on these generations, the address and
 * the form. True when the client has that answer: the 304 is then made.
 */
bool etag_matches(struct call *call, const uint64_t *generations,
    unsigned count, enum format format);
