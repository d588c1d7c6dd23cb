/*
 * process: work in a process of its own, for what only a death or a limit of a
 * process can show. The child ends by _exit(), so it runs no other test.
 */
#pragma once

#include <sys/resource.h>
#include <sys/types.h>

/* Runs it to its end: what `work` returned, or minus the signal's number. */
int process_run(int (*work)(void));

/*
 * Starts it, and comes back once `work` has returned 0; the child then waits
 * to be killed with all that it holds.
 */
pid_t process_start(int (*work)(void));

/*
 * Comes back once so many of its threads wait for locks of files (flock), as
 * the kernel tells it; a test that waits too long is ended by its time limit.
 */
void process_waits(pid_t pid, unsigned threads);

/* Kills it at once, with SIGKILL, and waits until it has gone. */
void process_kill(pid_t pid);

/*
 * Leaves this process so many open files besides those that it has; *before is for
 * setrlimit(RLIMIT_NOFILE), afterwards.
 */
void process_limit_files(struct rlimit *before, unsigned more);
