/*
 * negotiate: the form and the coding of an answer, by the headers Accept and
 * Accept-Encoding.
 */
#pragma once

#include <stdbool.h>

#include "fcgi/rows/splice.h"

struct call;
struct request;

/* The form with the highest quality; JSON when none is named. */
enum splice_form negotiate_form(const struct request *request);

/* True when the client accepts gzip and does not prefer plain bytes. */
bool negotiate_gzip(const struct request *request);

/*
 * Content-Type and Vary of a form. `packed`: the answer also varies by
 * Accept-Encoding, as a dump may be sent as gzip.
 */
void negotiate_headers(struct call *call, enum splice_form form, bool packed);
