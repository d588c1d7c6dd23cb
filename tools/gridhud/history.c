#include "tools/gridhud/history.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "common/fs.h"
#include "common/jsonr.h"
#include "common/log.h"

#define LINE_MAX_BYTES ((size_t)1 << 20)
#define MUTES_MAX 256
#define SLACK ((int64_t)1 << 20)

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

	char epoch[HISTORY_EPOCH_MAX];
	uint64_t last;

	int fd, lock; /* -1 while another one writes */
	ino_t file; /* what was read */
	off_t read; /* up to where */
	bool unsynced;
	struct buf line;
};

/* --- in memory ------------------------------------------------------------ */

uint64_t
history_first(const struct history *history)
{
	return history->first;
}

uint64_t
history_end(const struct history *history)
{
	return history->first + (history->end - history->head);
}

const struct message *
history_at(const struct history *history, uint64_t number)
{
	if (number < history->first || number >= history_end(history))
		return NULL;
	return history->items[history->head + (number - history->first)];
}

const char *
history_epoch(const struct history *history)
{
	return history->epoch;
}

uint64_t
history_last(const struct history *history)
{
	return history->last;
}

unsigned
history_unread(const struct history *history)
{
	return history->unread;
}

unsigned
history_alerts(const struct history *history)
{
	return history->alerts;
}

void
history_limit(
    struct history *history, int64_t keep_messages, int64_t keep_bytes)
{
	history->keep_messages = keep_messages;
	history->keep_bytes = keep_bytes;
}

static void
count(struct history *history, const struct message *message, int by)
{
	history->unread += message->unread ? (unsigned)by : 0;
	history->alerts += message->alert ? (unsigned)by : 0;
	history->unsaid += message->say_due ? (unsigned)by : 0;
	history->bytes += by * (int64_t)message_size(message);
}

static void
drop_oldest(struct history *history)
{
	struct message *message = history->items[history->head++];

	history->first++;
	count(history, message, -1);
	message_free(message);
}

static enum err
make_room(struct history *history)
{
	struct message **items;
	size_t cap = history->cap == 0 ? 256 : history->cap * 2;

	if (history->end < history->cap)
		return ERR_OK;
	if (history->head > history->cap / 4) {
		memmove(history->items, history->items + history->head,
		    (history->end - history->head) * sizeof(*items));
		history->end -= history->head;
		history->head = 0;
		return ERR_OK;
	}
	items = realloc(history->items, cap * sizeof(*items));
	if (items == NULL)
		return ERR_NO_MEMORY;
	history->items = items;
	history->cap = cap;
	return ERR_OK;
}

/* Takes the message; room has been made. */
static void
keep(struct history *history, struct message *message)
{
	history->items[history->end++] = message;
	count(history, message, 1);
	if (message->seq > 0)
		history->last = message->seq;
	while (history->end - history->head > 1 &&
	    (history->end - history->head > (size_t)history->keep_messages ||
		history->bytes > history->keep_bytes))
		drop_oldest(history);
}

static void
all_read(struct history *history)
{
	size_t i = history->end;

	for (; history->unread > 0 && i > history->head; i--)
		if (history->items[i - 1]->unread) {
			history->items[i - 1]->unread = false;
			history->unread--;
		}
}

static void
all_acknowledged(struct history *history)
{
	size_t i = history->end;

	for (; history->alerts > 0 && i > history->head; i--)
		if (history->items[i - 1]->alert) {
			history->items[i - 1]->alert = false;
			history->alerts--;
		}
}

static void
all_said(struct history *history, uint64_t seq)
{
	size_t i = history->end;

	for (; history->unsaid > 0 && i > history->head; i--)
		if (history->items[i - 1]->say_due &&
		    history->items[i - 1]->seq <= seq) {
			history->items[i - 1]->say_due = false;
			history->unsaid--;
		}
}

void
history_unsaid(const struct history *history,
    void (*each)(void *arg, const struct message *message), void *arg)
{
	unsigned left = history->unsaid;
	size_t i;

	for (i = history->head; left > 0 && i < history->end; i++)
		if (history->items[i]->say_due) {
			each(arg, history->items[i]);
			left--;
		}
}

/* --- muted sources -------------------------------------------------------- */

static unsigned
find_mute(const struct history *history, struct span source)
{
	unsigned i = 0;

	while (i < history->mute_count &&
	    !span_eq_nocase(span_of(history->mutes[i]), source))
		i++;
	return i;
}

bool
history_is_muted(const struct history *history, struct span source)
{
	return find_mute(history, source) < history->mute_count;
}

