/*
 * record: an answer as FastCGI records, written straight to the connection.
 *
 * What fits into one record is held back, so that a short answer leaves in one
 * system call together with its end. What is longer goes out as it is put,
 * without being copied. An answer that failed is never ended: the
 * reader must see that it was cut.
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
	uint64_t bytes; /* of the answer, that were put */
	char *held; /* RECORD_MAX bytes, reused for the next answer */
	size_t held_len;
	bool ended; /* the end is out */
	/*
	 * Called once an answer, before the first send that may have to wait:
	 * to set how long, and the socket's room. NULL: nothing is to be set.
	 * An answer that fits at once, as most do, does without.
	 */
	void (*before_wait)(int fd);
	bool may_wait; /* it was called */
};

/* ERR_NO_MEMORY. Done once; the connection is given at record_begin(). */
enum err record_init(struct record *record);
void record_fini(struct record *record);

/* A new answer. `fd` is a blocking socket and stays the caller's. */
void record_begin(struct record *record, int fd, unsigned request_id);

/*
 * Where the answer is put; the record must outlive it. What is put with
 * `last` goes out at once, uncopied, and the end with it. ERR_CLOSED when the
 * peer has gone, ERR_TIMED_OUT when it took nothing for as long as the
 * socket's limit for sending says.
 */
struct sink record_sink(struct record *record);

/*
 * Sends what is held, and the end, unless that is out. The first failure of all, if there was
 * one; then no end was sent.
 */
enum err record_end(struct record *record);
