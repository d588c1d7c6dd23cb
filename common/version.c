/* Of the programs that name it as a source of theirs, in place of version_plain.c. */
#include "common/version.h"

#include "common/commit.h"
#include "config.h"

const char version_text[] = PACKAGE_VERSION COMMIT;
