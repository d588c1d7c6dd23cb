/*
 * record: an answer as FastCGI records, written directly to the connection.
 *
 * An answer that fits into one record is held back, so that it leaves in one
 * system call together with its end. A longer one is sent as it is put, without
 * being copied. A failed answer is never ended, so that the reader sees that it
 * was cut.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "common/err.h"
#include "common/sink.h"

/* Most content of one record: a multiple of 8, so none needs padding. */
#define RECORD_MAX 65528

struct record {
	int fd;
	unsigned id;
	enum err err; /* sticky */
	uint64_t bytes; /* bytes of the answer put so far */
	char *held; /* RECORD_MAX bytes, reused for the next answer */
	size_t held_len;
	bool ended; /* the end was sent */
	/*
	 * Called once for an answer, before the first send that may have to
	 * wait: sets the time limit and the size of the socket's buffer. NULL:
	 * nothing to set. Most answers fit at once and do not need it.
	 */
	void (*before_wait)(int fd);
	bool may_wait; /* it has been called */
};

/* ERR_NO_MEMORY. Called once; record_begin() takes the connection. */
enum err record_init(struct record *record);
void record_fini(struct record *record);

/* Begins an answer. `fd` is a blocking socket and stays the caller's. */
void record_begin(struct record *record, int fd, unsigned request_id);

/*
 * The sink for the answer; the record must outlive it. Bytes put with `last`
 * are sent at once, uncopied, together with the end. ERR_CLOSED: the peer has
 * closed. ERR_TIMED_OUT: the peer took nothing within the socket's time limit
 * for sending.
 */
struct sink record_sink(struct record *record);

/*
 * Sends the held bytes and the end, unless that was sent. Returns the first
 * failure, if any; then no end was sent.
 */
enum err record_end(struct record *record);
