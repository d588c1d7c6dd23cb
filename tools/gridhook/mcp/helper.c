/*
 * A process ends in one of two ways: it exits, which its pidfd tells, or its
 * deadline comes. In the second case the answer goes out at once, and what is
 * left of the process is reaped when the kernel gets round to it.
 */
#include "tools/gridhook/mcp/helper_priv.h"

#include <assert.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/epoll.h>
#include <sys/pidfd.h>
#include <sys/wait.h>
#include <unistd.h>

#include "common/count.h"
#include "common/log.h"
#include "common/spawn.h"

#define WAITING_MAX 1024
#define QUEUE_MS 30000
#define READ_SIZE 65536
#define DEPTH_MAX 64

enum helper_state { HELPER_WAITS, HELPER_RUNS, HELPER_KILLED };

struct helper_pool {
	struct loop *loop;
	struct helper_spec spec;
	struct helper *first; /* in the order of their coming */
	int64_t running;
	unsigned waiting;
	int life[2]; /* closed with us: ends what outlives a call */
	char **environment;
	char *settings; /* the variable, whole */
};

struct helper {
	struct helper_pool *pool;
	struct helper *next, **link;
	const char *name;
	enum helper_state state;
	int deadline_ms;
	pid_t pid;
	struct loop_io in, out, exit;
	struct loop_timer timer;
	struct buf args;
	size_t args_done;
	struct buf answer;
	void (*done)(void *arg, const struct result *result);
	void *arg;
};

static struct helper *
of_in(struct loop_io *io)
{
	return (struct helper *)((char *)io - offsetof(struct helper, in));
}

static struct helper *
of_out(struct loop_io *io)
{
	return (struct helper *)((char *)io - offsetof(struct helper, out));
}

static struct helper *
of_exit(struct loop_io *io)
{
	return (struct helper *)((char *)io - offsetof(struct helper, exit));
}

static void
close_io(struct helper *helper, struct loop_io *io)
{
	loop_remove(helper->pool->loop, io);
	if (io->fd >= 0)
		close(io->fd);
	io->fd = -1;
}

static void
destroy(struct helper *helper)
{
	close_io(helper, &helper->in);
	close_io(helper, &helper->out);
	close_io(helper, &helper->exit);
	loop_timer_stop(&helper->timer);
	*helper->link = helper->next;
	if (helper->next != NULL)
		helper->next->link = helper->link;
	buf_fini(&helper->args);
	buf_fini(&helper->answer);
	free(helper);
}

static void start_waiting(struct helper_pool *pool);

static void
answer(struct helper *helper, const struct result *result)
{
	void (*done)(void *arg, const struct result *result_) = helper->done;

	helper->done = NULL;
	if (done != NULL)
		done(helper->arg, result);
}

static void
answer_error(struct helper *helper, const char *text)
{
	struct result result;

	result_init(&result);
	result_error(&result, "%s", text);
	answer(helper, &result);
	result_fini(&result);
}

/* --- its answer ----------------------------------------------------------- */

static void
read_answer(struct helper *helper)
{
	char bytes[READ_SIZE];
	ssize_t got;

	if (helper->out.fd < 0)
		return;
	for (;;) {
		got = read(helper->out.fd, bytes, sizeof(bytes));
		if (got > 0)
			buf_add(&helper->answer, bytes, (size_t)got);
		else if (got == 0 || (errno != EAGAIN && errno != EINTR)) {
			close_io(helper, &helper->out);
			return;
		} else if (errno == EAGAIN)
			return;
	}
}

static void
on_out(struct loop_io *io, uint32_t events)
{
	(void)events;
	read_answer(of_out(io));
}

static void
on_in(struct loop_io *io, uint32_t events)
{
	struct helper *helper = of_in(io);
	struct buf *args = &helper->args;
	ssize_t put;

	(void)events;
	while (helper->args_done < args->len) {
		put = write(io->fd, args->data + helper->args_done,
		    args->len - helper->args_done);
		if (put < 0 && errno == EINTR)
			continue;
		if (put < 0 && errno == EAGAIN)
			return;
		if (put < 0)
			break;
		helper->args_done += (size_t)put;
	}
	close_io(helper, io);
}

