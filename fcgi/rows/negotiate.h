/*
 * negotiate: the format of an answer, by the parameter `format`, else by the
 * header Accept.
 */
#pragma once

#include <stdint.h>

#include "common/err.h"
#include "common/span.h"
#include "fcgi/http/format.h"

struct call;

enum format negotiate_format(const struct call *call);

/*
 * ERR_ANSWERED when the parameters that say what cells there are do not fit the
 * format; a 400 is then made.
 */
enum err negotiate_check(struct call *call, enum format format);

/*
 * A bound on rows, lowered where each makes many cells or lines, so that what
 * is gathered, or done by a page's thread, stays as large as it is for others.
 */
uint32_t negotiate_rows(const struct call *call, uint32_t rows);

/*
 * Content-Type, and that the answer varies by Accept. For all but JSON also
 * what JSON has room for: a name to save it under, "what-of-which.csv" (`of`
 * may be empty), and the parameters that are not known here.
 */
void negotiate_headers(
    struct call *call, enum format format, const char *what, struct span of);
