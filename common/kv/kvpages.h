/*
 * kvpages: whether a file of kv's may be walked.
 *
 * LMDB trusts what its pages say: one flipped byte in an index page leads it
 * outside the map, into an assertion, or past a record that is there. This
 * reads the two meta pages and each index page, and holds every number in them
 * against the file's size, every key against those beside and above it, the
 * depth of the leaves and how many records they have against what the table
 * says. So a record that is where its key belongs is found, and none is lost.
 * The values themselves are not read: for a file of a few large ones it takes
 * some microseconds, whatever their size.
 */
#pragma once

#include <stdint.h>

#include "common/err.h"

/* ERR_DAMAGED, or why it could not be read. Nothing is logged. */
enum err kvpages_check(int fd, uint64_t file_bytes);

/*
 * Only whether it begins with two meta pages of this machine's page size:
 * LMDB believes the size that they name, and looks for the second one there,
 * in the file or behind its end. The file has at least these two pages.
 */
enum err kvpages_check_head(int fd);

/*
 * As kvpages_check() does, for a file that is written meanwhile, as the reader
 * sees it whose view is of that transaction: its pages stay put while it reads.
 * The list of free pages is held against the pages in use. ERR_BUSY when later
 * commits have overwritten where the view begins.
 */
enum err kvpages_check_view(int fd, uint64_t transaction);
