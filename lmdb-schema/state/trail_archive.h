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

struct fault;
struct store;

/* The first instant of the month that lies `months` before the present one. */
int64_t trail_archive_before(int64_t now_ms, int64_t months);

/*
 * Whether months of the data directory `dir` can be taken to the folder: it is
 * there, can be written, and lies outside of `dir`, where a removed file would be
 * the archive's. ERR_BAD_INPUT; the fault says what to do.
 */
enum err trail_archive_check(
    const char *dir, const char *folder, struct fault *fault);

/*
 * Takes the parts whose entries are all before `before_ms`; *moved counts them,
 * also after a failure. A part that cannot be taken stays, and the others go all
 * the same; the fault is of the first one that stays.
 *
 *   ERR_BAD_INPUT  the folder is none for it: trail_archive_check()
 *   ERR_DAMAGED    a file is missing, or not as it was written
 *   ERR_EXISTS     the archive has another file of that name, which stays: it is
 *                  of another data directory, or of this one in another life
 *   ERR_BUSY       another process closes or takes months
 *   ERR_NO_SPACE, ERR_DENIED, ...
 */
enum err trail_archive(uint64_t *moved, struct store *store, const char *folder,
    int64_t before_ms, struct fault *fault);
