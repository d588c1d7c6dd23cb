/*
 * flip: what a bad disk does to a file that may be open, and mapped.
 */
#pragma once

#include <stddef.h>

#include "common/span.h"

/*
 * Flips the lowest bit of the byte that stands `at` bytes after the beginning
 * of `text`, wherever `text` is in the file: an LMDB file has older copies of
 * its pages, too. A key and its value stand side by side in it. There must be
 * one at least. To flip it back, `text` must be as it has become.
 */
void flip(const char *path, struct span text, size_t at);
