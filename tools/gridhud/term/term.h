/*
 * term: the window on a terminal, by ncurses.
 */
#pragma once

#include <stdbool.h>

#include "common/err.h"

struct term_options {
	const char *config;
	const char *now;
};

/*
 * Opens the screen and stays until the person leaves; the exit code. What went
 * wrong has been told on standard error.
 */
int term_run(const struct term_options *options);

/* False in a build without ncurses: only plain lines are left. */
bool term_is_there(void);

/* False, with the reason, for a terminal that ncurses cannot draw on. */
bool term_can_draw(struct fault *fault);