static enum err
mute(struct history *history, struct span source, bool on)
{
	unsigned i = find_mute(history, source);

	if (on == (i < history->mute_count))
		return ERR_OK;
	if (!on) {
		free(history->mutes[i]);
		history->mutes[i] = history->mutes[--history->mute_count];
		return ERR_OK;
	}
	if (history->mute_count == MUTES_MAX)
		return ERR_TOO_LARGE;
	history->mutes[i] = span_dup(source);
	if (history->mutes[i] == NULL)
		return ERR_NO_MEMORY;
	history->mute_count++;
	return ERR_OK;
}

/* --- reading -------------------------------------------------------------- */

static enum err
take_message(struct history *history, const struct jsonr_value *value)
{
	struct message *message;
	enum err err = make_room(history);

	if (err == ERR_OK)
		err = message_read(&message, value);
	if (err == ERR_OK)
		keep(history, message);
	return err;
}

static enum err
take_line(struct history *history, const struct jsonr_value *line)
{
	const struct jsonr_value *message = jsonr_member(line, "m");
	struct span epoch = jsonr_as_string(jsonr_member(line, "e"));
	struct span source = jsonr_as_string(jsonr_member(line, "mute"));

	if (epoch.len > 0) {
		if (!span_copy(history->epoch, sizeof(history->epoch), epoch))
			return ERR_BAD_INPUT;
		history->last = (uint64_t)jsonr_as_int(jsonr_member(line, "s"));
	}
	if (message != NULL)
		return take_message(history, message);
	if (jsonr_as_bool(jsonr_member(line, "read")))
		all_read(history);
	if (jsonr_as_bool(jsonr_member(line, "acknowledged")))
		all_acknowledged(history);
	if (jsonr_member(line, "said") != NULL)
		all_said(history,
		    (uint64_t)jsonr_as_int(jsonr_member(line, "said")));
	if (source.len > 0)
		return mute(
		    history, source, jsonr_as_bool(jsonr_member(line, "on")));
	return ERR_OK;
}

/* One line that cannot be read costs no more than itself. */
static enum err
read_line(struct history *history, struct span text)
{
	static const struct jsonr_limits limits = {.bytes = LINE_MAX_BYTES};
	struct fault fault = {.place = ""};
	struct jsonr *doc = NULL;
	enum err err;

	err = jsonr_parse(&doc, text, &limits, &fault);
	if (err == ERR_OK)
		err = take_line(history, jsonr_root(doc));
	jsonr_free(doc);
	if (err == ERR_OK || err == ERR_NO_MEMORY)
		return err;
	log_warn("history: a line was passed over: file=%s offset=%lld "
		 "reason=%s",
	    history->path, (long long)history->read, fault.message);
	return ERR_OK;
}

/* The whole lines from history->read on. */
static enum err
read_lines(struct history *history, FILE *file)
{
	char *line = NULL;
	size_t cap = 0;
	enum err err = ERR_OK;
	ssize_t len;

	if (fseeko(file, history->read, SEEK_SET) != 0)
		return err_from_errno(errno);
	while (err == ERR_OK && (len = getline(&line, &cap, file)) > 0 &&
	    line[len - 1] == '\n') {
		if (len > 1)
			err = read_line(
			    history, span_make(line, (size_t)len - 1));
		history->read += len;
	}
	free(line);
	return err;
}

static void
forget(struct history *history)
{
	while (history->head < history->end)
		drop_oldest(history);
	while (history->mute_count > 0)
		free(history->mutes[--history->mute_count]);
	history->epoch[0] = '\0';
	history->last = 0;
	history->read = 0;
}

/* Reads what has been added since; all of it when it is another file. */
static enum err
catch_up(struct history *history)
{
	FILE *file = fopen(history->path, "re");
	struct stat st;
	enum err err;

	if (file == NULL && errno == ENOENT)
		return ERR_OK;
	if (file == NULL || fstat(fileno(file), &st) != 0) {
		err = err_from_errno(errno);
		log_error("history cannot be read: file=%s reason=%s",
		    history->path, err_text(err));
		if (file != NULL)
			fclose(file);
		return err;
	}
	if (st.st_ino != history->file || st.st_size < history->read)
		forget(history);
	history->file = st.st_ino;
	err = read_lines(history, file);
	fclose(file);
	return err;
}

