/*
 * owner: root works on a folder as the user whom the folder belongs to, so that
 * programs of that user may write what root's have made.
 */
#pragma once

#include <stdbool.h>

#include "common/err.h"

/*
 * When this is root, and `dir` is another user's, becomes that user for good,
 * with all its groups. Any other user, a folder of root's own or one that is
 * not there changes nothing. Before anything of `dir` is opened, and before
 * there are threads.
 *
 * `reading` is for a command that is given files, as they can be anybody's: it
 * may still read what root may, unless this root may not read everything, and
 * writes as that user. Others must not: what they read is the user's to
 * arrange, and he could lead them to any file.
 */
enum err owner_become(const char *dir, bool reading, struct fault *fault);

/* The name of the user that this has become; NULL when it has not. */
const char *owner_name(void);
