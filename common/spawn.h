/*
 * spawn: programs that we start, without a shell.
 *
 *	spawn_start()        then spawn_ends_before() where there is a limit,
 *	spawn_kill_group()   at that limit,
 *	spawn_reap()         always: else the process stays as a zombie
 *
 * A program started in a group of its own (`group`) begins with no signal blocked
 * and with the default actions that a shell would give it.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

/* A descriptor of ours, and its number in the program. */
struct spawn_fd {
	int from, to;
};

struct spawn_spec {
	const char *program; /* a path: PATH is not searched */
	char *const *argv; /* NULL-ended */
	char *const *environment; /* NULL: ours */
	const struct spawn_fd *fds;
	unsigned fd_count;
	bool group;
};

/* 0, or the errno of what failed, that of exec() included. */
int spawn_start(pid_t *pid, const struct spawn_spec *spec);

/*
 * Sleeps until the process has ended: true, or until `end_ns` of
 * date_monotonic_ns(): false. True, and logged, when it cannot be watched.
 */
bool spawn_ends_before(pid_t pid, int64_t end_ns);

/* SIGKILL for the process and its group. */
void spawn_kill_group(pid_t pid);

/*
 * The $? of a shell for a status of waitpid(): the exit code, or 128
 * and the number of the signal that ended the process.
 */
int spawn_code(int status);

/* Waits for the end; *status is that of waitpid(). 0, or an errno. */
int spawn_reap(int *status, pid_t pid);
