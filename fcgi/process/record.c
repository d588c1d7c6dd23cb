#include "fcgi/process/record.h"

#include <assert.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>

/*
 * A record is a header of eight bytes and its content:
 *
 *	01 06 00 01  00 05 00 00  h e l l o	STDOUT, request 1, five bytes
 *	01 06 00 01  00 00 00 00		the end of STDOUT
 *	01 03 00 01  00 08 00 00  00 00 00 00  00 00 00 00
 *						END_REQUEST, status 0, complete
 */
enum { VERSION = 1, TYPE_END = 3, TYPE_STDOUT = 6 };
enum { HEAD_LEN = 8, END_LEN = 3 * HEAD_LEN };

/* Bytes that the kernel's buffer of a socket certainly takes at once. */
#define AT_ONCE ((size_t)64 << 10)

/* The number of records, or pieces of them, in one system call. */
#define HEADS 64
#define PIECES 512

struct batch {
	struct record *record;
	struct iovec pieces[PIECES];
	int count;
	unsigned char heads[HEADS][HEAD_LEN];
	unsigned char end[END_LEN];
	int head_count;
	size_t room; /* content still announced by the last head */
	size_t left; /* content not announced by a head yet */
	size_t spare; /* bytes at the end that may be lost */
};

static void
write_head(unsigned char *head, unsigned type, unsigned id, size_t len)
{
	head[0] = VERSION;
	head[1] = (unsigned char)type;
	head[2] = (unsigned char)(id >> 8);
	head[3] = (unsigned char)id;
	head[4] = (unsigned char)(len >> 8);
	head[5] = (unsigned char)len;
	head[6] = 0;
	head[7] = 0;
}

static enum err
err_of_send(int errnum)
{
	if (errnum == EAGAIN || errnum == EWOULDBLOCK)
		return ERR_TIMED_OUT;
	return err_from_errno(errnum);
}

static size_t
bytes_of(const struct iovec *pieces, int count)
{
	size_t len = 0;

	for (int i = 0; i < count; i++)
		len += pieces[i].iov_len;
	return len;
}

static void
let_wait(struct record *record)
{
	record->may_wait = true;
	if (record->before_wait != NULL)
		record->before_wait(record->fd);
}

/* Sends without waiting until the limits of the socket are set. */
static ssize_t
send_some(struct record *record, struct iovec *pieces, int count)
{
	struct msghdr message = {
	    .msg_iov = pieces, .msg_iovlen = (size_t)count};
	ssize_t done = -1;

	if (!record->may_wait) {
		done =
		    sendmsg(record->fd, &message, MSG_NOSIGNAL | MSG_DONTWAIT);
		if (done >= 0 || (errno != EAGAIN && errno != EWOULDBLOCK))
			return done;
		let_wait(record);
	}
	return sendmsg(record->fd, &message, MSG_NOSIGNAL);
}

/*
 * Sends everything, through partial writes; a closed connection raises no
 * signal. The peer may close before the last `spare` bytes: a client that knows
 * the length of the answer closes after its last byte.
 */
static enum err
send_all(struct record *record, struct iovec *pieces, int count, size_t spare)
{
	while (count > 0) {
		ssize_t done = send_some(record, pieces, count);

		if (done < 0 && errno == EINTR)
			continue;
		if (done < 0 && errno == EPIPE &&
		    bytes_of(pieces, count) <= spare)
			return ERR_OK;
		if (done < 0)
			return err_of_send(errno);
		while (count > 0 && pieces->iov_len <= (size_t)done) {
			done -= (ssize_t)pieces->iov_len;
			pieces++;
			count--;
		}
		if (count > 0) {
			pieces->iov_base = (char *)pieces->iov_base + done;
			pieces->iov_len -= (size_t)done;
		}
	}
	return ERR_OK;
}

static void
batch_send(struct batch *batch)
{
	struct record *record = batch->record;

	if (record->err == ERR_OK && batch->count > 0)
		record->err =
		    send_all(record, batch->pieces, batch->count, batch->spare);
	batch->count = 0;
	batch->head_count = 0;
}

