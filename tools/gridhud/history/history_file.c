/* The file: who writes it, and how it is kept small. */
#include "tools/gridhud/history/history_priv.h"

#include <assert.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "common/log.h"

#define SLACK ((int64_t)1 << 20)

/* --- reading -------------------------------------------------------------- */

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
			err = history_read_line(
			    history, span_make(line, (size_t)len - 1));
		history->read += len;
	}
	free(line);
	return err;
}

/* Reads what has been added since; all of it when it is another file. */
static enum err
history_catch_up(struct history *history)
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
		history_forget(history);
	history->file = st.st_ino;
	err = read_lines(history, file);
	fclose(file);
	return err;
}

/* --- writing -------------------------------------------------------------- */

/* Leaves the file as it was after a failure. */
enum err
history_append(struct history *history)
{
	enum err err = buf_end(&history->line);

	assert(history->fd < 0 || history->lock >= 0);
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

	for (unsigned m = 0; err == ERR_OK && m < history->mute_count; m++) {
		history_line_mute(history, span_of(history->mutes[m]), true);
		err = put_line(history, file);
	}
	for (size_t i = history->head; err == ERR_OK && i < history->end; i++) {
		history_line_message(history, history->items[i]);
		err = put_line(history, file);
	}
	if (err == ERR_OK && history->quiet_until_ms > 0) {
		history_line_quiet(history);
		err = put_line(history, file);
	}
	if (err == ERR_OK && history->epoch[0] != '\0') {
		history_line_epoch(history);
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
		err = history_catch_up(history);
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

/* --- opening -------------------------------------------------------------- */

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

	assert(path != NULL && keep_messages > 0 && keep_bytes > 0);
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
		err = history_catch_up(history);
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
	history_forget(history);
	free(history->items);
	buf_fini(&history->line);
	free(history);
}
