#include "common/limits.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include "common/err.h"

/* The limit that is set; UINT64_MAX: none. */
static uint64_t
limit_of(int resource)
{
	struct rlimit limit;

	return getrlimit((unsigned)resource, &limit) == 0 &&
		limit.rlim_cur != RLIM_INFINITY
	    ? limit.rlim_cur
	    : UINT64_MAX;
}

uint64_t
limits_addresses(void)
{
	return limit_of(RLIMIT_AS);
}

uint64_t
limits_file_bytes(void)
{
	return limit_of(RLIMIT_FSIZE);
}

bool
limits_ends(const char *path)
{
	struct stat st;

	return stat(path, &st) == 0 &&
	    (uint64_t)st.st_size + (uint64_t)sysconf(_SC_PAGESIZE) >
	    limits_file_bytes();
}

uint64_t
limits_addresses_taken(void)
{
	FILE *file = fopen("/proc/self/statm", "re");
	unsigned long long pages = 0;

	if (file == NULL)
		return 0;
	if (fscanf(file, "%llu", &pages) != 1)
		pages = 0;
	fclose(file);
	return pages * (uint64_t)sysconf(_SC_PAGESIZE);
}

/* Tries each number: listing /proc/self/fd would need a descriptor itself. */
static unsigned long
count_open(unsigned long limit)
{
	unsigned long count = 0;

	for (unsigned long fd = 0; fd < limit; fd++)
		if (fcntl((int)fd, F_GETFD) >= 0)
			count++;
	return count;
}

/* False: no limit on addresses is set. */
static bool
why_no_addresses(char text[LIMITS_TEXT_MAX])
{
	uint64_t limit = limits_addresses();

	if (limit == UINT64_MAX)
		return false;
	snprintf(text, LIMITS_TEXT_MAX,
	    "address space is limited to %llu MB, of which %llu are in use: "
	    "raise LimitAS= of the unit (ulimit -v)",
	    (unsigned long long)(limit >> 20),
	    (unsigned long long)(limits_addresses_taken() >> 20));
	return true;
}

static bool
why_no_descriptor(char text[LIMITS_TEXT_MAX])
{
	uint64_t limit = limit_of(RLIMIT_NOFILE);

	if (limit == UINT64_MAX)
		return false;
	snprintf(text, LIMITS_TEXT_MAX,
	    "%s: %lu of %lu are in use, raise LimitNOFILE= of the unit "
	    "(ulimit -n)",
	    strerror(EMFILE), count_open((unsigned long)limit),
	    (unsigned long)limit);
	return true;
}

static bool
why_too_long(char text[LIMITS_TEXT_MAX])
{
	uint64_t limit = limits_file_bytes();

	if (limit == UINT64_MAX)
		return false;
	snprintf(text, LIMITS_TEXT_MAX,
	    "a file is limited to %llu KB: raise LimitFSIZE= of the unit "
	    "(ulimit -f)",
	    (unsigned long long)(limit >> 10));
	return true;
}

static bool
why(char text[LIMITS_TEXT_MAX], int errnum)
{
	switch (errnum) {
	case ENOMEM:
		return why_no_addresses(text);
	case EMFILE:
		return why_no_descriptor(text);
	case EFBIG:
		return why_too_long(text);
	case ENFILE:
		snprintf(text, LIMITS_TEXT_MAX,
		    "%s in the whole system: raise the kernel's fs.file-max",
		    strerror(errnum));
		return true;
	case EDQUOT:
		snprintf(text, LIMITS_TEXT_MAX,
		    "%s: make room, or raise this user's quota",
		    strerror(errnum));
		return true;
	case ENOSPC:
		snprintf(text, LIMITS_TEXT_MAX, "%s", err_text(ERR_NO_SPACE));
		return true;
	default:
		return false;
	}
}

const char *
limits_why(char text[LIMITS_TEXT_MAX], int errnum)
{
	if (!why(text, errnum))
		snprintf(text, LIMITS_TEXT_MAX, "%s", strerror(errnum));
	return text;
}

/* Whether the stack of another thread is more than the addresses that are left. */
static bool
lacks_addresses(void)
{
	uint64_t limit = limits_addresses(), taken = limits_addresses_taken();
	pthread_attr_t attributes;
	size_t stack = 0;

	if (limit == UINT64_MAX || pthread_attr_init(&attributes) != 0)
		return false;
	pthread_attr_getstacksize(&attributes, &stack);
	pthread_attr_destroy(&attributes);
	return taken + stack >= limit;
}

const char *
limits_why_no_thread(char text[LIMITS_TEXT_MAX], int errnum)
{
	uint64_t limit = limit_of(RLIMIT_NPROC);

	if (errnum != EAGAIN)
		return limits_why(text, errnum);
	if (lacks_addresses() && why_no_addresses(text))
		return text;
	if (limit == UINT64_MAX)
		snprintf(text, LIMITS_TEXT_MAX,
		    "too many processes and threads: raise TasksMax= of the "
		    "unit (pids.max of the container)");
	else
		snprintf(text, LIMITS_TEXT_MAX,
		    "too many processes and threads: this user may have %llu, "
		    "raise LimitNPROC= (ulimit -u) or TasksMax= of the unit "
		    "(pids.max of a container)",
		    (unsigned long long)limit);
	return text;
}
