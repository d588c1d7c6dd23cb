/*
 * How a request comes in and its answer goes out:
 *
 * - Each thread waits on its own epoll of {listener, stop}; the listener is
 *   in there exclusively, so that one connection wakes one thread. It waits
 *   before it accepts, also when it has just served: to accept in vain costs
 *   the kernel ten times as much, as it makes the socket first.
 * - It accepts by itself: libfcgi's own accept would hand the descriptor on to
 *   every program that is started meanwhile, and has a race in its shutdown.
 * - It reads and checks the records by itself, too (see incoming.h). libfcgi
 *   parses a head that was found sound, from a file in memory.
 * - The answer does not pass through libfcgi (see record.h). Then the thread
 *   closes: nginx is told to keep connections only so that it asks for an
 *   end, by which it tells a whole answer from a cut one. It never reuses
 *   one, and a thread that waited for it to close would be idle.
 */
#include "fcgi/process/worker.h"

#include <errno.h>
#include <fcgiapp.h>
#include <malloc.h>
#include <poll.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <time.h>
#include <unistd.h>

#include "common/buf.h"
#include "common/date.h"
#include "common/log.h"
#include "common/openfiles.h"
#include "common/sink.h"
#include "fcgi/http/request.h"
#include "fcgi/process/incoming.h"
#include "fcgi/process/record.h"
#include "fcgi/serve.h"
#include "fcgi/server.h"

#define TICK_S 5
#define OPEN_S 1 /* between attempts to open the store */
#define BODY_KEEP ((size_t)64 << 10) /* memory a thread keeps for bodies */

/* glibc's: arenas in all, blocks with a map of their own, unused memory. */
#define ARENAS 2
#define MAPPED_FROM (4 << 20)
#define UNUSED_MOST (2 << 20)

/* nginx takes at once; a peer that does not is ill. */
#define SEND_S 310

/* Long answers leave in fewer turns; no more than net.core.wmem_max. */
#define SEND_BUFFER (1 << 20)

enum stop { STOP_NOT, STOP_LEAVE, STOP_LAST_CALL };

struct worker {
	const struct worker_job *job;
	_Atomic(struct server *) server; /* NULL while no store can be opened */
	int wake; /* eventfd: readable for good once it is to stop */
	_Atomic enum stop stop;
};

struct thread {
	struct worker *worker;
	struct serving *serving; /* NULL: made as soon as there is a server */
	pthread_t id;
	int epoll;
	FCGX_Request fcgx;
	int head; /* a file in memory, from which libfcgi reads */
	struct incoming incoming;
	struct record record;
	struct buf body;
};

/* --- accepting ------------------------------------------------------------ */

/*
 * True when accepting again may help: the connection had gone already, or
 * descriptors or memory are out, which a short wait gives a chance to mend.
 */
static bool
accept_again(int errnum)
{
	char why[OPENFILES_TEXT_MAX];

	switch (errnum) {
	case EINTR:
	case ECONNABORTED:
	case EPROTO:
		return true;
	case EMFILE:
	case ENFILE:
	case ENOBUFS:
	case ENOMEM:
		log_error("no connection can be accepted: %s",
		    openfiles_why(why, errnum));
		nanosleep(&(struct timespec){.tv_nsec = 100000000}, NULL);
		return true;
	default:
		log_error("accepting failed: %s", strerror(errnum));
		return false;
	}
}

static void
wait_for_work(struct thread *thread)
{
	struct epoll_event events[2];

	/* Whatever it returns, the loop around it looks for itself. */
	if (epoll_wait(thread->epoll, events, 2, -1) < 0 && errno != EINTR)
		log_error("epoll_wait failed: %s", strerror(errno));
}

/*
 * The next connection, or -1 when the thread shall end. Who has waited accepts
 * before it looks whether it is to leave: the connection that woke it wakes no
 * other, and would wait for the next one to come.
 */
static int
next_connection(struct thread *thread)
{
	struct worker *worker = thread->worker;

	for (;;) {
		enum stop stop = atomic_load(&worker->stop);
		int fd;

		if (stop == STOP_LEAVE)
			return -1;
		if (stop == STOP_NOT)
			wait_for_work(thread);
		fd = accept4(worker->job->listener, NULL, NULL, SOCK_CLOEXEC);
		if (fd >= 0)
			return fd;
		if (errno == EAGAIN || errno == EWOULDBLOCK) {
			if (stop != STOP_NOT)
				return -1;
		} else if (!accept_again(errno))
			_exit(WORKER_FAILED);
	}
}

