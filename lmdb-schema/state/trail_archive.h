/*
 * trail_archive: takes files of the trail's earlier months out of the data
 * directory into a folder, of another disk as a rule.
 *
 *	1. the file is copied there under the name NAME.tmp, synced, read as a
 *	   whole, and named
 *	2. a commit notes in its row that it is away
 *	3. it is removed here
 *
 * A file that is put back into the folder `trail` is read again, as before. After
 * a kill between 2 and 3 it is in both places, and is read here.
 */
#pragma once

#include <stdint.h>

#include "common/err.h"

struct store;

/* The first instant of the month that lies `months` before the present one. */
int64_t trail_archive_before(int64_t now_ms, int64_t months);

/*
 * Takes the parts whose entries are all before `before_ms`; *moved counts them,
 * also after a failure.
 *
 *   ERR_NOT_FOUND  the folder is not there: it is not made, as it may be a disk
 *                  that is not mounted
 *   ERR_DAMAGED    a file is not as it was written, and stays
 *   ERR_BUSY       another process closes or takes months
 *   ERR_NO_SPACE, ERR_DENIED, ...
 */
enum err trail_archive(uint64_t *moved, struct store *store, const char *folder,
    int64_t before_ms);
