/*
 * body: a request's JSON body, read and judged.
 */
#pragma once

#include "common/jsonr.h"
#include "fcgi/call.h"

/*
 * Reads the body as an object; its members are not looked at. ERR_ANSWERED: the
 * body is refused (400, 413, 415). Pair with jsonr_free().
 */
enum err body_open(struct jsonr **doc, struct call *call);

/* ERR_ANSWERED: issues were noted, and the 400 that lists them is made. */
enum err body_check(struct call *call, const struct jsonr *doc);

/* A code of an article or a supplier. */
bool body_code(struct jsonr *doc, struct span *out,
    const struct jsonr_value *value, const char *path);

/* One of A, B, C, Y, Z; null, where it may be, is none. */
bool body_gamme(struct jsonr *doc, uint8_t *out,
    const struct jsonr_value *value, const char *path, bool nullable);

/*
 * Why a range is proposed: a line of at most 500 characters, or none. True when
 * it is absent or fits.
 */
bool body_motif(struct jsonr *doc, struct span *out,
    const struct jsonr_value *object, const char *path);

/* An array of min..max elements; their count, 0 when it is none. */
size_t body_array(struct jsonr *doc, const struct jsonr_value *value,
    const char *path, size_t min, size_t max);

/* A true or false that may be left out; *out is then as it was. */
void body_flag(struct jsonr *doc, bool *out, const struct jsonr_value *object,
    const char *name);
