/*
 * owner: a root process becomes the owner of the folder it works on, so that
 * programs of that user can write the files it creates.
 */
#pragma once

#include <stdbool.h>

#include "common/err.h"

/*
 * When the process is root and `dir` belongs to another user, switches to that
 * user for good, with all its groups, and with its HOME, or none. Does nothing for
 * a process that is not root, a folder of root's own, or one that does not exist.
 * Call it before opening anything in `dir`, and before starting threads.
 *
 * `reading` is for a command that takes files as arguments, which any user may
 * own: the process keeps root's right to read any file (where root has it), and
 * writes as that user; or that reads files of root's outside the folder first, and
 * then calls owner_read_own(). No other command may set it: the user controls the
 * files that they read, and a link could then expose any file.
 */
enum err owner_become(const char *dir, bool reading, struct fault *fault);

/* Gives that right up; errno says why it fails. */
enum err owner_read_own(void);

/* The name of the user switched to; NULL when there was no switch. */
const char *owner_name(void);
