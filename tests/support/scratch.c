#include "tests/support/scratch.h"

#include <check.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/fs.h"

static char dir[FS_PATH_MAX];

void
scratch_make(void)
{
	const char *base = getenv("TMPDIR");

	snprintf(dir, sizeof(dir), "%s/grid-test-XXXXXX",
	    base == NULL ? "/tmp" : base);
	ck_assert_ptr_nonnull(mkdtemp(dir));
}

void
scratch_remove(void)
{
	if (dir[0] != '\0')
		fs_remove_tree(dir);
	dir[0] = '\0';
}

const char *
scratch_dir(void)
{
	return dir;
}

const char *
scratch_path(const char *name)
{
	static char paths[8][FS_PATH_MAX];
	static unsigned next;
	char *path = paths[next++ % 8];

	ck_assert_int_eq(fs_path(path, "%s/%s", dir, name), ERR_OK);
	return path;
}

void
scratch_write(const char *name, const void *data, unsigned long len)
{
	FILE *file = fopen(scratch_path(name), "wb");

	ck_assert_ptr_nonnull(file);
	ck_assert_uint_eq(fwrite(data, 1, len, file), len);
	ck_assert_int_eq(fclose(file), 0);
}

void
scratch_text(const char *name, const char *text)
{
	scratch_write(name, text, strlen(text));
}

static enum err
join(void *context, const char *name)
{
	buf_addf(context, "%s ", name);
	return ERR_OK;
}

void
scratch_must_have(const char *names)
{
	struct buf buf;

	buf_init(&buf, 4096);
	ck_assert_int_eq(fs_list(dir, join, &buf), ERR_OK);
	ck_assert(span_eq(buf_span(&buf), span_of(names)));
	buf_fini(&buf);
}
