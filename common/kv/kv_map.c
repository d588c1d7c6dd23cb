/*
 * The size of an environment's map, which is address space and not disk space.
 * Without a limit on addresses it is large; under a limit (ulimit -v) it is a
 * little larger than the file, and grows with the file.
 *
 * LMDB moves the map when it grows, so no transaction of this process may be
 * active then. A process whose map is too small for a file that another process
 * has enlarged follows in the same way.
 */
#include <assert.h>
#include <errno.h>
#include <lmdb.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "common/kv/kv_priv.h"
#include "common/limits.h"
#include "common/log.h"

/* Room after a file's pages for the writes of one transaction. */
#define SPARE ((uint64_t)64 << 20)

/* Under a limit, a map takes at most this part of the remaining addresses. */
#define PARTS 8

/* How long a growing map waits for this process's transactions. */
#define WAIT_MS 2000

static uint64_t
whole_pages(uint64_t bytes)
{
	uint64_t page = (uint64_t)sysconf(_SC_PAGESIZE);

	return (bytes + page - 1) / page * page;
}

enum err
kv_no_memory(void)
{
	return limits_addresses() == UINT64_MAX ? ERR_NO_MEMORY
						: ERR_NO_ADDRESS;
}

/* The wanted size, or under a limit on addresses a share of the rest. */
static uint64_t
fit(uint64_t wanted, uint64_t least)
{
	uint64_t limit = limits_addresses(), used, share;

	if (limit == UINT64_MAX)
		return wanted;
	used = limits_addresses_taken();
	share = limit > used ? (limit - used) / PARTS : 0;
	if (share < least)
		share = least;
	return whole_pages(share < wanted ? share : wanted);
}

size_t
kv_map_first(const struct kv_spec *spec, uint64_t file_bytes)
{
	uint64_t wanted = spec->map_bytes;

	if (spec->map_bytes == 0)
		return file_bytes;
	if (!spec->grows)
		return spec->map_bytes;
	if (wanted < file_bytes * 2)
		wanted = whole_pages(file_bytes * 2);
	return fit(wanted, file_bytes + file_bytes / 8 + SPARE / 16);
}

/* --- growing --------------------------------------------------------------- */

void
kv_enter(struct kv *kv)
{
	for (;;) {
		atomic_fetch_add(&kv->active, 1);
		if (!atomic_load(&kv->growing))
			return;
		atomic_fetch_sub(&kv->active, 1);
		pthread_mutex_lock(
		    &kv->grow_lock); /* held until the map has grown */
		pthread_mutex_unlock(&kv->grow_lock);
	}
}

void
kv_leave(struct kv *kv)
{
	unsigned before = atomic_fetch_sub(&kv->active, 1);

	assert(before > 0);
}

/*
 * LMDB unmaps the old map before it maps the new one: test for room beforehand.
 */
static bool
has_addresses(uint64_t bytes)
{
	void *probe = mmap(NULL, bytes, PROT_NONE,
	    MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);

	return probe != MAP_FAILED && munmap(probe, bytes) == 0;
}

/* The caller holds the lock, and no transaction is active. */
static int
set_size(struct kv *kv, uint64_t bytes)
{
	MDB_envinfo info;
	int code = mdb_env_info(kv->env, &info);

	if (code != 0 || bytes <= info.me_mapsize)
		return code;
	if (!has_addresses(bytes))
		return ENOMEM;
	code = mdb_env_set_mapsize(kv->env, bytes);
	/* Without a map the environment cannot even be closed. */
	if (code != 0 && mdb_env_set_mapsize(kv->env, info.me_mapsize) != 0)
		abort();
	return code;
}

static bool
is_idle(struct kv *kv)
{
	for (unsigned i = 0; i < WAIT_MS && atomic_load(&kv->active) > 0; i++)
		usleep(1000);
	return atomic_load(&kv->active) == 0;
}

static enum err
grow_to(struct kv *kv, uint64_t bytes)
{
	enum err err;

	pthread_mutex_lock(&kv->grow_lock);
	atomic_store(&kv->growing, true);
	err = is_idle(kv)
	    ? kv_failed(kv, "enlarging its map", set_size(kv, bytes))
	    : ERR_BUSY;
	atomic_store(&kv->growing, false);
	pthread_mutex_unlock(&kv->grow_lock);
	if (err == ERR_BUSY)
		log_error("storage: the map cannot grow while this process "
			  "reads, and is larger after its restart: file=%s",
		    kv->path);
	return err;
}

/* Follows a file that another process has grown beyond the map. */
enum err
kv_map_follow(struct kv *kv)
{
	struct stat st;
	int fd = -1;
	int code = mdb_env_get_fd(kv->env, &fd);

	if (code == 0 && fstat(fd, &st) != 0)
		code = errno;
	if (code != 0)
		return kv_failed(kv, "measuring", code);
	return grow_to(kv, whole_pages((uint64_t)st.st_size * 2));
}

/* Makes room, before a writer begins, for its expected writes. */
enum err
kv_map_room(struct kv *kv)
{
	uint64_t used, spare = kv->expected + SPARE / 4;
	MDB_envinfo info;
	int code;

	if (!kv->grows || (!kv->full && kv->mode != KV_BUILD))
		return ERR_OK;
	kv_enter(kv);
	code = mdb_env_info(kv->env, &info);
	kv_leave(kv);
	if (code != 0)
		return kv_failed(kv, "measuring", code);
	used = kv_used_bytes(kv);
	if (!kv->full && used + spare <= info.me_mapsize)
		return ERR_OK;
	if (kv->full) /* although the map was expected to suffice */
		used = info.me_mapsize;
	kv->full = false;
	used += used / 2 + spare;
	log_info("storage: the map grows: file=%s bytes=%llu", kv->path,
	    (unsigned long long)whole_pages(used));
	return grow_to(kv, whole_pages(used));
}
