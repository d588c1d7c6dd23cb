/* Internals of fs*.c. */
#pragma once

#include "common/fs.h"

/* Maps errno to a code and logs the operation that failed. */
enum err fs_failed(const char *doing, const char *path);

/* The same, but quiet about a file that does not exist. */
enum err fs_failed_or_missing(const char *doing, const char *path);