/* Where a limit is refused, the connection works all the same. */
static void
limit_sending(int fd)
{
	static const struct timeval send = {.tv_sec = SEND_S};
	static const int bytes = SEND_BUFFER;

	setsockopt(fd, SOL_SOCKET, SO_SNDTIMEO, &send, sizeof(send));
	setsockopt(fd, SOL_SOCKET, SO_SNDBUF, &bytes, sizeof(bytes));
}

/* --- one request ---------------------------------------------------------- */

static bool
has_gone(void *connection)
{
	struct pollfd poll_fd = {
	    .fd = *(const int *)connection, .events = POLLRDHUP};

	return poll(&poll_fd, 1, 0) > 0;
}

static void
take_params(struct request *request, char **envp)
{
	for (; *envp != NULL; envp++) {
		struct span text = span_of(*envp);
		size_t end = span_find(text, '=');

		if (end < text.len)
			request_param(request, span_sub(text, 0, end),
			    span_from(text, end + 1));
	}
}

/* Reads the body to its end, also when it is longer than what is kept. */
static enum err
take_body(struct thread *thread, struct request *request)
{
	struct buf *body = &thread->body;
	enum err err;

	buf_clear(body);
	err = incoming_body(&thread->incoming, body);
	if (err != ERR_OK || body->err == ERR_NO_MEMORY)
		return err != ERR_OK ? err : ERR_NO_MEMORY;
	if (body->err != ERR_OK) {
		request->body_too_large = true;
		buf_clear(body);
	}
	request->body = buf_span(body);
	return ERR_OK;
}

/* 503 while no store can be opened. */
static enum err
serve_or_refuse(
    struct thread *thread, const struct request *request, struct sink *out)
{
	struct worker *worker = thread->worker;
	struct server *server = atomic_load(&worker->server);

	if (thread->serving == NULL && server != NULL)
		thread->serving = serving_new(server);
	if (thread->serving != NULL)
		return serve(thread->serving, request, out);
	return serve_without_store(worker->job->metrics, request, out);
}

/* ERR_OK when it went out whole; else the connection is to be cut. */
static enum err
answer(struct thread *thread, struct request *request, int *connection)
{
	const struct worker_job *job = thread->worker->job;
	struct sink out = record_sink(&thread->record);
	enum err err;

	request->slow_pool = job->slow;
	request->gone = has_gone;
	request->connection = connection;
	record_begin(&thread->record, *connection, thread->incoming.id);
	err = serve_or_refuse(thread, request, &out);
	if (err != ERR_OK)
		return err; /* which serve() has counted */
	err = record_end(&thread->record);
	if (err == ERR_CLOSED)
		atomic_fetch_add_explicit(
		    &job->metrics->requests_aborted, 1, memory_order_relaxed);
	return err;
}

static enum err
head_open(struct thread *thread)
{
	thread->head = memfd_create("request", MFD_CLOEXEC);
	return thread->head >= 0 ? ERR_OK : ERR_SYSTEM;
}

/* libfcgi makes its parameters of the head, which was found sound. */
static enum err
parse(struct thread *thread)
{
	FCGX_Request *fcgx = &thread->fcgx;
	struct span head = thread->incoming.head;

	if (pwrite(thread->head, head.ptr, head.len, 0) != (ssize_t)head.len ||
	    lseek(thread->head, 0, SEEK_SET) != 0)
		return ERR_SYSTEM;
	fcgx->ipcFd = thread->head;
	fcgx->keepConnection = 1; /* or it would be closed as the last one's */
	if (FCGX_Accept_r(fcgx) == 0)
		return ERR_OK;
	/* Then libfcgi has closed it, and finds no listener. */
	return head_open(thread) == ERR_OK ? ERR_INTERNAL : ERR_SYSTEM;
}

static void
tell_failure(const struct thread *thread, enum err err)
{
	switch (err) {
	case ERR_OK:
	case ERR_CLOSED:
		break;
	case ERR_BAD_INPUT:
		log_warn("a connection was closed: no request that nginx would "
			 "send: %s",
		    thread->incoming.why);
		break;
	case ERR_TIMED_OUT:
		log_warn("a connection was closed: its request did not arrive "
			 "in time");
		break;
	default:
		log_error("a connection was closed: %s", err_text(err));
	}
}

static void
serve_request(struct thread *thread, int *connection)
{
	struct gauges *gauges = metrics_mine(thread->worker->job->metrics);
	struct request request;
	enum err err;

	gauges->requests++;
	request_init(&request);
	request.start_ns = date_monotonic_ns();
	take_params(&request, thread->fcgx.envp);
	err = take_body(thread, &request);
	tell_failure(thread, err);
	if (err == ERR_OK) {
		err = answer(thread, &request, connection);
		if (err != ERR_OK && err != ERR_CLOSED)
			log_warn("an answer was cut off: %s", err_text(err));
	}
	gauges->requests--;
}

