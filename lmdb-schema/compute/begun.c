#include "lmdb-schema/compute/begun.h"

#include <assert.h>
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "common/date.h"
#include "common/fs.h"
#include "common/log.h"
#include "lmdb-schema/key.h"
#include "lmdb-schema/snapshot/catalog.h"
#include "lmdb-schema/store/store.h"

#define FOLDER "locks/begun"
#define WHY_MAX (BEGUN_RECORD - 16)

/* As it lies in the file, in the byte order of this machine. */
struct record {
	uint64_t id, before;
	char why[WHY_MAX]; /* "": it has not ended by itself */
};
_Static_assert(sizeof(struct record) == BEGUN_RECORD, "no padding");

static enum err
path_of(char path[FS_PATH_MAX], const struct store *store, struct span supplier)
{
	char name[KEY_FILE_MAX];

	key_file_text(name, supplier);
	return fs_path(path, "%s/" FOLDER "/%s", store_dir(store), name);
}

static bool
read_record(struct record *record, int fd, uint64_t at)
{
	if (pread(fd, record, BEGUN_RECORD, (off_t)at) != BEGUN_RECORD)
		return false;
	record->why[WHY_MAX - 1] = '\0';
	return true;
}

static bool
write_record(int fd, const struct record *record, uint64_t at)
{
	return fs_write_at(fd, record, BEGUN_RECORD, at) == ERR_OK;
}

static uint64_t
records_of(int fd)
{
	struct stat st;

	return fstat(fd, &st) == 0 ? (uint64_t)st.st_size / BEGUN_RECORD : 0;
}

static void
set_why(struct record *record, const char *why)
{
	size_t len = strnlen(why, WHY_MAX - 1);

	memcpy(record->why, why, len);
	record->why[len] = '\0';
}

/*
 * The last record was left by a process that is gone: either it had published
 * its snapshot, and only the note is left, or the computation was ended.
 * Returns how many records are of failures.
 */
static uint64_t
settle(int fd, uint64_t count, uint64_t now)
{
	struct record last;
	uint64_t at = (count - 1) * BEGUN_RECORD;

	if (count == 0 || !read_record(&last, fd, at) || last.why[0] != '\0')
		return count;
	if (now > last.before)
		return ftruncate(fd, (off_t)at) == 0 ? count - 1 : count;
	set_why(&last,
	    "it was ended before it was done: killed, out of memory, or at its "
	    "limit of time");
	write_record(fd, &last, at);
	return count;
}

static bool
open_note(struct begun *begun, struct store *store, struct span supplier)
{
	char folder[FS_PATH_MAX];

	begun->fd = -1;
	if (fs_path(folder, "%s/" FOLDER, store_dir(store)) != ERR_OK ||
	    path_of(begun->path, store, supplier) != ERR_OK ||
	    fs_mkdir(folder) != ERR_OK)
		return false;
	begun->fd =
	    open(begun->path, O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0640);
	return begun->fd >= 0;
}

static void
drop(struct begun *begun)
{
	if (begun->fd >= 0)
		close(begun->fd);
	begun->fd = -1;
}

void
begun_note(struct begun *begun, struct store *store, struct span supplier,
    uint64_t before)
{
	struct record last, record = {.before = before};
	uint64_t count;

	assert(supplier.len > 0 && supplier.len <= SCHEMA_CODE_MAX);
	if (!open_note(begun, store, supplier)) {
		log_warn("a computation cannot be noted, so that no hook is "
			 "told if it fails: supplier=%.*s error=%s",
		    SPAN_ARG(supplier), strerror(errno));
		return;
	}
	count = settle(begun->fd, records_of(begun->fd), before);
	begun->at = count * BEGUN_RECORD;
	record.id = (uint64_t)date_now_ms() << 22 |
	    ((uint64_t)getpid() & ((1 << 22) - 1));
	if (count > 0 &&
	    read_record(&last, begun->fd, begun->at - BEGUN_RECORD) &&
	    record.id <= last.id)
		record.id = last.id + 1;
	if (count >= BEGUN_MAX || !write_record(begun->fd, &record, begun->at))
		drop(begun);
}

void
begun_done(struct begun *begun)
{
	if (begun->fd < 0)
		return;
	if (begun->at == 0)
		fs_unlink(begun->path);
	else if (ftruncate(begun->fd, (off_t)begun->at) != 0)
		log_warn("cannot cut a file: path=%s", begun->path);
	drop(begun);
}

void
begun_failed(struct begun *begun, const char *why)
{
	struct record record;

	assert(why != NULL && why[0] != '\0');
	if (begun->fd < 0)
		return;
	if (read_record(&record, begun->fd, begun->at)) {
		set_why(&record, why);
		write_record(begun->fd, &record, begun->at);
	}
	drop(begun);
}

/* --- telling -------------------------------------------------------------- */

struct looking {
	struct store *store;
	char path[FS_PATH_MAX];
	enum err (*each)(void *context, const struct begun_ends *ends);
	void *context;
};

/* Under the lock of the supplier. */
static enum err
tell(struct looking *looking, int fd, struct span supplier)
{
	struct record records[BEGUN_MAX];
	struct begun_ends ends = {.supplier = supplier};
	struct catalog_entry entry = {.generation = 0};
	uint64_t count;
	enum err err = catalog_current(looking->store, supplier, &entry);

	if (err != ERR_OK && err != ERR_NOT_FOUND && err != ERR_DAMAGED)
		return err;
	count =
	    settle(fd, records_of(fd), err == ERR_OK ? entry.generation : 0);
	while (ends.count < count && ends.count < BEGUN_MAX &&
	    read_record(&records[ends.count], fd,
		(uint64_t)ends.count * BEGUN_RECORD)) {
		const struct record *record = &records[ends.count];

		ends.ids[ends.count] = record->id;
		ends.whys[ends.count++] = span_of(record->why);
	}
	err = ends.count > 0 ? looking->each(looking->context, &ends) : ERR_OK;
	return err == ERR_OK ? fs_unlink(looking->path) : err;
}

/* The file is opened again: its computation may have ended meanwhile. */
static enum err
tell_locked(struct looking *looking, struct span supplier)
{
	int lock, fd;
	enum err err =
	    store_lock_supplier(&lock, looking->store, supplier, false);

	if (err != ERR_OK)
		return err == ERR_BUSY ? ERR_OK : err;
	fd = open(looking->path, O_RDWR | O_CLOEXEC | O_NOFOLLOW);
	if (fd >= 0) {
		err = tell(looking, fd, supplier);
		close(fd);
	}
	close(lock);
	return err;
}

static enum err
look_at(void *context, const char *name)
{
	struct looking *looking = context;
	char code[KEY_FILE_MAX];
	struct span supplier = key_file_code(code, name);
	enum err err = fs_path(
	    looking->path, "%s/" FOLDER "/%s", store_dir(looking->store), name);

	return err == ERR_OK && supplier.len > 0
	    ? tell_locked(looking, supplier)
	    : err;
}

enum err
begun_each(struct store *store,
    enum err (*each)(void *context, const struct begun_ends *ends),
    void *context)
{
	struct looking looking = {
	    .store = store, .each = each, .context = context};
	char folder[FS_PATH_MAX];
	enum err err = fs_path(folder, "%s/" FOLDER, store_dir(store));

	assert(each != NULL);
	if (err == ERR_OK)
		err = fs_list(folder, look_at, &looking);
	return err == ERR_NOT_FOUND ? ERR_OK : err;
}
