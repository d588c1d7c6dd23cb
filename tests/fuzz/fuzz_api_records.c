/*
 * FastCGI records as a peer sends them on one kept connection: requests are
 * taken from it one behind the other, as a worker does, until one is refused or
 * the bytes end. What libfcgi makes of a head that was found sound is what the
 * head says, and the bytes of the body are those that were sent.
 *
 * The first byte says how many bytes are sent at a time; 0: all.
 */
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "common/buf.h"
#include "fcgi/process/fcgiparams.h"
#include "fcgi/process/incoming.h"
#include "tests/fuzz/fuzz.h"

#define HEADS_LEN 24 /* before the parameters: BEGIN_REQUEST, and PARAMS's */
#define END_LEN 8
#define BODY_MAX 2000

static struct incoming in;
static struct fcgiparams *params;

static void
begin(void)
{
	FUZZ_CHECK(incoming_init(&in) == ERR_OK);
	FUZZ_CHECK(fcgiparams_begin() == ERR_OK);
	FUZZ_CHECK(fcgiparams_new(&params) == ERR_OK);
}

static struct span
next_length(uint32_t *len, struct span rest)
{
	const unsigned char *bytes = (const unsigned char *)rest.ptr;

	FUZZ_CHECK(rest.len > 0);
	*len = bytes[0];
	if (bytes[0] < 0x80)
		return span_from(rest, 1);
	FUZZ_CHECK(rest.len > 3);
	*len = (uint32_t)(bytes[0] & 0x7f) << 24 | (uint32_t)bytes[1] << 16 |
	    (uint32_t)bytes[2] << 8 | bytes[3];
	return span_from(rest, 4);
}

/* NAME=value as libfcgi has it; a byte of 0 ends what it compares. */
static void
must_be(const char *text, struct span name, struct span value)
{
	size_t names = strnlen(name.ptr, name.len);

	FUZZ_CHECK(text != NULL);
	FUZZ_CHECK(strlen(text) >= names);
	FUZZ_CHECK(memcmp(text, name.ptr, names) == 0);
	if (names < name.len)
		return;
	FUZZ_CHECK(text[names] == '=');
	FUZZ_CHECK(strncmp(text + names + 1, value.ptr, value.len) == 0 ||
	    memchr(value.ptr, '\0', value.len) != NULL);
}

/* libfcgi's first parameter is the role. */
static void
compare_params(char **at)
{
	struct span rest = span_from(in.head, HEADS_LEN);

	if (rest.len > 0)
		rest.len -= END_LEN;
	FUZZ_CHECK(*at != NULL && strcmp(*at++, "FCGI_ROLE=RESPONDER") == 0);
	while (rest.len > 0) {
		uint32_t names, values;

		rest = next_length(&names, rest);
		rest = next_length(&values, rest);
		FUZZ_CHECK((uint64_t)names + values <= rest.len);
		must_be(*at++, span_sub(rest, 0, names),
		    span_sub(rest, names, values));
		rest = span_from(rest, names + values);
	}
	FUZZ_CHECK(*at == NULL);
}

static void
parse(void)
{
	char **texts;

	FUZZ_CHECK(in.head.len >= HEADS_LEN);
	FUZZ_CHECK(fcgiparams_parse(&texts, params, in.head) == ERR_OK);
	compare_params(texts);
	fcgiparams_release(params);
}

/* Every request that the bytes hold, until one is none. */
static void
take_all(int fd)
{
	enum err err = ERR_OK;

	for (bool first = true; err == ERR_OK; first = false) {
		struct buf body;

		buf_init(&body, BODY_MAX);
		/* nginx sends nothing behind a request. */
		err = first || incoming_is_over(&in)
		    ? incoming_try_head(&in, fd)
		    : ERR_BAD_INPUT;
		if (err == ERR_OK)
			parse();
		if (err == ERR_OK)
			err = incoming_body(&in, &body);
		FUZZ_CHECK(body.len <= BODY_MAX);
		buf_fini(&body);
	}
	FUZZ_CHECK(err == ERR_CLOSED || err == ERR_BAD_INPUT);
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t len)
{
	size_t step = len > 0 && data[0] > 0 ? data[0] : len;
	int pair[2];

	if (params == NULL)
		begin();
	FUZZ_CHECK(socketpair(AF_UNIX, SOCK_STREAM, 0, pair) == 0);
	for (size_t at = 1; at < len; at += step) {
		size_t part = len - at < step ? len - at : step;

		/* More than the socket takes at once is left out. */
		if (send(pair[0], data + at, part,
			MSG_NOSIGNAL | MSG_DONTWAIT) != (ssize_t)part)
			break;
	}
	close(pair[0]);
	take_all(pair[1]);
	close(pair[1]);
	return 0;
}
