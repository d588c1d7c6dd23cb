/*
 * helper_priv: shared by helper*.c; no other file includes it.
 */
#pragma once

#include <stdbool.h>

#include "tools/gridhook/mcp/helper.h"

/*
 * Our environment without what a helper must not see, and with its settings
 * (NULL: none), which `own` holds. The caller frees both, also after false.
 */
bool helper_environment(char ***environment, char **own, const char *settings);
