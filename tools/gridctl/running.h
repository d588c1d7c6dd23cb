/*
 * running: the gridapi that has a data directory open, for what to do where it does not
 * answer: to start it is right where there is none alone.
 */
#pragma once

#define RUNNING_TEXT_MAX 512

/*
 * The remedy for a gridapi with this data directory: one that a signal has stopped,
 * or that hangs, with process ids. NULL: there is none, or no telling.
 */
const char *running_todo(char out[RUNNING_TEXT_MAX], const char *dir);
