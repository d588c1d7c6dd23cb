/*
 * trail_lost: how a person is told of a file of the trail that cannot be read: which
 * entries it has, why, and what to do.
 */
#pragma once

#include "common/date.h"
#include "lmdb-schema/state/trail_parts.h"

/* "2026-01". */
void trail_month_text(char text[DATE_TEXT_MAX], uint32_t month);

struct trail_lost {
	char path[FS_PATH_MAX];
	char what
	    [128]; /* "entries 1 to 900 of the audit trail (2026-01): ..." */
	const char *todo;
};

/* `err` is trail_parts_open()'s, or of a reading behind it. */
void trail_lost(struct trail_lost *lost, const struct store *store,
    const struct trail_parts_row *row, enum err err);

/* Whether `err` says that entries cannot be read which should be there. */
static inline bool
trail_is_lost(enum err err)
{
	return err == ERR_DAMAGED || err == ERR_DENIED || err == ERR_VERSION ||
	    err == ERR_SYSTEM;
}

/* Logs it where it is lost, once a minute for each file and reason. */
void trail_lost_log(
    const struct store *store, const struct trail_parts_row *row, enum err err);
