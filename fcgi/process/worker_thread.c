/*
 * How a request comes in and its answer goes out:
 *
 * - All threads of a process wait on one epoll (see kept.h), for new connections
 *   and for the next request of kept ones. A thread waits there before it
 *   accepts, even when it has just served: an accept() in vain costs the kernel
 *   ten times as much, as it makes the socket first.
 * - The worker accepts by itself: libfcgi's accept would pass the descriptor on to
 *   every program that is started meanwhile, and has a race in its shutdown.
 * - The worker also reads and checks the records by itself (see incoming.h), and
 *   libfcgi parses a sound head from a file in memory. With libfcgi alone, a
 *   thread would wait in read() on each kept connection, and a pool whose threads
 *   all wait serves no request.
 * - The answer does not pass through libfcgi (see record.h). Afterwards the
 *   connection waits for its next request, without a thread.
 * - A connection that has carried a write is closed: nginx repeats a request on a
 *   kept connection that fails, which is allowed for reads only.
 */
#include <assert.h>
#include <errno.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <time.h>
#include <unistd.h>

#include "common/date.h"
#include "common/log.h"
#include "common/limits.h"
#include "common/seldom.h"
#include "common/sink.h"
#include "fcgi/http/request.h"
#include "fcgi/process/worker_priv.h"
#include "fcgi/route.h"

#define BODY_KEEP ((size_t)64 << 10) /* memory a thread keeps for bodies */

/* nginx reads at once; a peer that does not is faulty. */
#define SEND_S 310

/* Makes long answers leave in fewer steps; at most net.core.wmem_max. */
#define SEND_BUFFER (1 << 20)

/* How long a connection that has carried no request counts as new. */
#define NEW_NS INT64_C(1000000000)

/*
 * How often a leaving worker looks for connections that other processes were
 * not woken for.
 */
#define LAST_LOOKS 8

/* --- accepting ------------------------------------------------------------ */

/*
 * True when another accept() may succeed: the connection was closed already, or
 * descriptors or memory are exhausted, which a short pause may cure.
 */
static bool
accept_again(int errnum)
{
	static struct seldom starving = SELDOM_INIT;
	char why[LIMITS_TEXT_MAX];
	uint64_t before;

	switch (errnum) {
	case EINTR:
	case ECONNABORTED:
	case EPROTO:
		return true;
	case EMFILE:
	case ENFILE:
	case ENOBUFS:
	case ENOMEM:
		if (seldom_fails(&starving, &before, date_monotonic_ns()))
			log_error("no connection can be accepted: %s: "
				  "times=%llu",
			    limits_why(why, errnum),
			    (unsigned long long)before + 1);
		nanosleep(&(struct timespec){.tv_nsec = 100000000}, NULL);
		return true;
	default:
		log_error("accepting failed: %s", strerror(errnum));
		return false;
	}
}

/* Accepts the next queued connection; -1: there is none. */
static int
accept_one(const struct worker *worker)
{
	for (;;) {
		int fd =
		    accept4(worker->job->listener, NULL, NULL, SOCK_CLOEXEC);

		if (fd >= 0 || errno == EAGAIN || errno == EWOULDBLOCK)
			return fd;
		/* The listener of an orphaned worker is shut down. */
		if (errno == EINVAL && atomic_load(&worker->stop) != STOP_NOT)
			return -1;
		if (!accept_again(errno))
			_exit(WORKER_FAILED);
	}
}

/* If a limit is refused, the connection works without it. */
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

/* Reads the body to its end, even when it is longer than the buffer keeps. */
static enum err
take_body(struct worker_thread *thread, struct request *request)
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

/* Answers 503 while the store cannot be opened. */
static enum err
serve_or_refuse(struct worker_thread *thread, const struct request *request,
    struct sink *out)
{
	struct worker *worker = thread->worker;
	struct server *server = atomic_load(&worker->server);

