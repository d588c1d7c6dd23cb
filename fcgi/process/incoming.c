#include "fcgi/process/incoming.h"

#include <assert.h>
#include <errno.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>

#include "common/date.h"

enum { VERSION = 1, BEGIN = 1, PARAMS = 4, STDIN = 5, RESPONDER = 1, KEEP = 1 };
enum { HEAD_LEN = 8, BEGIN_LEN = 2 * HEAD_LEN, PADDING_MAX = 255 };

/* BEGIN_REQUEST, the end of PARAMS, and a record head that announces a body. */
#define ROOM \
	(BEGIN_LEN + HEAD_LEN + INCOMING_PARAMS_MAX + PADDING_MAX + \
	    2 * HEAD_LEN)

struct head {
	unsigned type, id, len, padding;
};

/* --- receiving ------------------------------------------------------------ */

struct deadline {
	int64_t all_ns, still_ms;
};

static int
time_left(const struct deadline *deadline)
{
	int64_t left = (deadline->all_ns - date_monotonic_ns()) / 1000000;

	if (left > deadline->still_ms)
		left = deadline->still_ms;
	return left > 0 ? (int)left : 0;
}

static enum err
wait_for_more(int fd, const struct deadline *deadline)
{
	struct pollfd look = {.fd = fd, .events = POLLIN};
	int found = poll(&look, 1, time_left(deadline));

	if (found > 0 || (found < 0 && errno == EINTR))
		return ERR_OK;
	return found == 0 ? ERR_TIMED_OUT : ERR_SYSTEM;
}

/*
 * Reads at least one byte more after `end`; the caller has made room. Without a
 * deadline, ERR_BUSY when no byte is there.
 */
static enum err
receive(struct incoming *in, const struct deadline *deadline)
{
	for (;;) {
		ssize_t got = recv(
		    in->fd, in->bytes + in->end, ROOM - in->end, MSG_DONTWAIT);
		enum err err;

		if (got > 0) {
			in->end += (size_t)got;
			return ERR_OK;
		}
		if (got == 0)
			return ERR_CLOSED;
		if (errno == EINTR)
			continue;
		if (errno != EAGAIN && errno != EWOULDBLOCK)
			return ERR_CLOSED;
		if (deadline == NULL)
			return ERR_BUSY;
		/* Checked here as well, for a peer that sends byte by byte. */
		err = time_left(deadline) > 0 ? wait_for_more(in->fd, deadline)
					      : ERR_TIMED_OUT;
		if (err != ERR_OK)
			return err;
	}
}

/*
 * Reads until there are `len` bytes at `at`. If they would not fit after it, or
 * nothing has been read yet, `at` moves to `front`; the bytes before that are
 * in use.
 */
static enum err
need(struct incoming *in, size_t len, size_t front,
    const struct deadline *deadline)
{
	enum err err = ERR_OK;

	if (in->at > front && (in->at == in->end || len > ROOM - in->at)) {
		memmove(
		    in->bytes + front, in->bytes + in->at, in->end - in->at);
		in->end -= in->at - front;
		in->at = front;
	}
	while (err == ERR_OK && in->end - in->at < len)
		err = date_monotonic_ns() > deadline->all_ns
		    ? ERR_TIMED_OUT
		    : receive(in, deadline);
	return err;
}

static enum err
refuse(struct incoming *in, const char *why)
{
	in->why = why;
	return ERR_BAD_INPUT;
}

/* Reads the next record's head, and advances `at` beyond it. */
static enum err
take_head(struct head *head, struct incoming *in, size_t front,
    const struct deadline *deadline)
{
	enum err err = need(in, HEAD_LEN, front, deadline);
	const unsigned char *bytes = in->bytes + in->at;

	if (err != ERR_OK)
		return err;
	if (bytes[0] != VERSION)
		return refuse(in, "a record of another version than 1");
	head->type = bytes[1];
	head->id = (unsigned)bytes[2] << 8 | bytes[3];
	head->len = (unsigned)bytes[4] << 8 | bytes[5];
	head->padding = bytes[6];
	in->at += HEAD_LEN;
	if (head->id == 0)
		return refuse(in, "a record that is of no request");
	return ERR_OK;
}

/* --- the head ------------------------------------------------------------- */

static enum err
take_begin(struct incoming *in, const struct deadline *deadline)
{
	struct head head;
	enum err err = take_head(&head, in, 0, deadline);
	const unsigned char *content;

	if (err != ERR_OK)
		return err;
	if (head.type != BEGIN || head.len != HEAD_LEN || head.padding != 0)
		return refuse(in, "it does not begin with BEGIN_REQUEST");
	/*
	 * The content follows its head, which stays: later code relies on both.
	 */
	err = need(in, HEAD_LEN, HEAD_LEN, deadline);
	if (err != ERR_OK)
		return err;
	content = in->bytes + in->at;
	if (content[0] != 0 || content[1] != RESPONDER)
		return refuse(in, "another role than RESPONDER");
	in->id = head.id;
	in->keep = (content[2] & KEEP) != 0;
	in->at += HEAD_LEN;
	return ERR_OK;
}

/*
 * Reads the contents of all PARAMS records, and moves them together after the
 * head of the first. `*end` is their end.
 */
