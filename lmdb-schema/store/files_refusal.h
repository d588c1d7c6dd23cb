/*
 * files_refusal: what the nginx of a node says where it does not give the node's files,
 * and what mends it; and which failure of each holder of files is in the log already.
 */
#pragma once

#include <stdbool.h>

#include "common/err.h"

struct files_refusal {
	const char
	    *answer; /* "it answered 403" of pull.h; NULL: there is none */
	const char *text,
	    *todo; /* the holder's address comes behind the text */
	bool lasts; /* whatever file is asked for, until somebody mends it */
};

/* NULL: another answer, or none. */
const struct files_refusal *files_refusal_of(const char *why);

/*
 * Whether a failure is to be logged: the holder's last one was another one, or it has
 * given a file since. Any number of threads may call it.
 */
bool files_refusal_is_new(const char *holder, enum err err, const char *why);

/* Notes that it has given a file; whether a refusal that lasts had been logged. */
bool files_refusal_ends(const char *holder);
