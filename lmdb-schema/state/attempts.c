/*
 * Each slot holds one number, the moment at which all attempts counted there
 * expire; an attempt moves it on by window / limit, and is refused if that
 * would move it beyond a window from now (the "leaky bucket" as a meter). So a
 * slot is one atomic word, and needs no lock and no clearing.
 */
#include "lmdb-schema/state/attempts.h"

#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <sys/file.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "common/digest.h"
#include "common/fs.h"
#include "common/limits.h"
#include "common/log.h"
#include "lmdb-schema/store/store.h"

#define PLACES 16384
#define FILE_MODE 0640

struct file {
	uint8_t secret[DIGEST_SHA256_LEN];
	_Atomic int64_t until_ms[PLACES]; /* the last slot: all attempts */
};

struct attempts {
	struct file *file;
};

enum kind { PAIR, ADDRESS, USER, ALL, KINDS };

static const int64_t step_ms[KINDS] = {
    [PAIR] = ATTEMPTS_WINDOW_MS / ATTEMPTS_PAIR,
    [ADDRESS] = ATTEMPTS_WINDOW_MS / ATTEMPTS_ADDRESS,
    [USER] = ATTEMPTS_WINDOW_MS / ATTEMPTS_USER,
    [ALL] = ATTEMPTS_WINDOW_MS / ATTEMPTS_ALL,
};

/* --- the file ------------------------------------------------------------- */

/*
 * Makes the file, under its lock. Allocates all blocks at once: a full disk
 * must not hit a later store into the map.
 */
static int
make_file(int fd)
{
	uint8_t secret[DIGEST_SHA256_LEN];
	struct stat st;
	int code;

	if (fstat(fd, &st) != 0)
		return errno;
	if (st.st_size == (off_t)sizeof(struct file))
		return 0;
	if (digest_random(secret, sizeof(secret)) != ERR_OK)
		return EIO;
	if (ftruncate(fd, 0) != 0)
		return errno;
	/* Set the length last: a shorter file counts as not made. */
	if (fs_write_all(fd, secret, sizeof(secret)) != ERR_OK)
		return errno;
	code = posix_fallocate(fd, 0, sizeof(struct file));
	return code;
}

static int
map_file(struct attempts *attempts, int fd)
{
	void *map;
	int code;

	if (flock(fd, LOCK_EX) != 0)
		return errno;
	code = make_file(fd);
	if (code != 0)
		return code;
	map = mmap(NULL, sizeof(struct file), PROT_READ | PROT_WRITE,
	    MAP_SHARED, fd, 0);
	if (map == MAP_FAILED)
		return errno;
	attempts->file = map;
	/*
	 * Unlock explicitly: the map keeps the open file, and its lock, beyond
	 * close().
	 */
	return flock(fd, LOCK_UN) == 0 ? 0 : errno;
}

enum err
attempts_open(struct attempts **out, struct store *store)
{
	struct attempts *attempts = calloc(1, sizeof(*attempts));
	char path[FS_PATH_MAX], why[LIMITS_TEXT_MAX];
	enum err err = fs_path(path, "%s/locks/attempts", store_dir(store));
	int fd, code;

	*out = NULL;
	if (attempts == NULL)
		err = ERR_NO_MEMORY;
	if (err != ERR_OK) {
		free(attempts);
		return err;
	}
	fd = open(path, O_RDWR | O_CREAT | O_CLOEXEC, FILE_MODE);
	code = fd < 0 ? errno : map_file(attempts, fd);
	if (fd >= 0)
		close(fd);
	if (code != 0) {
		log_error("cannot open the count of attempts: %s: file=%s",
		    limits_why(why, code), path);
		free(attempts);
		return err_from_errno(code);
	}
	*out = attempts;
	return ERR_OK;
}

void
attempts_close(struct attempts *attempts)
{
	if (attempts == NULL)
		return;
	munmap(attempts->file, sizeof(struct file));
	free(attempts);
}

/* --- counting ------------------------------------------------------------- */

/*
 * Only the first 64 bits of an IPv6 address count: one network has 2^64
 * addresses.
 */
static struct span
network_of(uint8_t bytes[16], struct span address)
{
	char text[INET6_ADDRSTRLEN];

	if (!span_copy(text, sizeof(text), address) ||
	    inet_pton(AF_INET6, text, bytes) != 1)
		return address;
	/* ::ffff:192.0.2.1 is that IPv4 address. */
	if (memcmp(bytes, "\0\0\0\0\0\0\0\0\0\0\xff\xff", 12) == 0)
		return span_make(bytes, 16);
	return span_make(bytes, 8);
}

static _Atomic int64_t *
place_of(struct attempts *attempts, enum kind kind, struct span user,
    struct span address)
{
	uint8_t network[16], hash[DIGEST_SHA256_LEN];
	char kind_byte = (char)('0' + kind);
	struct buf text;
	uint32_t number;

	if (kind == ALL)
		return &attempts->file->until_ms[PLACES - 1];
	buf_init(&text, 8192);
	buf_add(&text, attempts->file->secret, DIGEST_SHA256_LEN);
	buf_add_char(&text, kind_byte);
	if (kind != USER)
		buf_add_span(&text, network_of(network, address));
	buf_add_char(&text, '\0');
	if (kind != ADDRESS)
		buf_add_span(&text, span_sub(user, 0, 256));
	/*
	 * Without memory all attempts share one slot, which only limits them
	 * more.
	 */
	digest_sha256(
	    hash, buf_end(&text) == ERR_OK ? buf_span(&text) : SPAN(""));
	buf_fini(&text);
	memcpy(&number, hash, sizeof(number));
	return &attempts->file->until_ms[number % (PLACES - 1)];
}

/* Returns how long to wait, or 0 when the attempt was counted. */
static int64_t
count(_Atomic int64_t *place, int64_t step, int64_t now_ms)
{
	int64_t old = atomic_load(place);
	int64_t until;

	do {
		until = old > now_ms ? old : now_ms;
		/* The clock was set back: cap the wait at one window. */
		if (until > now_ms + ATTEMPTS_WINDOW_MS)
			until = now_ms + ATTEMPTS_WINDOW_MS;
		if (until + step > now_ms + ATTEMPTS_WINDOW_MS)
			return until + step - now_ms - ATTEMPTS_WINDOW_MS;
	} while (!atomic_compare_exchange_weak(place, &old, until + step));
	return 0;
}

bool
attempts_take(struct attempts *attempts, struct span user, struct span address,
    int64_t now_ms, int64_t *wait_ms)
{
	static const enum kind order[KINDS] = {ADDRESS, PAIR, USER, ALL};

	*wait_ms = 0;
	for (unsigned i = 0; i < KINDS && *wait_ms == 0; i++)
		*wait_ms = count(place_of(attempts, order[i], user, address),
		    step_ms[order[i]], now_ms);
	return *wait_ms == 0;
}

void
attempts_forgive(
    struct attempts *attempts, struct span user, struct span address)
{
	atomic_store(place_of(attempts, PAIR, user, address), 0);
	atomic_fetch_sub(
	    place_of(attempts, ADDRESS, user, address), step_ms[ADDRESS]);
	atomic_fetch_sub(
	    place_of(attempts, USER, user, address), step_ms[USER]);
	atomic_fetch_sub(place_of(attempts, ALL, user, address), step_ms[ALL]);
}
