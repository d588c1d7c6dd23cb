/*
 * plain: stores as version 1 of the schema kept them, which had no checksums
 * behind the values of live, catalog and state.
 */
#pragma once

#include "common/err.h"

#define PLAIN_FILES 3

extern const char *const plain_files[PLAIN_FILES]; /* below a data directory */

/*
 * Writes what the environment `from`, plain_files[which] of some store that is
 * closed, has into `to`, which is not there yet.
 */
enum err plain_copy(unsigned which, const char *from, const char *to);

/* The same in place: plain_files[which] of the data directory `dir`. */
enum err plain_make(unsigned which, const char *dir);
