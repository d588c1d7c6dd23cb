/*
 * owner: root works on a data directory as the user whom it belongs to, so
 * that gridapi, which is that user, may write what gridctl has made.
 */
#pragma once

#include "common/err.h"

/*
 * When this is root, and `dir` is another user's, becomes that user for good,
 * with all its groups. It may still read what root may, as the CSV files that
 * it is given can be anybody's; it writes as that user. Any other user, a folder of root's own or one that is
 * not there changes nothing. Before anything of `dir` is opened, and before
 * there are threads.
 */
enum err owner_become(const char *dir, struct fault *fault);

/* The name of the user that this has become; NULL when it has not. */
const char *owner_name(void);
