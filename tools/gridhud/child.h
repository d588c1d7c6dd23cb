/*
 * child: a program in a process group of its own, run without a shell.
 */
#pragma once

#include <stdbool.h>
#include <sys/types.h>

#include "common/err.h"
#include "common/span.h"

#define CHILD_ARGS_MAX 32
#define CHILD_NOT_FOUND 127 /* its exit code when there is no such program */

/*
 * Starts argv[0], looked up in PATH, with `input` (at most 60000 bytes) on its
 * standard input; its output goes nowhere.
 */
enum err child_start(pid_t *pid, char *const *argv, struct span input);

/* The same for a function of ours: its result is the exit code. */
enum err child_fork(pid_t *pid, int (*run)(void *arg), void *arg);

/*
 * True when it has ended; *code is then its exit code, or 128 and the signal
 * that killed it.
 */
bool child_ended(pid_t pid, int *code);

/* Kills the whole group; child_ended() tells the rest. */
void child_kill(pid_t pid);

/* Splits a setting such as "pw-play --volume 0.5" at blanks; what it makes
 * points into `text`, which is altered. Returns how many. */
unsigned child_split(char *argv[CHILD_ARGS_MAX], char *text);
