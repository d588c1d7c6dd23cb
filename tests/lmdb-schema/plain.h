/*
 * plain: stores in version 1 of the schema, without checksums after the values
 * of live, catalog and state.
 */
#pragma once

#include "common/err.h"

#define PLAIN_FILES 3

extern const char *const plain_files[PLAIN_FILES]; /* below a data directory */

/*
 * Copies the environment `from`, plain_files[which] of a closed store, into the
 * new file `to`.
 */
enum err plain_copy(unsigned which, const char *from, const char *to);

/* As plain_copy(), in place: plain_files[which] of the data directory `dir`. */
enum err plain_make(unsigned which, const char *dir);
