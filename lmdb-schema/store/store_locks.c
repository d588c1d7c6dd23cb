/* Locks between processes: files in `locks`, which hold nothing. */
#include <assert.h>
#include <unistd.h>

#include "common/date.h"
#include "lmdb-schema/key.h"
#include "lmdb-schema/store/store.h"

#define IMPORT_PATIENCE_NS INT64_C(2000000000)

static enum err
lock_named(int *fd, struct store *store, const char *name, bool wait)
{
	char path[FS_PATH_MAX];
	enum err err = fs_path(path, "%s/locks/%s", store_dir(store), name);

	*fd = -1;
	return err == ERR_OK ? fs_lock(fd, path, wait) : err;
}

enum err
store_lock_use(int *fd, const char *dir, bool alone)
{
	char path[FS_PATH_MAX];
	enum err err = fs_path(path, "%s/locks/use", dir);

	*fd = -1;
	if (err != ERR_OK)
		return err;
	return alone ? fs_lock(fd, path, false)
		     : fs_lock_shared(fd, path, true);
}

enum err
store_lock_import(int *fd, struct store *store, bool wait)
{
	return lock_named(fd, store, "import", wait);
}

enum err
store_lock_import_soon(int *fd, struct store *store)
{
	int64_t end = date_monotonic_ns() + IMPORT_PATIENCE_NS;
	enum err err = store_lock_import(fd, store, false);

	while (err == ERR_BUSY && date_monotonic_ns() < end) {
		usleep(20000);
		err = store_lock_import(fd, store, false);
	}
	return err;
}

enum err
store_lock_packing(int *fd, struct store *store, bool wait)
{
	return lock_named(fd, store, "packing", wait);
}

enum err
store_lock_words(int *fd, struct store *store, bool wait)
{
	return lock_named(fd, store, "words", wait);
}

enum err
store_lock_trail(int *fd, struct store *store, bool wait)
{
	return lock_named(fd, store, "trail", wait);
}

enum err
store_lock_sender(int *fd, struct store *store, bool wait)
{
	return lock_named(fd, store, "sender", wait);
}

static enum err
hook_lock_path(char path[FS_PATH_MAX], const struct store *store, uint64_t id)
{
	return fs_path(path, "%s/locks/hook-%llu", store_dir(store),
	    (unsigned long long)id);
}

enum err
store_lock_hook(int *fd, struct store *store, uint64_t id, bool wait)
{
	char path[FS_PATH_MAX];
	enum err err = hook_lock_path(path, store, id);

	*fd = -1;
	return err == ERR_OK ? fs_lock(fd, path, wait) : err;
}

void
store_forget_hook(struct store *store, uint64_t id)
{
	char path[FS_PATH_MAX];

	if (hook_lock_path(path, store, id) == ERR_OK)
		fs_unlink(path);
}

enum err
store_lock_supplier(
    int *fd, struct store *store, struct span supplier, bool wait)
{
	char path[FS_PATH_MAX], name[KEY_FILE_MAX];
	enum err err;

	assert(supplier.len > 0);
	*fd = -1;
	key_file_text(name, supplier);
	err = fs_path(path, "%s/locks/compute-%s", store_dir(store), name);
	return err == ERR_OK ? fs_lock(fd, path, wait) : err;
}

#define LOGIN_STEP_MS 10

static enum err
try_slots(int *fd, struct store *store, const char *name, unsigned slots)
{
	char path[FS_PATH_MAX];
	enum err err = ERR_BUSY;

	for (unsigned i = 0; i < slots && err == ERR_BUSY; i++) {
		err =
		    fs_path(path, "%s/locks/%s-%u", store_dir(store), name, i);
		if (err == ERR_OK)
			err = fs_lock(fd, path, false);
	}
	return err;
}

enum err
store_lock_slot(int *fd, struct store *store, unsigned slots, bool wait)
{
	enum err err;

	assert(slots > 0);
	*fd = -1;
	while ((err = try_slots(fd, store, "slot", slots)) == ERR_BUSY && wait)
		usleep(20000);
	return err;
}

enum err
store_lock_login(int *fd, struct store *store, unsigned wait_ms)
{
	int waiter;
	enum err err;

	*fd = -1;
	err = try_slots(fd, store, "login", STORE_LOGINS);
	if (err != ERR_BUSY ||
	    try_slots(&waiter, store, "login-queue", STORE_LOGINS) != ERR_OK)
		return err;
	for (; err == ERR_BUSY && wait_ms >= LOGIN_STEP_MS;
	     wait_ms -= LOGIN_STEP_MS) {
		usleep(LOGIN_STEP_MS * 1000);
		err = try_slots(fd, store, "login", STORE_LOGINS);
	}
	close(waiter);
	return err;
}
