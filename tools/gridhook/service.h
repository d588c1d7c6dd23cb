/*
 * service: all parts of a running gridhook, put together.
 */
#pragma once

#include <stdbool.h>

#include "common/err.h"
#include "tools/gridhook/events/recipe.h"
#include "tools/gridhook/settings.h"

/*
 * Runs until SIGTERM or SIGINT. With `stay` it goes on when it cannot listen,
 * so that `gridhook ctl status` can tell why; else that ends it.
 */
enum err service_run(struct hook_settings *settings, bool stay);

/* The helper: the one that is set, the one beside us, the installed one. */
enum err service_find_helper(
    char path[FS_PATH_MAX], const struct hook_settings *settings);

/*
 * The settings that a helper is given, malloc'ed; NULL: no memory. What a
 * helper leaves behind (the owner of the clipboard) ends with this process, or
 * else lives on until its use is over.
 */
char *service_helper_settings(
    const struct hook_settings *settings, bool ends_with_us);

/*
 * The families of senders that stand in files: the user's, then the package's,
 * or those beside this program in a build tree. What is wrong is logged and
 * left out. NULL when memory is out.
 */
struct recipes *service_read_families(void);
