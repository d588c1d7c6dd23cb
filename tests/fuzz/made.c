#include "tests/fuzz/made.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "common/log.h"
#include "tests/fuzz/fuzz.h"

static char root[FS_PATH_MAX];

static void
remove_root(void)
{
	fs_remove_tree(root);
}

static const char *
variable(const char *name)
{
	const char *value = getenv(name);

	return value == NULL ? "." : value;
}

static void
drop_line(enum log_level level, const char *line)
{
	(void)level;
	(void)line;
}

static void
make_root(void)
{
	const char *temporary = getenv("TMPDIR");

	if (root[0] != '\0')
		return;
	log_catch(drop_line);
	snprintf(root, sizeof(root), "%s/grid-fuzz-XXXXXX",
	    temporary == NULL ? "/tmp" : temporary);
	FUZZ_CHECK(mkdtemp(root) != NULL);
	atexit(remove_root);
}

/* Through the fuzzer's own alarm, which interrupts what takes long. */
static bool
next_line(char *line, int room, FILE *pipe)
{
	while (fgets(line, room, pipe) == NULL) {
		if (!ferror(pipe) || errno != EINTR)
			return false;
		clearerr(pipe);
	}
	return true;
}

struct span
made_gridctl(const char *data, const char *words)
{
	static char said[512];
	char command[3 * FS_PATH_MAX], line[512];
	FILE *pipe;

	snprintf(command, sizeof(command),
	    "%s/tools/gridctl/gridctl --data %s %s",
	    variable("abs_top_builddir"), data, words);
	pipe = popen(command, "r");
	FUZZ_CHECK(pipe != NULL);
	said[0] = '\0';
	while (next_line(line, sizeof(line), pipe))
		if (said[0] == '\0')
			memcpy(said, line, sizeof(said));
	if (pclose(pipe) != 0) {
		fprintf(stderr, "%s: %s\n", command, said);
		FUZZ_CHECK(false);
	}
	return span_sub(span_of(said), 0, strcspn(said, "\n"));
}

static void
fill(char data[FS_PATH_MAX], const char *name, const char *csv)
{
	char words[2 * FS_PATH_MAX];

	FUZZ_CHECK(fs_path(data, "%s/%s", root, name) == ERR_OK);
	made_gridctl(data, "init");
	snprintf(words, sizeof(words), "import --quiet %s", csv);
	made_gridctl(data, words);
}

const char *
made_flow(void)
{
	static char data[FS_PATH_MAX];
	char csv[FS_PATH_MAX];

	if (data[0] != '\0')
		return data;
	make_root();
	FUZZ_CHECK(fs_path(csv, "%s/tests/flow/data",
		       variable("abs_top_srcdir")) == ERR_OK);
	fill(data, "flow", csv);
	made_gridctl(data, "compute --quiet S1");
	made_gridctl(data, "compute --quiet S2");
	made_gridctl(data, "compute --quiet S5");
	return data;
}

static void
make_demo(char data[FS_PATH_MAX], const char *name, unsigned articles)
{
	char csv[FS_PATH_MAX], words[2 * FS_PATH_MAX];

	make_root();
	FUZZ_CHECK(fs_path(csv, "%s/csv-%s", root, name) == ERR_OK);
	snprintf(words, sizeof(words),
	    "demo --out %s --articles %u --suppliers 1 --stores 2 --seed 1",
	    csv, articles);
	made_gridctl(root, words);
	fill(data, name, csv);
	made_gridctl(data, "compute --quiet --all");
}

const char *
made_demo(void)
{
	static char data[FS_PATH_MAX];

	if (data[0] == '\0')
		make_demo(data, "demo", 300);
	return data;
}

const char *
made_packed(void)
{
	static char data[FS_PATH_MAX];

	if (data[0] == '\0') {
		make_demo(data, "packed", 600);
		made_gridctl(data, "pack --quiet --all");
		made_gridctl(data, "pack --quiet --all --for pages");
	}
	return data;
}

struct finding {
	char *path;
	const char *folder, *end;
};

static enum err
find_in(void *context, const char *name)
{
	struct finding *finding = context;
	size_t len = strlen(name), end = strlen(finding->end);
	char below[FS_PATH_MAX];

	if (len >= end && strcmp(name + len - end, finding->end) == 0)
		return fs_path(finding->path, "%s/%s", finding->folder, name);
	if (strchr(name, '.') != NULL ||
	    fs_path(below, "%s/%s", finding->folder, name) != ERR_OK ||
	    access(below, X_OK) != 0)
		return ERR_OK;
	made_find(finding->path, below, finding->end);
	return ERR_OK;
}

void
made_find(char path[FS_PATH_MAX], const char *folder, const char *end)
{
	struct finding finding = {path, folder, end};

	if (folder == made_demo() || folder == made_flow())
		path[0] = '\0';
	fs_list(folder, find_in, &finding);
}

void
made_damage(char *file, size_t len, struct span patches)
{
	while (patches.len > 5 && len > 0) {
		uint32_t at;
		size_t count = (unsigned char)patches.ptr[4];

		memcpy(&at, patches.ptr, sizeof(at));
		at %= (uint32_t)len;
		patches = span_from(patches, 5);
		if (count > patches.len)
			count = patches.len;
		if (count > len - at)
			count = len - at;
		memcpy(file + at, patches.ptr, count);
		patches = span_from(patches, count);
	}
}

void
made_write(const char *path, const void *bytes, size_t len)
{
	int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);

	FUZZ_CHECK(fd >= 0 && fs_write_all(fd, bytes, len) == ERR_OK);
	close(fd);
}

void
made_write_damaged(const char *path, struct span sound,
    void (*lay)(char *file, uint8_t how, struct span patches),
    struct span input)
{
	uint8_t how = (uint8_t)input.ptr[0];
	struct span patches = span_from(input, 1);
	char *file = malloc(sound.len);

	FUZZ_CHECK(file != NULL);
	memcpy(file, sound.ptr, sound.len);
	lay(file, how, patches);
	made_write(path, file,
	    how == 'c' ? sound.len * (patches.len % 64) / 64 : sound.len);
	free(file);
}
