/*
 * kvpages: verifies that the index pages of an LMDB file can be walked.
 *
 * LMDB trusts its pages: one flipped byte in an index page leads it outside the
 * map, into an assertion, or past an existing record. These functions read the
 * two meta pages and every index page, and check each number against the file's
 * size, each key against its neighbours and the pages above, and the depth of
 * the leaves and the number of their records against the table. In a file that
 * passes, every record is found by its key and none is lost. The values
 * themselves are not read: a file of a few large values takes some
 * microseconds, whatever their size.
 */
#pragma once

#include <stdint.h>

#include "common/err.h"

/* ERR_DAMAGED, or why it could not be read. Nothing is logged. */
enum err kvpages_check(int fd, uint64_t file_bytes);

/*
 * Checks only that the file begins with two meta pages of this machine's page
 * size: LMDB trusts the size they name, and reads the second one at that
 * offset, even beyond the end of the file. The file must have at least these
 * two pages.
 */
enum err kvpages_check_head(int fd);

/*
 * As kvpages_check(), for a live file, as seen by a reader whose view is of
 * that transaction; the open reader keeps the view's pages from being reused.
 * Also checks the list of free pages against the pages in use. ERR_BUSY when
 * later commits have overwritten the view's meta page.
 */
enum err kvpages_check_view(int fd, uint64_t transaction);
