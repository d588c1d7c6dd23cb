/*
 * process: work in a process of its own, for what only a death or a limit of a
 * process can show. The child ends by _exit(), so it runs no other test.
 */
#pragma once

#include <sys/types.h>

/* Runs it to its end: what `work` returned, or minus the signal's number. */
int process_run(int (*work)(void));

/*
 * Starts it, and comes back once `work` has returned 0; the child then waits
 * to be killed with all that it holds.
 */
pid_t process_start(int (*work)(void));

/* Kills it at once, with SIGKILL, and waits until it has gone. */
void process_kill(pid_t pid);
