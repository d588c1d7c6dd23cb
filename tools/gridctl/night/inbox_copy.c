#include <assert.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "common/fs.h"
#include "tools/gridctl/night/inbox_priv.h"
#include "tools/gridctl/night/manifest.h"

#define COPY_BYTES (256 << 10)

struct copying {
	const char *from, *to;
	struct manifest manifest;
	bool listed; /* there is a manifest */
	uint64_t *files;
	struct fault *fault;
};

/* A link or a pipe of the sender's is never followed or waited for. */
static enum err
open_regular(int *fd, const char *path)
{
	struct stat st;

	*fd = open(path, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
	if (*fd < 0)
		return errno == ELOOP ? ERR_BAD_INPUT : err_from_errno(errno);
	if (fstat(*fd, &st) == 0 && S_ISREG(st.st_mode))
		return ERR_OK;
	close(*fd);
	*fd = -1;
	return ERR_BAD_INPUT;
}

/* --- the marker ---------------------------------------------------------------- */

static enum err
read_marker(
    char *text, size_t *len, size_t max, const char *folder, const char *name)
{
	char path[FS_PATH_MAX];
	ssize_t got = 1;
	int fd;
	enum err err = fs_path(path, "%s/%s", folder, name);

	*len = 0;
	if (err == ERR_OK)
		err = open_regular(&fd, path);
	if (err != ERR_OK)
		return err;
	while (got > 0 && *len < max) {
		got = read(fd, text + *len, max - *len);
		*len += got > 0 ? (size_t)got : 0;
	}
	close(fd);
	return got < 0 ? ERR_SYSTEM : ERR_OK;
}

static enum err
read_markers(struct copying *copying)
{
	static char text[MANIFEST_BYTES_MAX + 1];
	bool *merge = &copying->manifest.merge;
	size_t len;
	enum err err =
	    read_marker(text, &len, sizeof(text), copying->from, ".manifest");

	copying->listed = err == ERR_OK;
	if (err == ERR_OK)
		return manifest_read(
		    &copying->manifest, span_make(text, len), copying->fault);
	if (err == ERR_NOT_FOUND)
		err = read_marker(
		    text, &len, sizeof(text), copying->from, ".done");
	return err == ERR_OK
	    ? manifest_mode(merge, span_make(text, len), copying->fault)
	    : err;
}

/* --- a file -------------------------------------------------------------------- */

static enum err
copy_bytes(int from, int to)
{
	static char bytes[COPY_BYTES];
	enum err err = ERR_OK;

	for (;;) {
		ssize_t got = read(from, bytes, sizeof(bytes));

		if (got < 0 && errno == EINTR)
			continue;
		if (got < 0)
			return err_from_errno(errno);
		if (got == 0)
			break;
		err = fs_write_all(to, bytes, (size_t)got);
		if (err != ERR_OK)
			return err;
	}
	return fsync(to) == 0 ? ERR_OK : err_from_errno(errno);
}

/* Compares what was copied, not what the sender has now. */
static enum err
compare(struct copying *copying, int fd, const char *name)
{
	const struct manifest_file *file =
	    manifest_find(&copying->manifest, name);
	uint8_t digest[DIGEST_SHA256_LEN];
	struct stat st;
	void *bytes = NULL;

	if (file == NULL) {
		fault_set(copying->fault, name, "is not in the manifest");
		return ERR_BAD_INPUT;
	}
	if (fstat(fd, &st) != 0)
		return err_from_errno(errno);
	if ((uint64_t)st.st_size != file->bytes) {
		fault_set(copying->fault, name,
		    "has %lld bytes, and the manifest says %llu: it did not "
		    "arrive whole; send it again",
		    (long long)st.st_size, (unsigned long long)file->bytes);
		return ERR_BAD_INPUT;
	}
	if (st.st_size > 0)
		bytes = mmap(
		    NULL, (size_t)st.st_size, PROT_READ, MAP_PRIVATE, fd, 0);
	if (bytes == MAP_FAILED)
		return err_from_errno(errno);
	digest_sha256(digest, span_make(bytes, (size_t)st.st_size));
	if (bytes != NULL)
		munmap(bytes, (size_t)st.st_size);
	if (digest_equal(digest, file->digest, sizeof(digest)))
		return ERR_OK;
	fault_set(copying->fault, name,
	    "has not the SHA-256 that the manifest says: send it again");
	return ERR_BAD_INPUT;
}

static enum err
copy_file(
    struct copying *copying, const char *from, const char *to, const char *name)
{
	int in, out;
	enum err err = open_regular(&in, from);

	if (err == ERR_BAD_INPUT)
		fault_set(copying->fault, name,
		    "is no regular file: a delivery is a folder of CSV files");
	if (err != ERR_OK)
		return err;
	out = open(to, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0640);
	err = out < 0 ? err_from_errno(errno) : copy_bytes(in, out);
	if (err == ERR_OK && copying->listed)
		err = compare(copying, out, name);
	close(in);
	if (out >= 0)
		close(out);
	return err;
}

static enum err
copy_name(void *context, const char *name)
{
	struct copying *copying = context;
	char from[FS_PATH_MAX], to[FS_PATH_MAX];
	enum err err;

	if (name[0] == '.')
		return ERR_OK;
	if (*copying->files == MANIFEST_FILES_MAX) {
		fault_set(copying->fault, name, "is one file too many");
		return ERR_BAD_INPUT;
	}
	err = fs_path(from, "%s/%s", copying->from, name);
	if (err == ERR_OK)
		err = fs_path(to, "%s/%s", copying->to, name);
	if (err == ERR_OK)
		err = copy_file(copying, from, to, name);
	if (err == ERR_OK)
		++*copying->files;
	return err;
}

/* --- all of them ------------------------------------------------------------- */

/* With as many copies as the manifest has names, each name has its copy. */
static enum err
check_all_there(const struct copying *copying)
{
	char path[FS_PATH_MAX];

	for (unsigned i = 0; i < copying->manifest.count; i++) {
		const char *name = copying->manifest.files[i].name;
		enum err err = fs_path(path, "%s/%s", copying->to, name);

		if (err == ERR_OK && access(path, F_OK) == 0)
			continue;
		fault_set(copying->fault, name,
		    "is in the manifest, and did not arrive");
		return ERR_BAD_INPUT;
	}
	return ERR_OK;
}

enum err
inbox_copy_files(
    const char *from, const char *to, uint64_t *files, struct fault *fault)
{
	struct copying copying = {.from = from, .to = to, .files = files};
	char mode[FS_PATH_MAX];
	enum err err;

	assert(files != NULL);
	*files = 0;
	copying.fault = fault;
	err = read_markers(&copying);
	if (err == ERR_OK)
		err = fs_list(from, copy_name, &copying);
	if (err == ERR_OK)
		err = check_all_there(&copying);
	if (err == ERR_OK && copying.manifest.merge) {
		err = fs_path(mode, "%s/.merge", to);
		if (err == ERR_OK)
			err = fs_replace(mode, SPAN("merge\n"), 0640);
	}
	return err;
}
