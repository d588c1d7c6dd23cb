/*
 * negotiate: the form of an answer, by the header Accept.
 */
#pragma once

#include "fcgi/rows/splice.h"

struct call;
struct request;

/* The form with the highest quality; JSON when none is named. */
enum splice_form negotiate_form(const struct request *request);

/* Content-Type of a form, and that the answer varies by Accept. */
void negotiate_headers(struct call *call, enum splice_form form);