static enum err
make_folder(const char *path)
{
	char folder[FS_PATH_MAX];
	const char *slash = strrchr(path, '/');

	if (slash == NULL || slash == path)
		return ERR_OK;
	if (!span_copy(folder, sizeof(folder),
		span_make(path, (size_t)(slash - path))))
		return ERR_TOO_LARGE;
	return fs_mkdir(folder);
}

enum err
history_open(struct history **out, const char *path, int64_t keep_messages,
    int64_t keep_bytes)
{
	struct history *history = calloc(1, sizeof(*history));
	enum err err;

	*out = NULL;
	if (history == NULL)
		return ERR_NO_MEMORY;
	history->fd = history->lock = -1;
	history_limit(history, keep_messages, keep_bytes);
	buf_init(&history->line, LINE_MAX_BYTES);
	err = fs_path(history->path, "%s", path);
	if (err == ERR_OK)
		err = make_folder(path);
	if (err == ERR_OK)
		err = catch_up(history);
	if (err == ERR_OK)
		*out = history;
	else
		history_close(history);
	return err;
}

void
history_close(struct history *history)
{
	if (history == NULL)
		return;
	history_yield(history);
	forget(history);
	free(history->items);
	buf_fini(&history->line);
	free(history);
}

/* --- writing -------------------------------------------------------------- */

/* Leaves the file as it was after a failure. */
static enum err
append(struct history *history)
{
	enum err err = buf_end(&history->line);

	if (err == ERR_OK && history->fd < 0)
		err = ERR_DENIED;
	if (err != ERR_OK)
		return err;
	err = fs_write_all(history->fd, history->line.data, history->line.len);
	if (err == ERR_OK) {
		history->read += (off_t)history->line.len;
		history->unsynced = true;
		return ERR_OK;
	}
	log_error("history cannot be written: file=%s reason=%s", history->path,
	    err_text(err));
	if (ftruncate(history->fd, history->read) != 0)
		log_error("history: half a line stays: file=%s reason=%s",
		    history->path, err_text(err_from_errno(errno)));
	return err;
}

static void
line_begin(struct history *history, struct jsonw *json)
{
	buf_clear(&history->line);
	jsonw_init(json, &history->line);
	jsonw_object_begin(json);
}

static void
line_end(struct history *history, struct jsonw *json)
{
	jsonw_object_end(json);
	if (jsonw_end(json) == ERR_OK)
		buf_add_char(&history->line, '\n');
}

static void
line_flag(struct history *history, const char *name)
{
	struct jsonw json;

	line_begin(history, &json);
	jsonw_key(&json, name);
	jsonw_bool(&json, true);
	line_end(history, &json);
}

static void
line_message(struct history *history, const struct message *message)
{
	struct jsonw json;

	line_begin(history, &json);
	if (message->seq > 0 && history->epoch[0] != '\0') {
		jsonw_key(&json, "e");
		jsonw_text(&json, history->epoch);
	}
	jsonw_key(&json, "m");
	message_write(&json, message);
	line_end(history, &json);
}

static void
line_mute(struct history *history, struct span source, bool on)
{
	struct jsonw json;

	line_begin(history, &json);
	jsonw_key(&json, "mute");
	jsonw_string(&json, source);
	jsonw_key(&json, "on");
	jsonw_bool(&json, on);
	line_end(history, &json);
}

static void
line_epoch(struct history *history)
{
	struct jsonw json;

	line_begin(history, &json);
	jsonw_key(&json, "e");
	jsonw_text(&json, history->epoch);
	jsonw_key(&json, "s");
	jsonw_int(&json, (int64_t)history->last);
	line_end(history, &json);
}

/* --- the file made small again -------------------------------------------- */

static enum err
put_line(struct history *history, FILE *file)
{
	enum err err = buf_end(&history->line);

	if (err == ERR_OK &&
	    fwrite(history->line.data, 1, history->line.len, file) !=
		history->line.len)
		err = err_from_errno(errno);
	return err;
}

static enum err
put_all(struct history *history, FILE *file)
{
	enum err err = ERR_OK;
	unsigned m;
	size_t i;

	for (m = 0; err == ERR_OK && m < history->mute_count; m++) {
		line_mute(history, span_of(history->mutes[m]), true);
		err = put_line(history, file);
	}
	for (i = history->head; err == ERR_OK && i < history->end; i++) {
		line_message(history, history->items[i]);
		err = put_line(history, file);
	}
	if (err == ERR_OK && history->epoch[0] != '\0') {
		line_epoch(history);
		err = put_line(history, file);
	}
	if (err == ERR_OK && (fflush(file) != 0 || fsync(fileno(file)) != 0))
		err = err_from_errno(errno);
	return err;
}

