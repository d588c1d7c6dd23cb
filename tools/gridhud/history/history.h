/*
 * history: the conversation, in memory and in one file.
 *
 * The file holds a line of JSON for each thing that happened: a message, "all
 * has been read", "this source is muted". A message's line tells its number in
 * the server's sequence as well, so that the message and the fact that it has
 * been handled are stored together or not at all. The file is written by one
 * window at a time.
 *
 *	{"e":"4f1c...","m":{"seq":17,"source":"backup",...}}
 *	{"m":{"seq":0,"role":"user","text":"thanks",...}}
 *	{"read":true}  {"acknowledged":true}  {"said":17}
 *	{"mute":"backup","on":true}  {"e":"4f1c...","s":17}
 *	{"alert":17,"on":false}  {"quiet_until":1700000000000}
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "common/err.h"
#include "tools/gridhud/message.h"

#define HISTORY_EPOCH_MAX 64

struct history;

/*
 * Reads what is there; a file that is not is an empty one. Nothing is written
 * before history_claim().
 */
enum err history_open(struct history **out, const char *path,
    int64_t keep_messages, int64_t keep_bytes);
void history_close(struct history *history);

/*
 * Becomes the one that writes, and reads what another one has written in the
 * meantime. ERR_BUSY when that one is still there.
 */
enum err history_claim(struct history *history);

/* Leaves writing to another window. */
void history_yield(struct history *history);

/* New limits, for the next message. */
void history_limit(
    struct history *history, int64_t keep_messages, int64_t keep_bytes);

/* Messages have numbers that stay: first .. end - 1. */
uint64_t history_first(const struct history *history);
uint64_t history_end(const struct history *history);

/* Borrowed until the next call that adds; NULL for one that is not there. */
const struct message *history_at(
    const struct history *history, uint64_t number);

/* Of the server's sequence: which one, and the last that is stored. */
const char *history_epoch(const struct history *history);
uint64_t history_last(const struct history *history);

/* Another sequence begins. */
enum err history_set_epoch(struct history *history, const char *epoch);

/*
 * Stores a message and takes it, whatever comes back. After a failure nothing
 * has been stored. Alerts about the same thing that waited for an
 * acknowledgement are settled by it, unless it is a duplicate.
 */
enum err history_add_take(struct history *history, struct message *message);

enum err history_mark_read(struct history *history);
enum err history_mark_acknowledged(struct history *history);

/* Makes a message wait for an acknowledgement again, or no longer. */
enum err history_set_alert(struct history *history, uint64_t number, bool on);

/* Nobody wants to be disturbed until then, in ms since 1970; 0: no wish. */
enum err history_set_quiet(struct history *history, int64_t until_ms);
int64_t history_quiet_until(const struct history *history);

/* The failure with that number, and those before it, have been spoken. */
enum err history_mark_said(struct history *history, uint64_t seq);

enum err history_set_mute(struct history *history, struct span source, bool on);
bool history_is_muted(const struct history *history, struct span source);

unsigned history_unread(const struct history *history);
unsigned history_alerts(const struct history *history);

/* Calls `each` with every failure that has not been spoken, oldest first. */
void history_unsaid(const struct history *history,
    void (*each)(void *arg, const struct message *message), void *arg);

/* Syncs the file: all that was written is on the disk afterwards. */
enum err history_sync(struct history *history);
