/*
 * log: one line per event, on standard error, written by a single write(2) so
 * that lines of several processes never mix.
 *
 *	2026-01-31T09:00:00.250Z warn gridapi[812]: snapshot damaged: file=…
 *
 * Under systemd (JOURNAL_STREAM set) the time is left to the journal and the
 * level becomes its "<4>" prefix. Operands follow the sentence as name=value;
 * control characters in them are shown as '?'. Never log a secret.
 */
#pragma once

#include <stdbool.h>

enum log_level { LOG_ERROR_, LOG_WARN_, LOG_INFO_, LOG_DEBUG_ };

/* `program` is kept by pointer. Call once at start; tests may call again. */
void log_open(const char *program, enum log_level most);

void log_line(enum log_level level, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

#define log_error(...) log_line(LOG_ERROR_, __VA_ARGS__)
#define log_warn(...) log_line(LOG_WARN_, __VA_ARGS__)
#define log_info(...) log_line(LOG_INFO_, __VA_ARGS__)
#define log_debug(...) log_line(LOG_DEBUG_, __VA_ARGS__)

/* Lets a test catch the lines (without their head). NULL: stderr again. */
void log_catch(void (*catcher)(enum log_level level, const char *line));
