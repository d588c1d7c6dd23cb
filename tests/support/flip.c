#include "tests/support/flip.h"

#include <check.h>
#include <fcntl.h>
#include <string.h>
#include <unistd.h>

#include "common/fs.h"

void
flip(const char *path, struct span text, size_t at)
{
	struct buf buf;
	char *found;
	unsigned places = 0;
	int fd = open(path, O_WRONLY | O_CLOEXEC);

	ck_assert_int_ge(fd, 0);
	buf_init(&buf, (size_t)1 << 28);
	ck_assert_int_eq(fs_read(&buf, path), ERR_OK);
	found = memmem(buf.data, buf.len, text.ptr, text.len);
	while (found != NULL) {
		size_t place = (size_t)(found - buf.data) + at;
		char byte;

		ck_assert_uint_lt(place, buf.len);
		byte = buf.data[place] ^ 1;
		ck_assert_int_eq(pwrite(fd, &byte, 1, (off_t)place), 1);
		places++;
		found =
		    memmem(found + 1, buf.len - (size_t)(found + 1 - buf.data),
			text.ptr, text.len);
	}
	ck_assert_uint_gt(places, 0);
	close(fd);
	buf_fini(&buf);
}
