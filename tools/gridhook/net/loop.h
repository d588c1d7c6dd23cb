/*
 * loop: one epoll for everything: sockets, pipes, signals, deadlines.
 *
 * A callback may close and free anything, itself included: what is removed is
 * not called any more, not even for events that had come in already.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "common/err.h"

#define LOOP_BATCH 64

/* Part of a struct that waits for a descriptor. */
struct loop_io {
	int fd;
	uint32_t events; /* EPOLLIN and the like; 0 while not registered */
	void (*ready)(struct loop_io *io, uint32_t events);
};

/* Part of a struct that has a deadline. */
struct loop_timer {
	int64_t due_ns; /* on date_monotonic_ns()'s clock */
	struct loop_timer *next, **link; /* link is NULL while not set */
	void (*fire)(struct loop_timer *timer);
};

struct loop;

enum err loop_open(struct loop **out);
void loop_close(struct loop *loop);

/* io->fd and io->ready are set; `events` may be 0 to hear of hang-ups only. */
enum err loop_add(struct loop *loop, struct loop_io *io, uint32_t events);
enum err loop_change(struct loop *loop, struct loop_io *io, uint32_t events);

/* Does not close the descriptor; fine when it was never added. */
void loop_remove(struct loop *loop, struct loop_io *io);

/* Sets the timer, or sets it again. timer->fire is set. */
void loop_timer_set(
    struct loop *loop, struct loop_timer *timer, int64_t delay_ms);
void loop_timer_stop(struct loop_timer *timer);

/*
 * Called at the end of each round, once everything that was ready has been
 * dealt with: the place to commit what the round has gathered.
 */
void loop_on_round(struct loop *loop, void (*round)(void *arg), void *arg);

/* Runs a round: waits at most `most_ms` (-1: as long as it takes). */
enum err loop_once(struct loop *loop, int most_ms);

/* Rounds until loop_stop(). */
enum err loop_run(struct loop *loop);
void loop_stop(struct loop *loop);
