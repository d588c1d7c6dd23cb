/*
 * Of all other programs, such as tests: they are not linked anew with each commit.
 */
#include "common/version.h"

#include "config.h"

const char version_text[] = PACKAGE_VERSION;