static enum err
open_for_writing(struct history *history)
{
	struct stat st;

	history->fd = open(
	    history->path, O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC, 0600);
	if (history->fd < 0 || fstat(history->fd, &st) != 0) {
		enum err err = err_from_errno(errno);

		log_error("history cannot be opened: file=%s reason=%s",
		    history->path, err_text(err));
		return err;
	}
	history->file = st.st_ino;
	/* A line without an end was cut short by a crash: it never was. */
	if (st.st_size > history->read &&
	    ftruncate(history->fd, history->read) != 0)
		return err_from_errno(errno);
	return ERR_OK;
}

static enum err
rewrite(struct history *history)
{
	char path[FS_PATH_MAX];
	FILE *file = NULL;
	off_t size = 0;
	enum err err = fs_path(path, "%s.new", history->path);

	if (err == ERR_OK) {
		file = fopen(path, "we");
		err = file == NULL ? err_from_errno(errno)
				   : put_all(history, file);
	}
	if (file != NULL) {
		size = ftello(file);
		if (fclose(file) != 0 && err == ERR_OK)
			err = err_from_errno(errno);
	}
	if (err == ERR_OK)
		err = fs_publish(path, history->path);
	if (err != ERR_OK) {
		log_error("history cannot be rewritten: file=%s reason=%s",
		    history->path, err_text(err));
		return err;
	}
	close(history->fd);
	history->read = size;
	return open_for_writing(history);
}

static enum err
rewrite_if_large(struct history *history)
{
	if (history->read < 3 * history->bytes + SLACK)
		return ERR_OK;
	return rewrite(history);
}

/* --- who writes ----------------------------------------------------------- */

enum err
history_claim(struct history *history)
{
	char path[FS_PATH_MAX];
	enum err err;

	if (history->lock >= 0)
		return ERR_OK;
	err = fs_path(path, "%s.lock", history->path);
	if (err == ERR_OK)
		err = fs_lock(&history->lock, path, false);
	if (err == ERR_OK)
		err = catch_up(history);
	if (err == ERR_OK)
		err = open_for_writing(history);
	if (err == ERR_OK)
		err = rewrite_if_large(history);
	if (err != ERR_OK)
		history_yield(history);
	return err;
}

void
history_yield(struct history *history)
{
	if (history->fd >= 0) {
		history_sync(history);
		close(history->fd);
	}
	if (history->lock >= 0)
		close(history->lock);
	history->fd = history->lock = -1;
}

enum err
history_sync(struct history *history)
{
	if (!history->unsynced)
		return ERR_OK;
	if (fdatasync(history->fd) != 0) {
		enum err err = err_from_errno(errno);

		log_error("history cannot be synced: file=%s reason=%s",
		    history->path, err_text(err));
		return err;
	}
	history->unsynced = false;
	return rewrite_if_large(history);
}

/* --- what happens --------------------------------------------------------- */

enum err
history_add_take(struct history *history, struct message *message)
{
	enum err err = make_room(history);

	if (err == ERR_OK) {
		line_message(history, message);
		err = append(history);
	}
	if (err == ERR_OK)
		keep(history, message);
	else
		message_free(message);
	return err;
}

enum err
history_set_epoch(struct history *history, const char *epoch)
{
	if (strcmp(history->epoch, epoch) == 0)
		return ERR_OK;
	if (!span_copy(history->epoch, sizeof(history->epoch), span_of(epoch)))
		return ERR_BAD_INPUT;
	history->last = 0;
	line_epoch(history);
	return append(history);
}

enum err
history_mark_read(struct history *history)
{
	if (history->unread == 0)
		return ERR_OK;
	all_read(history);
	line_flag(history, "read");
	return append(history);
}

enum err
history_mark_acknowledged(struct history *history)
{
	if (history->alerts == 0)
		return ERR_OK;
	all_acknowledged(history);
	line_flag(history, "acknowledged");
	return append(history);
}

enum err
history_mark_said(struct history *history, uint64_t seq)
{
	struct jsonw json;

	if (history->unsaid == 0)
		return ERR_OK;
	all_said(history, seq);
	line_begin(history, &json);
	jsonw_key(&json, "said");
	jsonw_int(&json, (int64_t)seq);
	line_end(history, &json);
	return append(history);
}

enum err
history_set_mute(struct history *history, struct span source, bool on)
{
	enum err err = mute(history, source, on);

	if (err != ERR_OK)
		return err;
	line_mute(history, source, on);
	return append(history);
}
