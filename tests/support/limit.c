#include "tests/support/limit.h"

#include <check.h>
#include <signal.h>
#include <sys/resource.h>

static struct rlimit before;
static void (*handler)(int);

void
limit_files(size_t bytes)
{
	struct rlimit limit;

	handler = signal(SIGXFSZ, SIG_IGN);
	ck_assert_int_eq(getrlimit(RLIMIT_FSIZE, &before), 0);
	limit = before;
	limit.rlim_cur = bytes;
	ck_assert_int_eq(setrlimit(RLIMIT_FSIZE, &limit), 0);
}

void
limit_end(void)
{
	ck_assert_int_eq(setrlimit(RLIMIT_FSIZE, &before), 0);
	signal(SIGXFSZ, handler);
}