static void
serve_connection(struct thread *thread, int fd)
{
	enum err err = incoming_head(&thread->incoming, fd);

	if (err == ERR_OK)
		err = parse(thread);
	tell_failure(thread, err);
	if (err == ERR_OK)
		serve_request(thread, &fd);
	close(fd);
	thread->fcgx.ipcFd = -1;
	FCGX_Free(&thread->fcgx, 0);
	if (thread->body.cap > BODY_KEEP)
		buf_fini(&thread->body);
}

/* --- threads -------------------------------------------------------------- */

static void *
thread_main(void *arg)
{
	struct thread *thread = arg;
	int fd;

	while ((fd = next_connection(thread)) >= 0)
		serve_connection(thread, fd);
	return NULL;
}

static bool
watch(struct thread *thread)
{
	struct epoll_event listener = {.events = EPOLLIN | EPOLLEXCLUSIVE};
	struct epoll_event wake = {.events = EPOLLIN};

	thread->epoll = epoll_create1(EPOLL_CLOEXEC);
	return thread->epoll >= 0 &&
	    epoll_ctl(thread->epoll, EPOLL_CTL_ADD,
		thread->worker->job->listener, &listener) == 0 &&
	    epoll_ctl(
		thread->epoll, EPOLL_CTL_ADD, thread->worker->wake, &wake) == 0;
}

static bool
thread_open(struct thread *thread, struct worker *worker)
{
	struct server *server = atomic_load(&worker->server);

	thread->worker = worker;
	thread->epoll = thread->head = -1;
	buf_init(&thread->body, (size_t)worker->job->settings->body_bytes);
	if (incoming_init(&thread->incoming) != ERR_OK ||
	    record_init(&thread->record) != ERR_OK ||
	    head_open(thread) != ERR_OK)
		return false;
	thread->record.before_wait = limit_sending;
	return FCGX_InitRequest(&thread->fcgx, -1, 0) == 0 && watch(thread) &&
	    (server == NULL || (thread->serving = serving_new(server)) != NULL);
}

static void
thread_close(struct thread *thread)
{
	serving_free(thread->serving);
	record_fini(&thread->record);
	incoming_fini(&thread->incoming);
	buf_fini(&thread->body);
	if (thread->head >= 0)
		close(thread->head);
	if (thread->epoll >= 0)
		close(thread->epoll);
}

/* --- the process ---------------------------------------------------------- */

/*
 * By itself glibc makes an arena for each thread, and lets each keep twice as
 * much unused memory as the largest block that was ever freed: 64 MB.
 */
static void
bound_memory(void)
{
	if (mallopt(M_ARENA_MAX, ARENAS) != 1 ||
	    mallopt(M_MMAP_THRESHOLD, MAPPED_FROM) != 1 ||
	    mallopt(M_TRIM_THRESHOLD, UNUSED_MOST) != 1)
		log_warn("memory that is freed may be kept");
}

static bool
is_orphan(const struct worker_job *job)
{
	return job->supervisor > 0 && getppid() != job->supervisor;
}

/*
 * No supervisor is there to end this process after a time, or to let a new one
 * have the socket's path: shutdown() works on the socket itself, so that every
 * connection from now on is refused, whichever process still has it open.
 */
static enum stop
leave_as_orphan(const struct worker_job *job)
{
	unsigned most = (unsigned)job->settings->drain_s;
	sigset_t alarms;

	log_error("the supervisor has died: requests under way have %u s",
	    most > 0 ? most : 1);
	sigemptyset(&alarms);
	sigaddset(&alarms, SIGALRM);
	pthread_sigmask(SIG_UNBLOCK, &alarms, NULL);
	alarm(most > 0 ? most : 1); /* which kills */
	if (job->handed_over)
		return STOP_LEAVE;
	if (shutdown(job->listener, SHUT_RDWR) != 0)
		log_error("the listener stays open: %s", strerror(errno));
	return STOP_LAST_CALL;
}

static void
tell_ready(const struct worker_job *job)
{
	pid_t pid = getpid();

	if (job->ready < 0)
		return;
	if (write(job->ready, &pid, sizeof(pid)) != (ssize_t)sizeof(pid))
		log_error("the supervisor was not told: %s", strerror(errno));
	close(job->ready);
}

