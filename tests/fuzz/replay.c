/*
 * replay: the main() of a fuzz target where no fuzzer is linked: it runs every
 * file of tests/fuzz/corpus/NAME, NAME being its own without "fuzz_", or the
 * files named on the command line. So make check keeps what a fuzzer found.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/fs.h"
#include "common/log.h"
#include "tests/fuzz/fuzz.h"

struct replay {
	const char *folder;
	int count;
};

static enum err
run_file(const char *path)
{
	struct buf buf;
	enum err err;

	buf_init(&buf, (size_t)16 << 20);
	err = fs_read(&buf, path);
	if (err == ERR_OK)
		LLVMFuzzerTestOneInput((const uint8_t *)buf.data, buf.len);
	else
		fprintf(stderr, "not ok: %s cannot be read\n", path);
	buf_fini(&buf);
	return err;
}

static enum err
run_name(void *context, const char *name)
{
	struct replay *replay = context;
	char path[FS_PATH_MAX];
	enum err err = fs_path(path, "%s/%s", replay->folder, name);

	replay->count++;
	return err == ERR_OK ? run_file(path) : err;
}

static enum err
run_folder(const char *program, int *count)
{
	const char *top = getenv("abs_top_srcdir");
	const char *name = strstr(program, "fuzz_");
	char folder[FS_PATH_MAX];
	struct replay replay = {.folder = folder};
	enum err err;

	if (name == NULL)
		return ERR_BAD_INPUT;
	while (strstr(name + 1, "fuzz_") != NULL)
		name = strstr(name + 1, "fuzz_");
	err = fs_path(folder, "%s/tests/fuzz/corpus/%s",
	    top == NULL ? "." : top, name + 5);
	if (err == ERR_OK)
		err = fs_list(folder, run_name, &replay);
	*count = replay.count;
	return err;
}

int
main(int argc, char **argv)
{
	enum err err = ERR_OK;
	int count = argc - 1;

	log_open("fuzz", LOG_ERROR_);
	if (argc == 1)
		err = run_folder(argv[0], &count);
	for (int i = 1; i < argc && err == ERR_OK; i++)
		err = run_file(argv[i]);
	if (err != ERR_OK || count == 0) {
		printf("%d passed, 1 failed\n", count);
		return EXIT_FAILURE;
	}
	printf("%d passed, 0 failed\n", count);
	return EXIT_SUCCESS;
}
