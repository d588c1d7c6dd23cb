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

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "common/err.h"
#include "common/span.h"

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

/*
 * A live file as a reader sees it, whose pages are checked as they are needed.
 * Each page is checked as above. Nothing is known of the other pages: whether
 * the table has as many records as it says, or the same page twice. Instead a
 * page's nodes must fill what the page says is in use, so that none can be
 * missing there.
 */
struct kvpages_view;

/* The tables by name, at most 12 of them; codes as kvpages_check_view(). */
enum err kvpages_view_open(struct kvpages_view **out, int fd,
    uint64_t transaction, char *const *names, unsigned count);
void kvpages_view_close(struct kvpages_view *view);

/*
 * Checks the pages from a table's root to the leaf where `key` is or would be,
 * and to the leaves before and behind that one. *reach is where the latter
 * begins: a cursor may step from any key before it.
 */
#define KVPAGES_KEY_MAX 511
struct kvpages_reach {
	bool end; /* there is no leaf behind */
	size_t len;
	char key[KVPAGES_KEY_MAX];
};
enum err kvpages_view_look(struct kvpages_reach *reach,
    struct kvpages_view *view, unsigned table, struct span key);

/*
 * An immutable file whose tables are checked one by one, each as a whole and
 * once. ERR_DAMAGED also when two of them have a page in common. After any
 * failure the others are to be checked anew.
 */
enum err kvpages_view_frozen(struct kvpages_view **out, int fd,
    uint64_t file_bytes, char *const *names, unsigned count);
enum err kvpages_view_table(struct kvpages_view *view, int fd, unsigned table);
