#include "common/origin.h"

#include <arpa/inet.h>

#include "common/num.h"

#define NAME_MAX_BYTES 253

static bool
is_letter(char byte)
{
	return (byte >= 'a' && byte <= 'z') || (byte >= 'A' && byte <= 'Z');
}

static bool
is_digit(char byte)
{
	return byte >= '0' && byte <= '9';
}

/* Rejects a point at either end and two in a row: a label is never empty. */
static bool
is_name(struct span host)
{
	bool label = false;

	if (host.len > NAME_MAX_BYTES)
		return false;
	for (size_t i = 0; i < host.len; i++) {
		char byte = host.ptr[i];

		if (byte == '.' && !label)
			return false;
		if (byte != '.' && byte != '-' && byte != '_' &&
		    !is_letter(byte) && !is_digit(byte))
			return false;
		label = byte != '.';
	}
	return label;
}

static bool
is_address_in_brackets(struct span host)
{
	char text[INET6_ADDRSTRLEN];
	struct in6_addr address;

	return host.len > 2 && host.ptr[host.len - 1] == ']' &&
	    span_copy(text, sizeof(text), span_sub(host, 1, host.len - 2)) &&
	    inet_pton(AF_INET6, text, &address) == 1;
}

bool
authority_read(struct authority *out, struct span text)
{
	struct authority at = {.host = text};
	bool brackets = text.len > 0 && text.ptr[0] == '[';
	size_t end = brackets ? span_find(text, ']') : 0;
	int64_t port;

	*out = (struct authority){.port = 0};
	end += span_find(span_from(text, end), ':');
	if (end < text.len) {
		at.host = span_sub(text, 0, end);
		if (!num_int(&port, span_from(text, end + 1), 1, 65535))
			return false;
		at.port = (unsigned)port;
	}
	if (!(brackets ? is_address_in_brackets(at.host) : is_name(at.host)))
		return false;
	*out = at;
	return true;
}

static bool
is_scheme(struct span scheme)
{
	for (size_t i = 0; i < scheme.len; i++) {
		char byte = scheme.ptr[i];

		if (!is_letter(byte) &&
		    (i == 0 ||
			(!is_digit(byte) && byte != '+' && byte != '-' &&
			    byte != '.')))
			return false;
	}
	return scheme.len > 0;
}

bool
origin_read(struct origin *out, struct span text)
{
	size_t colon = span_find(text, ':');
	struct span rest = span_from(text, colon);
	struct origin origin = {.scheme = span_sub(text, 0, colon)};

	*out = (struct origin){.scheme = {NULL, 0}};
	if (!is_scheme(origin.scheme) || !span_starts(rest, SPAN("://")) ||
	    !authority_read(&origin.at, span_from(rest, 3)))
		return false;
	*out = origin;
	return true;
}

unsigned
origin_default_port(struct span scheme)
{
	if (span_eq_nocase(scheme, SPAN("http")))
		return 80;
	return span_eq_nocase(scheme, SPAN("https")) ? 443 : 0;
}

bool
authority_same(
    const struct authority *a, const struct authority *b, unsigned standard)
{
	unsigned port_a = a->port == 0 ? standard : a->port;
	unsigned port_b = b->port == 0 ? standard : b->port;

	return port_a == port_b && span_eq_nocase(a->host, b->host);
}

bool
origin_same(const struct origin *a, const struct origin *b)
{
	return span_eq_nocase(a->scheme, b->scheme) &&
	    authority_same(&a->at, &b->at, origin_default_port(a->scheme));
}

bool
authority_is_loopback(const struct authority *at)
{
	static const char *const names[] = {"localhost", "127.0.0.1", "[::1]"};

	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
		if (span_eq_nocase(at->host, span_of(names[i])))
			return true;
	return false;
}
