/*
 * history_priv: internals shared by the history's files only.
 *
 *	history.c       the conversation in memory; what happens to it
 *	history_line.c  a line of the file for each thing that happened
 *	history_file.c  the file: who writes it, and how it is kept small
 */
#pragma once

#include <sys/types.h>

#include "common/fs.h"
#include "common/jsonw.h"
#include "tools/gridhud/history/history.h"

#define LINE_MAX_BYTES ((size_t)1 << 20)
#define MUTES_MAX 256

struct history {
	char path[FS_PATH_MAX];
	int64_t keep_messages, keep_bytes;

	struct message **items; /* oldest first, from `head` on */
	size_t head, end, cap;
	uint64_t first; /* the number of items[head] */
	int64_t bytes;
	unsigned unread, alerts, unsaid;
	char *mutes[MUTES_MAX];
	unsigned mute_count;
	int64_t quiet_until_ms;

	char epoch[HISTORY_EPOCH_MAX];
	uint64_t last;

	int fd, lock; /* -1 while another one writes */
	ino_t file; /* what was read */
	off_t read; /* up to where */
	bool unsynced;
	struct buf line;
};

/* --- in memory --- */

/* Room for one more message. */
enum err history_make_room(struct history *history);

/* Takes the message; room has been made. */
void history_keep(struct history *history, struct message *message);

void history_all_read(struct history *history);
void history_all_acknowledged(struct history *history);
void history_all_said(struct history *history, uint64_t seq);
/* The newest message with that number of the server's sequence. */
void history_alert(struct history *history, uint64_t seq, bool on);
enum err history_mute(struct history *history, struct span source, bool on);

/* As though nothing had been read. */
void history_forget(struct history *history);

/* --- lines: each makes history->line --- */

void history_line_begin(struct history *history, struct jsonw *json);
void history_line_end(struct history *history, struct jsonw *json);
void history_line_flag(struct history *history, const char *name);
void history_line_message(
    struct history *history, const struct message *message);
void history_line_alert(struct history *history, uint64_t seq, bool on);
void history_line_quiet(struct history *history);
void history_line_mute(struct history *history, struct span source, bool on);
void history_line_epoch(struct history *history);

/* Takes a line; one that cannot be read costs no more than itself. */
enum err history_read_line(struct history *history, struct span text);

/* --- the file --- */

/* Adds history->line; leaves the file as it was after a failure. */
enum err history_append(struct history *history);
