/* report: tells a person of a night, by a command and by an address. */
#pragma once

#include "lmdb-schema/upkeep/night.h"
#include "tools/gridctl/night/settings.h"

/* The exit code; failures are printed. */
int night_report(
    const struct night *night, const struct night_settings *settings);
