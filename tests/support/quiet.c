#include "tests/support/quiet.h"

#include <stddef.h>

#include "common/log.h"
#include "common/seldom.h"

static int lines;

static void
count_line(enum log_level level, const char *line)
{
	(void)level;
	(void)line;
	lines++;
}

void
quiet_begin(void)
{
	lines = 0;
	log_catch(count_line);
}

void
quiet_end(void)
{
	log_catch(NULL);
}

int
quiet_lines(void)
{
	int count = lines;

	lines = 0;
	seldom_forget();
	return count;
}
