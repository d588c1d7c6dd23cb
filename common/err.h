/*
 * err: every way a call can fail, and the message a person sees.
 *
 * Code branches on the `enum err`. A person who has to act gets a `struct
 * fault`: where the error is, and what to do about it.
 */
#pragma once

#include <stdarg.h>
#include <stdbool.h>

enum err {
	ERR_OK = 0,
	ERR_NO_MEMORY, /* memory is exhausted */
	ERR_TOO_LARGE, /* a ceiling that we set was reached */
	ERR_BAD_INPUT, /* malformed bytes from outside */
	ERR_NOT_FOUND,
	ERR_NOT_READY, /* known, but not computed yet */
	ERR_EXISTS,
	ERR_LAST, /* of its kind: it must stay */
	ERR_BUSY, /* locked by another process, or too many wait */
	ERR_DENIED, /* permissions of files, or of people */
	ERR_DAMAGED, /* our own stored bytes are not what we wrote */
	ERR_DAMAGED_BESIDE, /* the same, of a file other than the one in hand */
	ERR_VERSION, /* stored by a version that we cannot read */
	ERR_NO_SPACE, /* disk or quota full, or a file as long as it may be */
	ERR_MAP_FULL, /* a file has reached the end of its map */
	ERR_NO_ADDRESS, /* a limit on addresses (ulimit -v) is reached */
	ERR_NO_FILES, /* no descriptor is left to open one with */
	ERR_READ_ONLY, /* the disk takes no writes */
	ERR_TIMED_OUT,
	ERR_CLOSED, /* the peer has gone */
	/* Of the log that several nodes share: */
	ERR_BEHIND, /* not written, another node has written since */
	ERR_AWAY, /* not written, out of reach */
	ERR_UNKNOWN, /* it may have been written */
	ERR_STORED, /* it is written, and this node's disk does not take it */
	ERR_OUTRUN, /* not written, entries that are missing here are trimmed */
	ERR_FORKED, /* not written, it has not the entries that are here */
	ERR_CUT_OFF, /* not written, no cluster.conf says where the log is */
	ERR_SYSTEM, /* any other refusal of the operating system */
	ERR_INTERNAL, /* a mistake of ours, caught before it did harm */
	ERR_ANSWERED, /* no failure: the answer is made, nothing is left to do */
	ERR_COUNT
};

/*
 * A few lower-case words, never NULL: "not found". They name a limit of this process
 * that may be the cause, and where it is set.
 */
const char *err_text(enum err err);

/*
 * Whether a limit of this process was reached (memory, address space, open files),
 * which tells nothing of what is stored.
 */
bool err_is_limit(enum err err);

/* The code that fits an errno value; ERR_SYSTEM where none is closer. */
enum err err_from_errno(int errnum);

/* The message for a person. Empty strings: not filled in. */
struct fault {
	char place[256]; /* "sales.csv:17: ca", "--seed", "[pool] threads" */
	char message[512]; /* "is not a number: \"12,5\" (use a point)" */
};

void fault_clear(struct fault *fault);

#define FAULT_TEXT_MAX 800

/* "PLACE: MESSAGE", as far as these are there; of no fault the words of `err`. */
const char *fault_text(
    char text[FAULT_TEXT_MAX], const struct fault *fault, enum err err);

/* True once fault_set() was called. */
bool fault_is_set(const struct fault *fault);

/*
 * Fills `fault`; NULL is fine, and does nothing. A fault that is already set is
 * kept: a cause is found before its consequences. Control characters in the
 * operands are shown as '?', and a text that is too long is cut with "...".
 */
void fault_set(struct fault *fault, const char *place, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

/* As fault_set(), with a va_list. */
void fault_vset(struct fault *fault, const char *place, const char *format,
    va_list args) __attribute__((format(printf, 3, 0)));