/* Where it is tried again, also with what a view reads first. */
static enum err
open_server(struct worker *worker, struct fault *fault)
{
	const struct worker_job *job = worker->job;
	struct server *server;
	struct serving *serving;
	enum err err = server_open(&server, job->settings, job->metrics, fault);

	if (err == ERR_OK && job->patient) {
		serving = serving_new(server);
		if (serving == NULL) {
			fault_set(
			    fault, job->settings->data_dir, "cannot be read");
			server_close(server);
			return ERR_SYSTEM;
		}
		serving_free(serving);
	}
	if (err == ERR_OK)
		atomic_store(&worker->server, server);
	return err;
}

/* What was wrong has been told; it is not told each second again. */
static void
open_again(struct worker *worker)
{
	struct fault fault;

	fault_clear(&fault);
	if (open_server(worker, &fault) != ERR_OK)
		return;
	log_info("%s: can be opened again", worker->job->settings->data_dir);
	tell_ready(worker->job);
}

static void
tick(struct worker *worker)
{
	struct server *server = atomic_load(&worker->server);

	if (server == NULL)
		open_again(worker);
	else
		server_tick(server);
}

/* Housekeeping in turns, until a signal says how to stop. */
static enum stop
wait_for_signal(struct worker *worker)
{
	const struct worker_job *job = worker->job;
	sigset_t set;

	sigemptyset(&set);
	sigaddset(&set, WORKER_LEAVE);
	sigaddset(&set, WORKER_LAST_CALL);
	for (;;) {
		bool opened = atomic_load(&worker->server) != NULL;
		struct timespec turn = {.tv_sec = opened ? TICK_S : OPEN_S};

		switch (sigtimedwait(&set, NULL, &turn)) {
		case WORKER_LEAVE:
			return is_orphan(job) ? leave_as_orphan(job)
					      : STOP_LEAVE;
		case WORKER_LAST_CALL:
			return STOP_LAST_CALL;
		default:
			tick(worker);
		}
	}
}

static int
run_threads(struct worker *worker, struct thread *threads, unsigned count)
{
	uint64_t one = 1;
	unsigned started = 0;
	int result = WORKER_DONE;

	while (started < count &&
	    pthread_create(&threads[started].id, NULL, thread_main,
		&threads[started]) == 0)
		started++;
	if (started == count) {
		if (atomic_load(&worker->server) != NULL)
			tell_ready(worker->job);
		atomic_store(&worker->stop, wait_for_signal(worker));
	} else {
		log_error(
		    "only %u of %u threads could be started", started, count);
		atomic_store(&worker->stop, STOP_LEAVE);
		result = WORKER_FAILED;
	}
	if (write(worker->wake, &one, sizeof(one)) != (ssize_t)sizeof(one))
		_exit(WORKER_FAILED);
	for (unsigned i = 0; i < started; i++)
		pthread_join(threads[i].id, NULL);
	return result;
}

static int
open_and_run(struct worker *worker, struct thread *threads, unsigned count)
{
	char why[OPENFILES_TEXT_MAX];
	int result = WORKER_FAILED;
	unsigned opened = 0;

	while (opened < count && thread_open(&threads[opened], worker))
		opened++;
	if (opened == count)
		result = run_threads(worker, threads, count);
	else
		log_error("a worker's threads cannot be set up: %s",
		    openfiles_why(why, errno));
	for (unsigned i = 0; i <= opened && i < count; i++)
		thread_close(&threads[i]);
	return result;
}

int
worker_run(const struct worker_job *job)
{
	unsigned count = (unsigned)(job->slow ? job->settings->slow_threads
					      : job->settings->pages_threads);
	struct worker worker = {.job = job, .stop = STOP_NOT};
	struct thread *threads = NULL;
	struct fault fault;
	int result = WORKER_FAILED;

	fault_clear(&fault);
	bound_memory();
	/* How long libfcgi may wait for a sick peer, in milliseconds. */
	setenv("LIBFCGI_OS_CLOSE_POLL_TIMEOUT", "200", 1);
	setenv("LIBFCGI_IS_AF_UNIX_KEEPER_POLL_TIMEOUT", "200", 1);
	if (FCGX_Init() != 0) {
		log_error("libfcgi cannot be used");
		return WORKER_FAILED;
	}
	if (open_server(&worker, &fault) != ERR_OK) {
		log_error("%s: %s", fault.place, fault.message);
		if (!job->patient)
			return WORKER_NO_STORE;
		log_error("requests get 503 until it can be opened, which is "
			  "tried each second");
	}
	worker.wake = eventfd(0, EFD_CLOEXEC);
	threads = calloc(count, sizeof(*threads));
	if (worker.wake >= 0 && threads != NULL)
		result = open_and_run(&worker, threads, count);
	free(threads);
	if (worker.wake >= 0)
		close(worker.wake);
	server_close(atomic_load(&worker.server));
	return result;
}