	if (thread->serving == NULL && server != NULL)
		thread->serving = serving_new(server);
	if (thread->serving != NULL)
		return serve(thread->serving, request, out);
	return serve_without_store(worker->job->metrics, request, out);
}

/* ERR_OK when the whole answer was sent; else the connection must be cut. */
static enum err
answer(struct worker_thread *thread, struct request *request)
{
	const struct worker_job *job = thread->worker->job;
	struct sink out = record_sink(&thread->record);
	enum err err;

	request->slow_pool = job->slow;
	request->gone = has_gone;
	request->connection = &thread->incoming.fd;
	err = serve_or_refuse(thread, request, &out);
	if (err != ERR_OK)
		return err; /* counted by serve() */
	err = record_end(&thread->record);
	if (err == ERR_CLOSED)
		atomic_fetch_add_explicit(
		    &job->metrics->requests_aborted, 1, memory_order_relaxed);
	return err;
}

static void
tell_failure(const struct worker_thread *thread, enum err err)
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

/* nginx closes the connection after the answer to a HEAD. */
static bool
is_read(const struct request *request)
{
	return request->method != METHOD_HEAD &&
	    request->method != METHOD_OPTIONS && route_reads(request);
}

/* True when the connection may carry another request. */
static bool
serve_request(struct worker_thread *thread, char **params)
{
	struct gauges *gauges = metrics_mine(thread->worker->job->metrics);
	struct request request;
	enum err err;

	gauges->requests++;
	request_init(&request);
	request.start_ns = date_monotonic_ns();
	take_params(&request, params);
	err = take_body(thread, &request);
	tell_failure(thread, err);
	if (err == ERR_OK) {
		err = answer(thread, &request);
		if (err != ERR_OK && err != ERR_CLOSED)
			log_warn("an answer was cut off: %s",
			    /* an error that no head could tell any more */
			    err == ERR_INTERNAL ? "the lines before say why"
						: err_text(err));
	}
	gauges->requests--;
	return err == ERR_OK && thread->incoming.keep && is_read(&request) &&
	    incoming_is_over(&thread->incoming);
}

/* Serves a request whose head has been read. True as above. */
static bool
serve_head(struct worker_thread *thread)
{
	bool keep = false;
	char **params;
	enum err err =
	    fcgiparams_parse(&params, thread->params, thread->incoming.head);

	tell_failure(thread, err);
	if (err == ERR_OK)
		keep = serve_request(thread, params);
	fcgiparams_release(thread->params);
	if (thread->body.cap > BODY_KEEP)
		buf_fini(&thread->body);
	return keep;
}

/* --- one connection ------------------------------------------------------- */

/*
 * In the slow pool a request may take minutes. When its last thread becomes
 * busy, a process closes its waiting connections: nginx then sends the next
 * request to a process with a free thread, or queues it for all of them.
 */
static void
begin_work(struct worker *worker)
{
	if (worker->job->slow &&
	    atomic_fetch_add(&worker->busy, 1) + 1 == worker->threads)
		kept_shed(worker->kept);
}

static void
end_work(struct worker *worker)
{
	if (worker->job->slow)
		atomic_fetch_sub(&worker->busy, 1);
}

static bool
stops(const struct worker *worker)
{
	return atomic_load_explicit(&worker->stop, memory_order_relaxed) !=
	    STOP_NOT;
}

/* Serves a connection that has no place, or cannot wait. */
static void
serve_once(struct worker_thread *thread, int fd)
{
	enum err err = incoming_head(&thread->incoming, fd);

	tell_failure(thread, err);
	if (err == ERR_OK) {
		begin_work(thread->worker);
		record_begin(&thread->record, fd, thread->incoming.id);
		serve_head(thread);
		end_work(thread->worker);
	}
	close(fd);
}

/*
 * nginx sends its request as soon as it is connected, so a new connection is
 * not closed before it has carried one.
 */
static bool
is_new(const struct worker_thread *thread, const struct kept_found *found)
{
	return !kept_notes(thread->worker->kept, found->place)->served &&
	    found->since_ns > date_monotonic_ns() - NEW_NS;
}

