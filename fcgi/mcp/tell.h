/*
 * tell: what a tool's result says: the structured object and a short text
 * beside it, of a size that a model can read.
 */
#pragma once

#include <stdint.h>

#include "common/jscan.h"
#include "common/jsonw.h"

struct asking;

/* Entries of a page, unless the call says otherwise; rows are fewer. */
#define TELL_ENTRIES 50

/* Bytes of rows in a result: some 15,000 tokens. */
#define TELL_BYTES_MAX ((size_t)48 << 10)

/*
 * Begins the object. asking->json writes to it until tell_end(), whose format
 * makes the short text.
 */
void tell_begin(struct asking *asking);
void tell_end(struct asking *asking, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

/* The member as the API has it, by another name; null where it has none. */
void tell_member(struct jsonw *json, const char *name, struct jval object,
    const char *member);

/*
 * The API's elements as a member, as many as fit; how many. Behind them
 * "returned", and "cut" where some did not fit.
 */
unsigned tell_rows(struct asking *asking, const char *name);

/* "total", "page", "more" of the API's pages. */
void tell_pages(struct asking *asking);

/*
 * The words behind a list that was cut, or has more pages, or fewer than were
 * asked for; else none.
 */
const char *tell_rest(struct asking *asking, unsigned returned);

/* The end of a noun. */
static inline const char *
tell_s(int64_t count)
{
	return count == 1 ? "" : "s";
}

/* An error: names in an argument are not known; the nearest ones. */
void tell_unknown(struct asking *asking, const char *argument);

/* The API's error as the result. */
void tell_error(struct asking *asking, int status, struct jval answer);
