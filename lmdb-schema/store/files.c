#include "lmdb-schema/store/files.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "common/digest.h"
#include "common/hex.h"
#include "common/log.h"
#include "lmdb-schema/store/files_priv.h"

#define READ_BYTES ((size_t)256 << 10)

bool
files_is_name(struct span name)
{
	return name.len == FILES_NAME_LEN &&
	    strspn(name.ptr, "0123456789abcdef") >= FILES_NAME_LEN;
}

enum err
files_path(char path[FS_PATH_MAX], const char *dir, const char *name,
    const char *suffix)
{
	return fs_path(path, "%s/files/%s%s", dir, name, suffix);
}

bool
files_have(const char *dir, const struct files_id *id)
{
	char path[FS_PATH_MAX];
	struct stat st;

	return files_path(path, dir, id->name, "") == ERR_OK &&
	    lstat(path, &st) == 0 && S_ISREG(st.st_mode) &&
	    (uint64_t)st.st_size == id->bytes;
}

static enum err
read_all(struct files_id *id, struct digest_parts *digest, int fd)
{
	struct buf bytes;
	ssize_t got = 1;
	char *room;

	id->bytes = 0;
	buf_init(&bytes, READ_BYTES);
	room = buf_room(&bytes, READ_BYTES);
	while (room != NULL && got > 0) {
		got = read(fd, room, READ_BYTES);
		if (got < 0 && errno == EINTR)
			got = 1;
		else if (got > 0) {
			digest_parts_more(digest, span_make(room, (size_t)got));
			id->bytes += (uint64_t)got;
		}
	}
	buf_fini(&bytes);
	if (room == NULL)
		return ERR_NO_MEMORY;
	return got < 0 ? err_from_errno(errno) : ERR_OK;
}

enum err
files_sum_of(struct files_id *id, int fd)
{
	struct digest_parts *digest;
	uint8_t hash[DIGEST_SHA256_LEN];
	enum err err = digest_parts_new(&digest);

	if (err == ERR_OK)
		err = read_all(id, digest, fd);
	if (err == ERR_OK)
		err = digest_parts_end(digest, hash);
	if (err == ERR_OK)
		hex_text(id->name, hash, sizeof(hash));
	digest_parts_free(digest);
	return err;
}

enum err
files_sum(struct files_id *id, const char *path)
{
	int fd = open(path, O_RDONLY | O_NOFOLLOW | O_CLOEXEC);
	enum err err = fd < 0 ? err_from_errno(errno) : files_sum_of(id, fd);

	if (fd >= 0)
		close(fd);
	if (err != ERR_OK && err != ERR_NOT_FOUND)
		log_error("a file cannot be read: path=%s error=%s", path,
		    err_text(err));
	return err;
}

enum err
files_make_folder(const char *dir)
{
	char path[FS_PATH_MAX];
	enum err err = fs_path(path, "%s/files", dir);

	return err == ERR_OK ? fs_mkdir(path) : err;
}

static enum err
add_link(const char *from, const char *to)
{
	if (chmod(from, FILES_MODE) == 0 &&
	    (link(from, to) == 0 || errno == EEXIST))
		return fs_sync_folder(to);
	log_error("a file cannot be linked: from=%s to=%s error=%s", from, to,
	    strerror(errno));
	return err_from_errno(errno);
}

enum err
files_add(struct files_id *id, const char *dir, const char *path)
{
	char to[FS_PATH_MAX];
	enum err err = files_sum(id, path);

	if (err == ERR_OK)
		err = files_make_folder(dir);
	if (err == ERR_OK)
		err = files_path(to, dir, id->name, "");
	return err == ERR_OK ? add_link(path, to) : err;
}

struct looking {
	const char *dir;
	const struct stat *st;
	struct files_id *id;
	bool found;
};

static enum err
look_at(void *context, const char *name)
{
	struct looking *looking = context;
	char path[FS_PATH_MAX];
	struct stat st;

	if (files_is_name(span_of(name)) &&
	    files_path(path, looking->dir, name, "") == ERR_OK &&
	    lstat(path, &st) == 0 && st.st_ino == looking->st->st_ino &&
	    st.st_dev == looking->st->st_dev) {
		looking->found = true;
		memcpy(looking->id->name, name, sizeof(looking->id->name));
		looking->id->bytes = (uint64_t)st.st_size;
	}
	return ERR_OK;
}

bool
files_find(struct files_id *id, const char *dir, const char *path)
{
	char folder[FS_PATH_MAX];
	struct stat st;
	struct looking looking = {dir, &st, id, false};

	return lstat(path, &st) == 0 && st.st_nlink > 1 &&
	    fs_path(folder, "%s/files", dir) == ERR_OK &&
	    fs_list(folder, look_at, &looking) == ERR_OK && looking.found;
}

bool
files_is_sound(const char *path, const struct files_id *id)
{
	struct files_id found;

	return files_sum(&found, path) == ERR_OK &&
	    strcmp(found.name, id->name) == 0;
}

bool
files_is_at(const char *dir, const struct files_id *id, const char *path)
{
	char here[FS_PATH_MAX];
	struct stat one, two;

	return files_path(here, dir, id->name, "") == ERR_OK &&
	    lstat(here, &one) == 0 && lstat(path, &two) == 0 &&
	    one.st_dev == two.st_dev && one.st_ino == two.st_ino;
}

enum err
files_place(const char *dir, const struct files_id *id, const char *path)
{
	char from[FS_PATH_MAX], aside[FS_PATH_MAX];
	enum err err = files_path(from, dir, id->name, "");

	if (err == ERR_OK)
		err = fs_path(aside, "%s.tmp", path);
	if (err != ERR_OK || files_is_at(dir, id, path))
		return err;
	err = fs_unlink(aside);
	if (err == ERR_OK && link(from, aside) != 0)
		err = err_from_errno(errno);
	return err == ERR_OK ? fs_publish(aside, path) : err;
}

void
files_drop(const char *dir, const char *name)
{
	char path[FS_PATH_MAX];

	if (files_path(path, dir, name, "") == ERR_OK)
		unlink(path);
}

enum err
files_add_bytes(struct files_id *id, const char *dir, struct span bytes)
{
	uint8_t hash[DIGEST_SHA256_LEN];
	char path[FS_PATH_MAX];
	enum err err = files_make_folder(dir);

	digest_sha256(hash, bytes);
	hex_text(id->name, hash, sizeof(hash));
	id->bytes = bytes.len;
	if (err == ERR_OK)
		err = files_path(path, dir, id->name, "");
	return err == ERR_OK ? fs_replace(path, bytes, FILES_MODE) : err;
}