static enum err
take_params(size_t *end, struct incoming *in, const struct deadline *deadline)
{
	size_t begin = BEGIN_LEN + HEAD_LEN;
	struct head head;
	enum err err;

	*end = begin;
	for (;;) {
		err = take_head(&head, in, *end, deadline);
		if (err != ERR_OK)
			return err;
		if (head.type != PARAMS || head.id != in->id)
			return refuse(in, "another record among the PARAMS");
		if (head.len > INCOMING_PARAMS_MAX - (*end - begin))
			return refuse(in, "more than 65535 bytes of PARAMS");
		/* The head of the last record moves to the end, see below. */
		err = need(in, head.len + head.padding,
		    head.len > 0 ? *end : *end + HEAD_LEN, deadline);
		if (err != ERR_OK)
			return err;
		if (in->at != *end)
			memmove(in->bytes + *end, in->bytes + in->at, head.len);
		*end += head.len;
		in->at += head.len + head.padding;
		if (head.len == 0)
			return ERR_OK;
	}
}

/* A length: one byte, or four with the highest bit of the first set. */
static bool
take_length(uint32_t *len, struct span *rest)
{
	const unsigned char *bytes = (const unsigned char *)rest->ptr;
	size_t size = rest->len > 0 && bytes[0] >= 0x80 ? 4 : 1;

	if (rest->len < size)
		return false;
	*len = size == 1 ? bytes[0]
			 : (uint32_t)(bytes[0] & 0x7f) << 24 |
		(uint32_t)bytes[1] << 16 | (uint32_t)bytes[2] << 8 | bytes[3];
	*rest = span_from(*rest, size);
	return true;
}

static bool
pairs_are_sound(struct span rest)
{
	while (rest.len > 0) {
		uint32_t name, value;

		if (!take_length(&name, &rest) || !take_length(&value, &rest) ||
		    (uint64_t)name + value > rest.len)
			return false;
		rest = span_from(rest, name + value);
	}
	return true;
}

static void
write_head(unsigned char *head, unsigned type, unsigned id, size_t len)
{
	const unsigned char bytes[HEAD_LEN] = {VERSION, (unsigned char)type,
	    (unsigned char)(id >> 8), (unsigned char)id,
	    (unsigned char)(len >> 8), (unsigned char)len, 0, 0};

	memcpy(head, bytes, HEAD_LEN);
}

/*
 * The end takes no more room than the received one, so the bytes after it stay
 * intact.
 */
static void
write_heads(struct incoming *in, size_t end)
{
	size_t begin = BEGIN_LEN + HEAD_LEN;

	write_head(in->bytes + BEGIN_LEN, PARAMS, in->id, end - begin);
	if (end > begin)
		write_head(in->bytes + end, PARAMS, in->id, 0);
	in->head = (struct span){
	    (const char *)in->bytes, end > begin ? end + HEAD_LEN : end};
}

static void
start_anew(struct incoming *in, int fd)
{
	in->fd = fd;
	in->at = in->end = 0;
	in->why = NULL;
}

static enum err
take_all(struct incoming *in)
{
	struct deadline deadline = {
	    date_monotonic_ns() + INCOMING_HEAD_MS * INT64_C(1000000),
	    INCOMING_HEAD_MS};
	size_t begin = BEGIN_LEN + HEAD_LEN, end;
	enum err err = take_begin(in, &deadline);

	if (err == ERR_OK)
		err = take_params(&end, in, &deadline);
	if (err != ERR_OK)
		return err;
	if (!pairs_are_sound(
		(struct span){(const char *)in->bytes + begin, end - begin}))
		return refuse(in, "a parameter that is longer than the PARAMS");
	write_heads(in, end);
	return ERR_OK;
}

enum err
incoming_head(struct incoming *in, int fd)
{
	assert(fd >= 0 && in->bytes != NULL);
	start_anew(in, fd);
	return take_all(in);
}

enum err
incoming_try_head(struct incoming *in, int fd)
{
	enum err err;

	assert(fd >= 0);
	start_anew(in, fd);
	err = receive(in, NULL);
	return err == ERR_OK ? take_all(in) : err;
}

/* --- the body ------------------------------------------------------------- */

/* Reads `len` bytes of content into the buffer, unless that has failed. */
static enum err
take_content(struct incoming *in, size_t len, struct buf *body,
    const struct deadline *deadline)
{
	while (len > 0) {
		enum err err = need(in, 1, 0, deadline);
		size_t part = in->end - in->at;

		if (err != ERR_OK)
			return err;
		if (part > len)
			part = len;
		if (body != NULL)
			buf_add(body, in->bytes + in->at, part);
		in->at += part;
		len -= part;
	}
	return ERR_OK;
}

enum err
incoming_body(struct incoming *in, struct buf *body)
{
	struct deadline deadline = {
	    date_monotonic_ns() + INCOMING_BODY_MS * INT64_C(1000000),
	    INCOMING_STILL_MS};
	struct head head;
	enum err err;

	assert(in->fd >= 0 && body != NULL);
	for (;;) {
		err = take_head(&head, in, 0, &deadline);
		if (err != ERR_OK)
			return err;
		if (head.type != STDIN || head.id != in->id)
			return refuse(in, "another record within the body");
		err = take_content(in, head.len, body, &deadline);
		if (err == ERR_OK)
			err = take_content(in, head.padding, NULL, &deadline);
		if (err != ERR_OK || head.len == 0)
			return err;
	}
}

bool
incoming_is_over(const struct incoming *in)
{
	assert(in->at <= in->end);
	return in->at == in->end;
}

/* --- both ----------------------------------------------------------------- */

enum err
incoming_init(struct incoming *in)
{
	memset(in, 0, sizeof(*in));
	in->fd = -1;
	in->bytes = malloc(ROOM);
	return in->bytes == NULL ? ERR_NO_MEMORY : ERR_OK;
}

void
incoming_fini(struct incoming *in)
{
	free(in->bytes);
	in->bytes = NULL;
}
