/*
 * origin: the authority of an address ("grid.example:8443") and the origin of
 * a web page ("https://grid.example:8443"), as headers carry them.
 *
 * Both are parsed strictly, since access is decided by them: the whole text
 * must match. A host is a name of letters, digits, '-', '_' and inner points,
 * an IPv4 address among them, or an IPv6 address in brackets. A port is a
 * number from 1 to 65535 without sign or leading zeros. There is no user, no
 * path, no blank, no second value behind a comma, and nothing is decoded.
 */
#pragma once

#include <stdbool.h>

#include "common/span.h"

struct authority {
	struct span host; /* as written; an IPv6 address with its brackets */
	unsigned port; /* 0: none is written */
};

struct origin {
	struct span scheme;
	struct authority at;
};

/*
 * False, with *out zeroed, when the text is no such authority. *out borrows
 * from `text`.
 */
bool authority_read(struct authority *out, struct span text);
bool origin_read(struct origin *out, struct span text);

/* 80 for http, 443 for https, else 0. */
unsigned origin_default_port(struct span scheme);

/*
 * Same host, ASCII case ignored, and same port; `standard` replaces a port that
 * is not written.
 */
bool authority_same(
    const struct authority *a, const struct authority *b, unsigned standard);

/*
 * As authority_same(), for origins: the schemes match too, and give the
 * standard port.
 */
bool origin_same(const struct origin *a, const struct origin *b);

/* "localhost", "127.0.0.1" or "[::1]". */
bool authority_is_loopback(const struct authority *at);
