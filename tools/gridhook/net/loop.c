#include "tools/gridhook/net/loop.h"

#include <assert.h>
#include <errno.h>
#include <stdlib.h>
#include <sys/epoll.h>
#include <unistd.h>

#include "common/date.h"
#include "common/log.h"

#define NS_PER_MS INT64_C(1000000)

struct loop {
	int epoll;
	bool stopped;
	struct epoll_event batch[LOOP_BATCH];
	int batch_count;
	struct loop_timer *timers; /* the next one due comes first */
	void (*round)(void *arg);
	void *round_arg;
};

enum err
loop_open(struct loop **out)
{
	struct loop *loop = calloc(1, sizeof(*loop));

	*out = NULL;
	if (loop == NULL)
		return ERR_NO_MEMORY;
	loop->epoll = epoll_create1(EPOLL_CLOEXEC);
	if (loop->epoll < 0) {
		log_error("no event loop: errno=%d", errno);
		free(loop);
		return ERR_SYSTEM;
	}
	*out = loop;
	return ERR_OK;
}

void
loop_close(struct loop *loop)
{
	if (loop == NULL)
		return;
	close(loop->epoll);
	free(loop);
}

static enum err
control(struct loop *loop, int how, struct loop_io *io, uint32_t events)
{
	struct epoll_event event = {.events = events, .data.ptr = io};

	if (epoll_ctl(loop->epoll, how, io->fd, &event) == 0)
		return ERR_OK;
	log_error("epoll refuses: fd=%d errno=%d", io->fd, errno);
	return err_from_errno(errno);
}

/* EPOLLHUP and EPOLLERR come unasked, so 0 would look like "not added". */
enum err
loop_add(struct loop *loop, struct loop_io *io, uint32_t events)
{
	enum err err = control(loop, EPOLL_CTL_ADD, io, events);

	assert(io->fd >= 0 && io->ready != NULL && io->events == 0);
	if (err == ERR_OK)
		io->events = events | EPOLLERR;
	return err;
}

enum err
loop_change(struct loop *loop, struct loop_io *io, uint32_t events)
{
	enum err err;

	if ((events | EPOLLERR) == io->events)
		return ERR_OK;
	err = control(loop, EPOLL_CTL_MOD, io, events);
	if (err == ERR_OK)
		io->events = events | EPOLLERR;
	return err;
}

void
loop_remove(struct loop *loop, struct loop_io *io)
{
	assert(io != NULL);
	if (io->events == 0)
		return;
	epoll_ctl(loop->epoll, EPOLL_CTL_DEL, io->fd, NULL);
	io->events = 0;
	for (int i = 0; i < loop->batch_count; i++)
		if (loop->batch[i].data.ptr == io)
			loop->batch[i].data.ptr = NULL;
}

void
loop_timer_stop(struct loop_timer *timer)
{
	if (timer->link == NULL)
		return;
	*timer->link = timer->next;
	if (timer->next != NULL)
		timer->next->link = timer->link;
	timer->link = NULL;
	timer->next = NULL;
}

void
loop_timer_set(struct loop *loop, struct loop_timer *timer, int64_t delay_ms)
{
	struct loop_timer **at = &loop->timers;

	assert(timer->fire != NULL);
	loop_timer_stop(timer);
	timer->due_ns = date_monotonic_ns() + delay_ms * NS_PER_MS;
	while (*at != NULL && (*at)->due_ns <= timer->due_ns)
		at = &(*at)->next;
	timer->next = *at;
	timer->link = at;
	if (timer->next != NULL)
		timer->next->link = &timer->next;
	*at = timer;
}

void
loop_on_round(struct loop *loop, void (*round)(void *arg), void *arg)
{
	assert(round != NULL);
	loop->round = round;
	loop->round_arg = arg;
}

/* Until the first timer is due, rounded up so that it is due then. */
static int
wait_ms(const struct loop *loop, int most_ms)
{
	int64_t ms;

	if (loop->timers == NULL)
		return most_ms;
	ms = (loop->timers->due_ns - date_monotonic_ns() + NS_PER_MS - 1) /
	    NS_PER_MS;
	if (ms < 0)
		ms = 0;
	if (most_ms >= 0 && ms > most_ms)
		ms = most_ms;
	return ms > 3600000 ? 3600000 : (int)ms;
}

static void
fire_timers(struct loop *loop)
{
	int64_t now = date_monotonic_ns();
	struct loop_timer *timer;

	while (loop->timers != NULL && loop->timers->due_ns <= now) {
		timer = loop->timers;
		loop_timer_stop(timer);
		timer->fire(timer);
	}
}

enum err
loop_once(struct loop *loop, int most_ms)
{
	struct loop_io *io;
	int count;

	assert(most_ms >= -1);
	count = epoll_wait(
	    loop->epoll, loop->batch, LOOP_BATCH, wait_ms(loop, most_ms));
	if (count < 0 && errno != EINTR) {
		log_error("event loop failed: errno=%d", errno);
		return ERR_SYSTEM;
	}
	loop->batch_count = count < 0 ? 0 : count;
	for (int i = 0; i < loop->batch_count; i++) {
		io = loop->batch[i].data.ptr;
		if (io != NULL)
			io->ready(io, loop->batch[i].events);
	}
	loop->batch_count = 0;
	fire_timers(loop);
	if (loop->round != NULL)
		loop->round(loop->round_arg);
	return ERR_OK;
}

enum err
loop_run(struct loop *loop)
{
	enum err err = ERR_OK;

	loop->stopped = false;
	while (err == ERR_OK && !loop->stopped)
		err = loop_once(loop, -1);
	return err;
}

void
loop_stop(struct loop *loop)
{
	loop->stopped = true;
}
