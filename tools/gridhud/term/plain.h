/*
 * plain: the window as lines of text, for pipes, logs and screen readers.
 */
#pragma once

#include <stdbool.h>

struct plain_options {
	const char *config;
	const char *now;
};

/* Runs until a signal or "quit" comes; the exit code. */
int plain_run(const struct plain_options *options);