static void
batch_piece(struct batch *batch, void *ptr, size_t len)
{
	batch->pieces[batch->count++] = (struct iovec){ptr, len};
}

/* Begins a record with as much of the remaining content as fits. */
static void
batch_head(struct batch *batch)
{
	unsigned char *head = batch->heads[batch->head_count++];

	batch->room = batch->left < RECORD_MAX ? batch->left : RECORD_MAX;
	batch->left -= batch->room;
	write_head(head, TYPE_STDOUT, batch->record->id, batch->room);
	batch_piece(batch, head, HEAD_LEN);
}

static void
batch_add(struct batch *batch, char *ptr, size_t len)
{
	while (len > 0) {
		size_t part;

		if (batch->count + 2 > PIECES || batch->head_count == HEADS)
			batch_send(batch);
		if (batch->room == 0)
			batch_head(batch);
		part = len < batch->room ? len : batch->room;
		batch_piece(batch, ptr, part);
		batch->room -= part;
		ptr += part;
		len -= part;
	}
}

/* The end of STDOUT and of the request. */
static void
write_end(unsigned char *end, unsigned id)
{
	memset(end, 0, END_LEN);
	write_head(end, TYPE_STDOUT, id, 0);
	write_head(end + HEAD_LEN, TYPE_END, id, HEAD_LEN);
}

static void
batch_end(struct batch *batch)
{
	if (batch->count == PIECES)
		batch_send(batch);
	write_end(batch->end, batch->record->id);
	batch_piece(batch, batch->end, END_LEN);
	batch->spare = END_LEN;
	batch->record->ended = true;
}

/* Sends the held bytes and the pieces after them as records. */
static void
send_pieces(struct record *record, const struct iovec *pieces, int count,
    size_t len, bool last)
{
	struct batch batch;

	batch.record = record;
	batch.count = 0;
	batch.head_count = 0;
	batch.room = 0;
	batch.spare = 0;
	batch.left = record->held_len + len;
	batch_add(&batch, record->held, record->held_len);
	for (int i = 0; i < count; i++)
		batch_add(&batch, pieces[i].iov_base, pieces[i].iov_len);
	if (last)
		batch_end(&batch);
	batch_send(&batch);
	record->held_len = 0;
}

static void
hold(struct record *record, const struct iovec *pieces, int count)
{
	for (int i = 0; i < count; i++) {
		if (pieces[i].iov_len == 0)
			continue;
		memcpy(record->held + record->held_len, pieces[i].iov_base,
		    pieces[i].iov_len);
		record->held_len += pieces[i].iov_len;
	}
}

static enum err
put(struct sink *sink, struct iovec *pieces, int count)
{
	struct record *record = sink->to;
	size_t len = bytes_of(pieces, count);

	if (record->err != ERR_OK)
		return record->err;
	record->bytes += len;
	if (record->bytes > AT_ONCE && !record->may_wait)
		let_wait(record);
	if (!sink->last && len <= RECORD_MAX - record->held_len)
		hold(record, pieces, count);
	else
		send_pieces(record, pieces, count, len, sink->last);
	return record->err;
}

enum err
record_init(struct record *record)
{
	memset(record, 0, sizeof(*record));
	record->fd = -1;
	record->held = malloc(RECORD_MAX);
	return record->held == NULL ? ERR_NO_MEMORY : ERR_OK;
}

void
record_fini(struct record *record)
{
	free(record->held);
	record->held = NULL;
}

void
record_begin(struct record *record, int fd, unsigned request_id)
{
	assert(fd >= 0 && record->held != NULL);
	record->fd = fd;
	record->id = request_id;
	record->err = ERR_OK;
	record->bytes = 0;
	record->held_len = 0;
	record->ended = false;
	record->may_wait = false;
}

struct sink
record_sink(struct record *record)
{
	assert(record->held != NULL);
	return (struct sink){.put = put, .to = record};
}

enum err
record_end(struct record *record)
{
	if (record->err == ERR_OK && !record->ended)
		send_pieces(record, NULL, 0, 0, true);
	return record->err;
}
