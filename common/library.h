/*
 * library: a shared library that is loaded when it is first used.
 *
 * For what few commands need and takes milliseconds to load: a program that is
 * linked with it pays at each start. What is loaded stays until the process
 * ends.
 */
#pragma once

#include "common/err.h"

struct library_function {
	const char *name;
	void *at; /* the address of a pointer to such a function */
};

struct library {
	const char *const *names; /* "libx.so.4"; the first found; NULL-ended */
	const char *package; /* of Debian, that has it */
	const struct library_function
	    *functions; /* ended by one without name */
};

/*
 * Loads it and fills in the pointers; not to be called by two threads at once.
 *
 *   ERR_NOT_FOUND  none of the names can be loaded, or a function is missing:
 *                  `fault` says which, why, and what to install
 *
 * The pointers are then as they were.
 */
enum err library_load(const struct library *library, struct fault *fault);