static void
tell(struct helper *helper, int status)
{
	struct jscan doc;
	struct result result;
	enum err err = buf_end(&helper->answer);

	result_init(&result);
	if (err == ERR_OK)
		err = jscan_parse(
		    &doc, buf_span(&helper->answer), DEPTH_MAX, NULL);
	else
		doc = (struct jscan){.count = 0};
	if (err != ERR_OK || !result_take(&result, jscan_root(&doc))) {
		log_error("helper gave no answer: tool=%s status=%d bytes=%zu",
		    helper->name, status, helper->answer.len);
		result_error(&result,
		    "%s failed: its helper process gave no answer "
		    "(gridhook's log tells more).",
		    helper->name);
	}
	jscan_fini(&doc);
	answer(helper, &result);
	result_fini(&result);
}

static void
on_gone(struct loop_io *io, uint32_t events)
{
	struct helper *helper = of_exit(io);
	struct helper_pool *pool = helper->pool;
	int status = 0;

	(void)events;
	read_answer(helper);
	waitpid(helper->pid, &status, WNOHANG);
	pool->running--;
	if (helper->state == HELPER_RUNS)
		tell(helper, status);
	destroy(helper);
	start_waiting(pool);
}

/* Kills the process group, and sends the answer now if one is owed. */
static void
kill_group(struct helper *helper)
{
	spawn_kill_group(helper->pid);
	helper->state = HELPER_KILLED;
	close_io(helper, &helper->in);
	close_io(helper, &helper->out);
	loop_timer_stop(&helper->timer);
}

static void
on_deadline(struct loop_timer *timer)
{
	struct helper *helper =
	    (struct helper *)((char *)timer - offsetof(struct helper, timer));
	char text[160];

	if (helper->state == HELPER_WAITS) {
		helper->pool->waiting--;
		answer_error(helper,
		    "Too many tools are at work; try again in a while.");
		destroy(helper);
		return;
	}
	log_warn("helper killed at its deadline: tool=%s pid=%ld ms=%d",
	    helper->name, (long)helper->pid, helper->deadline_ms);
	kill_group(helper);
	snprintf(text, sizeof(text), "%s timed out after %d ms.", helper->name,
	    helper->deadline_ms);
	answer_error(helper, text);
}

/* --- starting ------------------------------------------------------------- */

struct pipes {
	int in[2], out[2];
};

static void
close_pair(int pair[2])
{
	if (pair[0] >= 0)
		close(pair[0]);
	if (pair[1] >= 0)
		close(pair[1]);
}

static bool
open_pipes(struct pipes *pipes)
{
	*pipes = (struct pipes){{-1, -1}, {-1, -1}};
	if (pipe2(pipes->in, O_CLOEXEC) == 0 &&
	    pipe2(pipes->out, O_CLOEXEC) == 0)
		return true;
	close_pair(pipes->in);
	return false;
}

static int
start(struct helper *helper, const struct pipes *pipes)
{
	const struct helper_pool *pool = helper->pool;
	char program[] = "gridhook-tool";
	char name[64];
	char *argv[] = {program, name, NULL};
	const struct spawn_fd fds[] = {{pipes->in[0], 0}, {pipes->out[1], 1},
	    {pool->life[0], HELPER_LIFE_FD}};
	const struct spawn_spec spec = {.program = pool->spec.program,
	    .argv = argv,
	    .environment = pool->environment,
	    .fds = fds,
	    .fd_count = COUNT(fds),
	    .group = true};

	snprintf(name, sizeof(name), "%s", helper->name);
	return spawn_start(&helper->pid, &spec);
}

static bool
watch(struct helper *helper, struct pipes *pipes)
{
	struct loop *loop = helper->pool->loop;

	helper->in = (struct loop_io){.fd = pipes->in[1], .ready = on_in};
	helper->out = (struct loop_io){.fd = pipes->out[0], .ready = on_out};
	pipes->in[1] = pipes->out[0] = -1;
	helper->exit = (struct loop_io){
	    .fd = pidfd_open(helper->pid, 0), .ready = on_gone};
	fcntl(helper->in.fd, F_SETFL, O_NONBLOCK);
	fcntl(helper->out.fd, F_SETFL, O_NONBLOCK);
	return helper->exit.fd >= 0 &&
	    loop_add(loop, &helper->in, EPOLLOUT) == ERR_OK &&
	    loop_add(loop, &helper->out, EPOLLIN) == ERR_OK &&
	    loop_add(loop, &helper->exit, EPOLLIN) == ERR_OK;
}

/* Ends a helper at once whose end could not be watched. */
static void
give_up(struct helper *helper)
{
	int status;

	log_error("helper cannot be watched: tool=%s reason=%s", helper->name,
	    strerror(errno));
	kill_group(helper);
	spawn_reap(&status, helper->pid);
	helper->pool->running--;
	answer_error(helper, "The helper process cannot be started.");
	destroy(helper);
}

