/*
 * reply: an answer in the making: status, header lines, body.
 *
 * Short answers are put whole, with their Content-Length. Long ones are put
 * as they grow, after reply_stream(). The head goes out with the first bytes of
 * the body: up to there a failure makes another answer. After that it can only
 * cut the answer: reply_end() then gives it, and the worker breaks the
 * connection so that the client sees the cut.
 *
 * A 200 of more than a kilobyte goes out packed where the request takes that:
 * up to PACKER_WHOLE bytes packed as a whole, longer ones as they grow.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "common/buf.h"
#include "common/err.h"
#include "common/sink.h"
#include "fcgi/http/packer.h"
#include "fcgi/http/iovbuf.h"
#include "fcgi/http/request.h"

struct reply {
	struct sink *out;
	const struct request *request; /* that it answers */
	struct buf head; /* header lines so far, without the status */
	struct iovbuf body;
	int status;
	bool head_only; /* HEAD: all of it but the body */
	bool streaming; /* the body goes out as it grows */
	bool begun; /* the head is out */
	int64_t length; /* of a stream's whole body; -1: not known */
	bool by_accept; /* Accept has decided its form: Vary says so */
	bool by_language; /* and Accept-Language a text in it */
	bool coded; /* a Content-Encoding stands in the head */
	bool
	    dense; /* the body is hardly smaller packed: it goes out as it is */
	bool packing; /* what is put goes through the member */
	struct packer packer;
	int64_t behind_s; /* X-Grid-Behind; 0: none */
	const char *node; /* X-Grid-Node; NULL: a machine on its own */
	bool has_seen;
	uint64_t seen; /* X-Grid-Seen: seen.h */
	uint64_t sent; /* bytes put, head and body */
	enum err err;
};

void reply_init(struct reply *reply);
void reply_fini(struct reply *reply);

/*
 * Begins the answer to `request` into `out`; status 200. HEAD gets all but the
 * body. Whatever becomes of it, its head will say X-Request-Id and how long it
 * took up to there.
 */
void reply_begin(
    struct reply *reply, struct sink *out, const struct request *request);

/* Forgets all that was made; false when the head is out already. */
bool reply_restart(struct reply *reply);

/*
 * "Name: value"; line breaks in the value are our own mistake and assert. The
 * first takes the value as it is, which costs a tenth of printf's way.
 */
void reply_header_text(
    struct reply *reply, const char *name, struct span value);
void reply_header(struct reply *reply, const char *name, const char *format,
    ...) __attribute__((format(printf, 3, 4)));

/* The body is packed already: it goes out as it is put. */
void reply_is_coded(struct reply *reply, enum coding coding);

/*
 * From here on the body goes out as it grows. `length` is the whole body's,
 * or -1 when it is not known; that of a body that is packed here never is. What
 * is ended before it is worth a call is put whole.
 */
void reply_stream(struct reply *reply, int64_t length);

/* While streaming: puts what has been gathered when it is worth a call. */
void reply_flush_some(struct reply *reply);

/*
 * The same, looked at for every 64th row. Call it before the `nth` row is
 * added, not after: the comma behind the last row can then be taken back.
 * False when a write failed, as the client has gone.
 */
bool reply_flush_row(struct reply *reply, int64_t nth);

/* Puts what is left. ERR_OK: all is out. */
enum err reply_end(struct reply *reply);

/* The six codes of the error shape. */
enum reply_code {
	CODE_UNAUTHORIZED,
	CODE_FORBIDDEN,
	CODE_BAD_REQUEST,
	CODE_NOT_FOUND,
	CODE_NOT_READY,
	CODE_INTERNAL
};

/*
 * Makes the whole answer of an error; `details` is JSON or empty. What was made
 * of another answer is dropped. Always ERR_ANSWERED, so that a step can end
 * with "return reply_error(...)".
 */
enum err reply_error(struct reply *reply, int status, enum reply_code code,
    struct span message, struct span details);

/*
 * The words of an error in the language of the request, by their English: a
 * format, or a piece of a message. The message of the two here is put into that
 * language by them.
 */
const char *reply_words(const struct reply *reply, const char *english)
    __attribute__((format_arg(2)));

/* The same without details; printf makes the message. */
enum err reply_fail(struct reply *reply, int status, enum reply_code code,
    const char *format, ...) __attribute__((format(printf, 4, 5)));
