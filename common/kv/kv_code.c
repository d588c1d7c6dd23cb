/*
 * kv_code: LMDB's codes as ours, and the log of failures.
 */
#include "common/kv/kv_priv.h"

#include <errno.h>
#include <fcntl.h>
#include <lmdb.h>
#include <string.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include "common/log.h"
#include "common/date.h"
#include "common/limits.h"

static const struct {
	int code;
	enum err err;
} codes[] = {
    {MDB_SUCCESS, ERR_OK},
    {MDB_NOTFOUND, ERR_NOT_FOUND},
    {MDB_KEYEXIST, ERR_EXISTS},
    {MDB_PAGE_NOTFOUND, ERR_DAMAGED},
    {MDB_CORRUPTED, ERR_DAMAGED},
    {MDB_INVALID, ERR_DAMAGED},
    {MDB_VERSION_MISMATCH, ERR_VERSION},
    {MDB_INCOMPATIBLE, ERR_VERSION},
    {MDB_MAP_FULL, ERR_MAP_FULL},
    {MDB_TXN_FULL, ERR_TOO_LARGE},
    {MDB_CURSOR_FULL, ERR_DAMAGED},
    {MDB_PAGE_FULL, ERR_DAMAGED},
    {MDB_READERS_FULL, ERR_BUSY},
    {MDB_BAD_VALSIZE, ERR_TOO_LARGE},
    {MDB_PANIC, ERR_INTERNAL},
    {MDB_MAP_RESIZED, ERR_INTERNAL},
    {MDB_DBS_FULL, ERR_INTERNAL},
    {MDB_BAD_RSLOT, ERR_INTERNAL},
    {MDB_BAD_TXN, ERR_INTERNAL},
    {MDB_BAD_DBI, ERR_INTERNAL},
    {MDB_TLS_FULL, ERR_SYSTEM},
};

enum err
kv_fold_code(int code)
{
	for (size_t i = 0; i < sizeof(codes) / sizeof(codes[0]); i++)
		if (codes[i].code == code)
			return codes[i].err;
	if (code == ENOMEM)
		return kv_no_memory();
	return code > 0 ? err_from_errno(code) : ERR_INTERNAL;
}

static const char *
why(char text[LIMITS_TEXT_MAX], int code)
{
	if (code == MDB_MAP_FULL)
		return "the map is full, the disk is not";
	return code > 0 ? limits_why(text, code) : mdb_strerror(code);
}

/*
 * LMDB reports a short write as EIO: the reason is the process's file size limit, or
 * a disk that is used up, where one of them is.
 */
static int
short_write(const char *path)
{
	struct statvfs disk;
	uint64_t page = (uint64_t)sysconf(_SC_PAGESIZE);

	if (limits_ends(path))
		return EFBIG;
	return statvfs(path, &disk) == 0 &&
		disk.f_bavail * disk.f_frsize < 16 * page
	    ? ENOSPC
	    : EIO;
}

static bool
is_refusal(int code)
{
	return code == ENOSPC || code == EDQUOT || code == EFBIG ||
	    code == EROFS || code == EIO;
}

/* A script may go on writing for days: its every write is no line of its own. */
static void
tell_refusal(struct kv *kv, const char *doing, int code)
{
	char text[LIMITS_TEXT_MAX];
	uint64_t before;

	if (!seldom_fails(&kv->refused, &before, date_monotonic_ns()))
		return;
	log_error("storage: %s failed: %s: file=%s times=%llu", doing,
	    why(text, code), kv->path, (unsigned long long)before + 1);
}

void
kv_works(struct kv *kv)
{
	uint64_t refused;

	if (seldom_works(&kv->refused, &refused, date_monotonic_ns()))
		log_info("storage: writes work again: file=%s refused=%llu",
		    kv->path, (unsigned long long)refused);
}

/*
 * Maps LMDB's code, and logs it unless it is success or an answer (not found,
 * exists).
 */
enum err
kv_failed_at(struct kv *kv, const char *path, const char *doing, int code)
{
	char text[LIMITS_TEXT_MAX];

	if (code == MDB_SUCCESS || code == MDB_NOTFOUND || code == MDB_KEYEXIST)
		return kv_fold_code(code);
	if (code == EIO)
		code = short_write(path);
	if (code == MDB_PANIC && atomic_exchange(&kv->told_panic, true))
		return kv_fold_code(code);
	if (code == MDB_MAP_FULL && kv->grows)
		atomic_store(&kv->full, true);
	if (path == kv->path && is_refusal(code))
		tell_refusal(kv, doing, code);
	else
		log_error("storage: %s failed: %s: file=%s", doing,
		    why(text, code), path);
	return kv_fold_code(code);
}

enum err
kv_failed(struct kv *kv, const char *doing, int code)
{
	return kv_failed_at(kv, kv->path, doing, code);
}