/*
 * Serves the requests that have come on the connection; then it waits for more,
 * or is closed. A worker that must stop checks each connection a last time, for
 * requests that came before.
 */
static void
serve_kept(
    struct worker_thread *thread, const struct kept_found *found, bool last)
{
	struct worker *worker = thread->worker;
	struct kept_notes *notes = kept_notes(worker->kept, found->place);
	enum err err = last && is_new(thread, found)
	    ? incoming_head(&thread->incoming, found->fd)
	    : incoming_try_head(&thread->incoming, found->fd);
	bool keep = err == ERR_BUSY;

	if (err == ERR_OK) {
		begin_work(worker);
		record_begin(&thread->record, found->fd, thread->incoming.id);
		thread->record.may_wait = notes->limited;
		keep = serve_head(thread);
		notes->limited = thread->record.may_wait;
		notes->served = true;
		end_work(worker);
	} else if (!keep)
		tell_failure(thread, err);
	if (keep && !last)
		kept_arm(worker->kept, found->place);
	else
		kept_drop(worker->kept, found->place);
}

static void
serve_new(struct worker_thread *thread, int fd)
{
	struct worker *worker = thread->worker;
	struct kept_found found = {KEPT_CONNECTION, KEPT_NO_PLACE, fd, 0};

	atomic_fetch_add_explicit(
	    &worker->job->metrics->connections, 1, memory_order_relaxed);
	if (!stops(worker))
		found.place = kept_add(worker->kept, fd);
	if (found.place == KEPT_NO_PLACE)
		serve_once(thread, fd);
	else
		serve_kept(thread, &found, false);
}

/* --- threads -------------------------------------------------------------- */

static void
serve_found(struct worker_thread *thread, const struct kept_found *found)
{
	int fd;

	switch (found->what) {
	case KEPT_STOP:
		break;
	case KEPT_LISTENER:
		fd = accept_one(thread->worker);
		if (fd >= 0)
			serve_new(thread, fd);
		break;
	case KEPT_CONNECTION:
		serve_kept(thread, found, false);
	}
}

/*
 * The worker must stop. A queued connection wakes one process, perhaps this
 * one, which then serves it. Kept connections without a request are closed, and
 * nginx connects to another process.
 */
static void
serve_the_last(struct worker_thread *thread)
{
	struct worker *worker = thread->worker;
	bool all = atomic_load(&worker->stop) == STOP_LAST_CALL;
	struct kept_found found;
	int fd;

	for (int i = 0; all || i < LAST_LOOKS; i++) {
		fd = accept_one(worker);
		if (fd < 0)
			break;
		serve_new(thread, fd);
	}
	while (kept_take_any(&found, worker->kept))
		serve_kept(thread, &found, true);
}

void *
thread_main(void *arg)
{
	struct worker_thread *thread = arg;
	struct kept_connections *kept = thread->worker->kept;

	while (!stops(thread->worker)) {
		struct kept_found found;

		if (kept_wait(&found, kept))
			serve_found(thread, &found);
	}
	serve_the_last(thread);
	return NULL;
}

bool
thread_open(struct worker_thread *thread, struct worker *worker)
{
	struct server *server = atomic_load(&worker->server);

	assert(worker->job != NULL);
	thread->worker = worker;
	buf_init(&thread->body, (size_t)worker->job->settings->body_bytes);
	if (incoming_init(&thread->incoming) != ERR_OK ||
	    record_init(&thread->record) != ERR_OK ||
	    fcgiparams_new(&thread->params) != ERR_OK)
		return false;
	thread->record.before_wait = limit_sending;
	return server == NULL ||
	    (thread->serving = serving_new(server)) != NULL;
}

void
thread_close(struct worker_thread *thread)
{
	serving_free(thread->serving);
	record_fini(&thread->record);
	incoming_fini(&thread->incoming);
	buf_fini(&thread->body);
	fcgiparams_free(thread->params);
}
