#include "tests/fcgi/failing.h"

#include <errno.h>
#include <stdlib.h>

static unsigned long count, fail_at;
static bool counting;

void *__real_malloc(size_t size);
void *__real_calloc(size_t count, size_t size);
void *__real_realloc(void *old, size_t size);
void *__real_reallocarray(void *old, size_t count, size_t size);
void *__wrap_malloc(size_t size);
void *__wrap_calloc(size_t items, size_t size);
void *__wrap_realloc(void *old, size_t size);
void *__wrap_reallocarray(void *old, size_t items, size_t size);

void
failing_begin(unsigned long nth)
{
	count = 0;
	fail_at = nth;
	counting = true;
}

unsigned long
failing_end(void)
{
	counting = false;
	return count;
}

static bool
fails(void)
{
	if (!counting || ++count != fail_at)
		return false;
	errno = ENOMEM;
	return true;
}

void *
__wrap_malloc(size_t size)
{
	return fails() ? NULL : __real_malloc(size);
}

void *
__wrap_calloc(size_t items, size_t size)
{
	return fails() ? NULL : __real_calloc(items, size);
}

void *
__wrap_realloc(void *old, size_t size)
{
	return fails() ? NULL : __real_realloc(old, size);
}

void *
__wrap_reallocarray(void *old, size_t items, size_t size)
{
	return fails() ? NULL : __real_reallocarray(old, items, size);
}
