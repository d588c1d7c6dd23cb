#include "tools/gridhud/term/term.h"

#include <stdio.h>
#include <stdlib.h>

bool
term_is_there(void)
{
	return false;
}

int
term_run(const struct term_options *options)
{
	(void)options;
	fprintf(stderr,
	    "gridhud: this build has no ncurses: use gridhud --plain\n");
	return EXIT_FAILURE;
}
