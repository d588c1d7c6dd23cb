/* show: a night as a table, and as a report that says what to do. */
#pragma once

#include "common/buf.h"
#include "lmdb-schema/upkeep/night.h"
#include "tools/gridctl/night/settings.h"

#define NIGHT_TITLE_MAX 200

/* Each step, and under one that failed what it said and what to do. */
void night_show(struct buf *text, const struct night *night,
    const struct night_settings *settings);

/* "Night of 2026-11-23 failed: check of monday" */
void night_title(char title[NIGHT_TITLE_MAX], const struct night *night);