static void
run(struct helper *helper)
{
	struct helper_pool *pool = helper->pool;
	struct pipes pipes;
	int failed;

	pool->waiting--;
	failed = open_pipes(&pipes) ? start(helper, &pipes) : errno;
	if (failed != 0) {
		log_error("helper cannot start: program=%s reason=%s",
		    pool->spec.program, strerror(failed));
		answer_error(helper,
		    failed == ENOENT
			? "System tools are not installed here: the program "
			  "gridhook-tool is missing."
			: "The helper process cannot be started.");
		close_pair(pipes.in);
		close_pair(pipes.out);
		destroy(helper);
		return;
	}
	helper->state = HELPER_RUNS;
	pool->running++;
	if (watch(helper, &pipes))
		loop_timer_set(pool->loop, &helper->timer, helper->deadline_ms);
	else
		give_up(helper);
	close_pair(pipes.in);
	close_pair(pipes.out);
}

static void
start_waiting(struct helper_pool *pool)
{
	struct helper *helper = pool->first, *next;

	for (; helper != NULL && pool->running < pool->spec.most;
	     helper = next) {
		next = helper->next;
		if (helper->state == HELPER_WAITS)
			run(helper);
	}
}

static void
on_turn(struct loop_timer *timer)
{
	struct helper *helper =
	    (struct helper *)((char *)timer - offsetof(struct helper, timer));
	struct helper_pool *pool = helper->pool;

	loop_timer_set(pool->loop, timer, QUEUE_MS);
	timer->fire = on_deadline;
	start_waiting(pool);
}

struct helper *
helper_start(struct helper_pool *pool, const char *name, struct span args,
    int deadline_ms, void (*done)(void *arg, const struct result *result),
    void *arg)
{
	struct helper **at = &pool->first;
	struct helper *helper;

	assert(name != NULL && done != NULL && deadline_ms > 0);
	if (pool->waiting >= WAITING_MAX)
		return NULL;
	helper = calloc(1, sizeof(*helper));
	if (helper == NULL)
		return NULL;
	while (*at != NULL)
		at = &(*at)->next;
	*at = helper;
	helper->link = at;
	helper->pool = pool;
	helper->name = name;
	helper->deadline_ms = deadline_ms;
	helper->done = done;
	helper->arg = arg;
	helper->in.fd = helper->out.fd = helper->exit.fd = -1;
	buf_init(&helper->args, args.len + 1);
	buf_add_span(&helper->args, args);
	buf_init(&helper->answer, RESULT_MAX);
	pool->waiting++;
	/* From the loop, so that `done` never comes before we return. */
	helper->timer.fire = on_turn;
	loop_timer_set(pool->loop, &helper->timer, 0);
	return helper;
}

void
helper_cancel(struct helper *helper)
{
	assert(helper == NULL || helper->pool != NULL);
	if (helper == NULL)
		return;
	helper->done = NULL;
	if (helper->state == HELPER_WAITS) {
		helper->pool->waiting--;
		destroy(helper);
	} else if (helper->state == HELPER_RUNS)
		kill_group(helper);
}

/* --- the pool ------------------------------------------------------------- */

struct helper_pool *
helper_pool_new(struct loop *loop, const struct helper_spec *spec)
{
	struct helper_pool *pool = calloc(1, sizeof(*pool));

	assert(loop != NULL && spec->program != NULL && spec->most > 0);
	if (pool == NULL)
		return NULL;
	pool->loop = loop;
	pool->spec = *spec;
	pool->life[0] = pool->life[1] = -1;
	/* A helper that ends without reading its arguments must not end us. */
	signal(SIGPIPE, SIG_IGN);
	if (pipe2(pool->life, O_CLOEXEC) == 0 &&
	    helper_environment(
		&pool->environment, &pool->settings, pool->spec.settings))
		return pool;
	helper_pool_free(pool);
	return NULL;
}

void
helper_pool_free(struct helper_pool *pool)
{
	struct helper *helper;

	assert(pool == NULL || pool->running >= 0);
	if (pool == NULL)
		return;
	while ((helper = pool->first) != NULL) {
		if (helper->state == HELPER_RUNS)
			kill_group(helper);
		destroy(helper);
	}
	close_pair(pool->life);
	free(pool->environment);
	free(pool->settings);
	free(pool);
}
