#include "common/log.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "common/date.h"

/* Includes head and newline; a pipe writes up to 4096 bytes atomically. */
#define LINE_MAX_BYTES 2048
#define HEAD_MAX_BYTES 256

static const struct {
	const char *name;
	int priority; /* syslog's, as the journal reads it */
} levels[] = {
    [LOG_ERROR_] = {"error", 3},
    [LOG_WARN_] = {"warn", 4},
    [LOG_INFO_] = {"info", 6},
    [LOG_DEBUG_] = {"debug", 7},
};

static const char *name = "?";
static enum log_level most = LOG_INFO_;
static bool to_journal;
static void (*catcher)(enum log_level level, const char *line);

/* The variable names the journal's socket; stderr may have been moved since. */
static bool
is_journal(void)
{
	const char *stream = getenv("JOURNAL_STREAM");
	char own[64];
	struct stat st;

	if (stream == NULL || fstat(STDERR_FILENO, &st) != 0)
		return false;
	snprintf(own, sizeof(own), "%llu:%llu", (unsigned long long)st.st_dev,
	    (unsigned long long)st.st_ino);
	return strcmp(own, stream) == 0;
}

void
log_open(const char *program, enum log_level level)
{
	name = program;
	most = level;
	to_journal = is_journal();
}

void
log_catch(void (*function)(enum log_level level, const char *line))
{
	catcher = function;
}

static size_t
put_head(char *line, enum log_level level)
{
	char now[DATE_TEXT_MAX];
	int len;

	if (to_journal)
		len = snprintf(line, HEAD_MAX_BYTES,
		    "<%d>%.128s[%d]: ", levels[level].priority, name,
		    (int)getpid());
	else {
		date_instant_text(now, date_now_ms());
		len = snprintf(line, HEAD_MAX_BYTES, "%s %s %.128s[%d]: ", now,
		    levels[level].name, name, (int)getpid());
	}
	return (size_t)len;
}

/* C1 controls too (C2 80 .. C2 9F): terminals obey them. */
static void
clean(char *text)
{
	for (unsigned char *at = (unsigned char *)text; *at != '\0'; at++) {
		if (at[0] < 0x20 || at[0] == 0x7f)
			*at = '?';
		if (at[0] == 0xc2 && at[1] >= 0x80 && at[1] <= 0x9f)
			at[0] = at[1] = '?';
	}
}

/* Ends a text that did not fit with "...", and never inside a character. */
static void
cut(char *text, size_t size)
{
	size_t end = size - sizeof("...");

	while (end > 0 && ((unsigned char)text[end] & 0xc0) == 0x80)
		end--;
	memcpy(text + end, "...", sizeof("..."));
}

static void
write_line(const char *line, size_t len)
{
	ssize_t done;

	/*
	 * Ignored: there is no other place to report that the log cannot be
	 * written.
	 */
	do
		done = write(STDERR_FILENO, line, len);
	while (done < 0 && errno == EINTR);
}

void
log_line(enum log_level level, const char *format, ...)
{
	char line[LINE_MAX_BYTES + 1];
	size_t head;
	size_t room;
	int saved = errno;
	int len;
	va_list args;

	if (level > most)
		return;
	head = put_head(line, level);
	room = LINE_MAX_BYTES - head; /* one for the newline */
	va_start(args, format);
	len = vsnprintf(line + head, room, format, args);
	va_end(args);
	if (len < 0)
		line[head] = '\0';
	if (len >= 0 && (size_t)len >= room)
		cut(line + head, room);
	clean(line + head);
	if (catcher != NULL)
		catcher(level, line + head);
	else {
		len = (int)strlen(line);
		line[len] = '\n';
		write_line(line, (size_t)len + 1);
	}
	errno = saved;
}
