#include "common/openfiles.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/resource.h>

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

const char *
openfiles_why(char text[OPENFILES_TEXT_MAX], int errnum)
{
	struct rlimit limit;

	if (errnum == ENFILE)
		snprintf(text, OPENFILES_TEXT_MAX,
		    "%s in the whole system: raise the kernel's fs.file-max",
		    strerror(errnum));
	else if (errnum == EMFILE && getrlimit(RLIMIT_NOFILE, &limit) == 0)
		snprintf(text, OPENFILES_TEXT_MAX,
		    "%s: %lu of %lu are in use, raise LimitNOFILE of the unit "
		    "(ulimit -n)",
		    strerror(errnum), count_open(limit.rlim_cur),
		    (unsigned long)limit.rlim_cur);
	else
		snprintf(text, OPENFILES_TEXT_MAX, "%s", strerror(errnum));
	return text;
}
