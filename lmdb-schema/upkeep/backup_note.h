/*
 * backup_note: when a backup was last made, sent to another host, and restored
 * to try it: the file backups.json of the data directory, replaced as a whole.
 *
 *	{"version":1,"made":"…","sent":null,"tested":null}
 *
 * Written by gridctl; read by `gridctl doctor` and gridapi's metrics.
 */
#pragma once

#include <stdint.h>

#include "common/err.h"

enum backup_event { BACKUP_MADE, BACKUP_SENT, BACKUP_TESTED, BACKUP_EVENTS };

struct backup_note {
	int64_t ms[BACKUP_EVENTS]; /* 0: never */
};

/*
 * All 0 where there is no file yet.
 *
 *   ERR_DAMAGED  the file is not as backup_note_set() writes it
 */
enum err backup_note_read(struct backup_note *out, const char *data_dir);

/* Notes that it is done, now. A damaged file is begun anew. */
enum err backup_note_set(const char *data_dir, enum backup_event event);
