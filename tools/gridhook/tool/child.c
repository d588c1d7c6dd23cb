/*
 * child: fork, then exec. A pipe that closes itself on exec brings back why an
 * exec failed. While the program runs we wait in poll(): for its output, for
 * its input to have room, and for its end (a pidfd).
 */
#include "tools/gridhook/tool/child.h"

#include <assert.h>
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <unistd.h>

#include "common/date.h"
#include "common/spawn.h"

#define CHUNK 65536

struct child {
	pid_t pid;
	int in, out, pid_fd;
	int64_t deadline_ms;
	struct span input; /* not written yet */
};

struct pipes {
	int in[2], out[2], why[2];
};

static int64_t
now_ms(void)
{
	return date_monotonic_ns() / 1000000;
}

static void
shut(int *fd)
{
	if (*fd >= 0)
		close(*fd);
	*fd = -1;
}

static void
pipes_close(struct pipes *pipes)
{
	for (int end = 0; end < 2; end++) {
		shut(&pipes->in[end]);
		shut(&pipes->out[end]);
		shut(&pipes->why[end]);
	}
}

static bool
pipes_open(struct pipes *pipes, bool in, bool out)
{
	*pipes = (struct pipes){{-1, -1}, {-1, -1}, {-1, -1}};
	return (!in || pipe2(pipes->in, O_CLOEXEC) == 0) &&
	    (!out || pipe2(pipes->out, O_CLOEXEC) == 0) &&
	    pipe2(pipes->why, O_CLOEXEC) == 0;
}

/* In the new process: only what may be done between fork and exec. */
static void __attribute__((noreturn))
become(const char *const *argv, const struct pipes *pipes, bool own_session)
{
	static const struct sigaction plain = {.sa_handler = SIG_DFL};
	int null = open("/dev/null", O_RDWR | O_CLOEXEC);
	int why;
	sigset_t none;

	for (int number = 1; number < NSIG; number++)
		sigaction(number, &plain, NULL);
	sigemptyset(&none);
	sigprocmask(SIG_SETMASK, &none, NULL);
	if (own_session)
		setsid();
	else
		prctl(PR_SET_PDEATHSIG, SIGKILL);
	if (dup2(pipes->in[0] >= 0 ? pipes->in[0] : null, STDIN_FILENO) >= 0 &&
	    dup2(pipes->out[1] >= 0 ? pipes->out[1] : null, STDOUT_FILENO) >=
		0 &&
	    dup2(null, STDERR_FILENO) >= 0) {
		close_range(STDERR_FILENO + 1, ~0u, CLOSE_RANGE_CLOEXEC);
		/* exec alters nothing; its type is older than const. */
		execvp(argv[0], (char *const *)(uintptr_t)argv);
	}
	why = errno;
	while (write(pipes->why[1], &why, sizeof(why)) < 0 && errno == EINTR)
		;
	_exit(127);
}

/* 0 once the program runs, else the errno of its exec. */
static int
read_why(int fd)
{
	int why = 0;
	ssize_t got;

	do
		got = read(fd, &why, sizeof(why));
	while (got < 0 && errno == EINTR);
	return got == (ssize_t)sizeof(why) ? why : 0;
}

static enum err
failed(struct fault *fault, const char *program, int code)
{
	if (code == ENOENT || code == ENOTDIR) {
		fault_set(fault, program, "not found: program %s", program);
		return ERR_NOT_FOUND;
	}
	fault_set(fault, program, "cannot start %s: %s", program,
	    err_text(err_from_errno(code)));
	return err_from_errno(code);
}

static int
end_status(pid_t pid)
{
	int status = 0;

	while (waitpid(pid, &status, 0) < 0 && errno == EINTR)
		;
	return spawn_code(status);
}

/* Starts it; child->pid is 0 when that failed. */
static enum err
launch(struct child *child, const struct child_spec *spec, bool output,
    struct fault *fault)
{
	struct pipes pipes;
	int code = 0;

	*child = (struct child){.in = -1, .out = -1, .pid_fd = -1};
	child->deadline_ms = now_ms() + spec->timeout_ms;
	child->input = spec->input;
	if (!pipes_open(&pipes, spec->input.len > 0, output))
		code = errno;
	else if ((child->pid = fork()) < 0)
		code = errno;
	else if (child->pid == 0)
		become(spec->argv, &pipes, spec->own_session);
	shut(&pipes.why[1]);
	if (code == 0 && (code = read_why(pipes.why[0])) != 0)
		end_status(child->pid);
	if (code == 0) {
		child->pid_fd = (int)syscall(SYS_pidfd_open, child->pid, 0);
		child->in = pipes.in[1];
		child->out = pipes.out[0];
		pipes.in[1] = pipes.out[0] = -1;
		if (child->in >= 0)
			fcntl(child->in, F_SETFL, O_NONBLOCK);
	}
	pipes_close(&pipes);
	if (code == 0)
		return ERR_OK;
	child->pid = 0;
	return failed(fault, spec->argv[0], code);
}

/* False once it reads no more, or has it all. */
static bool
feed(struct child *child)
{
	ssize_t sent = write(child->in, child->input.ptr, child->input.len);

	if (sent < 0)
		return errno == EAGAIN || errno == EINTR;
	child->input = span_from(child->input, (size_t)sent);
	return child->input.len > 0;
}

/*
 * Reads some of its output. ERR_NOT_READY: there may be more; ERR_OK: that was
 * the end; ERR_TOO_LARGE: there is more than `output` takes, which is full.
 */
static enum err
drain(struct child *child, struct buf *output)
{
	size_t left = output->max - output->len;
	size_t want = left < CHUNK ? left : CHUNK;
	char beyond = 0, *room = left > 0 ? buf_room(output, want) : &beyond;
	ssize_t got;

	if (room == NULL)
		return buf_end(output);
	got = read(child->out, room, left > 0 ? want : 1);
	if (got < 0)
		return errno == EINTR ? ERR_NOT_READY : err_from_errno(errno);
	if (got == 0)
		return ERR_OK;
	if (left == 0)
		return ERR_TOO_LARGE;
	buf_grown(output, (size_t)got);
	return ERR_NOT_READY;
}

/* Waits a round; ERR_NOT_READY means once more. */
static enum err
step(struct child *child, struct buf *output)
{
	struct pollfd wait[3] = {{.fd = child->in, .events = POLLOUT},
	    {.fd = child->out, .events = POLLIN},
	    /* Output that is still in the pipe is read first. */
	    {.fd = child->out >= 0 ? -1 : child->pid_fd, .events = POLLIN}};
	int64_t left = child->deadline_ms - now_ms();
	enum err err;
	int ready;

	if (left <= 0)
		return ERR_TIMED_OUT;
	ready = poll(wait, 3, (int)left);
	if (ready < 0 && errno != EINTR)
		return err_from_errno(errno);
	if (ready <= 0)
		return ERR_NOT_READY;
	if (wait[0].revents != 0 && !feed(child))
		shut(&child->in);
	if (output != NULL && wait[1].revents != 0) {
		err = drain(child, output);
		if (err != ERR_OK)
			return err;
		shut(&child->out);
	}
	return wait[2].revents != 0 ? ERR_OK : ERR_NOT_READY;
}

/* Waits for the end, and kills it where that does not come. */
static enum err
finish(struct child *child, struct buf *output, int *status)
{
	enum err err;

	if (child->pid_fd < 0)
		err = err_from_errno(errno);
	else
		do
			err = step(child, output);
		while (err == ERR_NOT_READY);
	if (err != ERR_OK)
		kill(child->pid, SIGKILL);
	*status = end_status(child->pid);
	shut(&child->in);
	shut(&child->out);
	shut(&child->pid_fd);
	return err;
}

enum err
child_run(const struct child_spec *spec, struct buf *output, int *status,
    struct fault *fault)
{
	struct child child;
	enum err err;

	assert(spec->argv[0] != NULL && spec->timeout_ms > 0);
	*status = 0;
	err = launch(&child, spec, output != NULL, fault);
	if (err != ERR_OK)
		return err;
	err = finish(&child, output, status);
	if (err == ERR_TIMED_OUT)
		fault_set(fault, spec->argv[0], "timed out after %d ms: %s",
		    spec->timeout_ms, spec->argv[0]);
	else if (err != ERR_OK)
		fault_set(fault, spec->argv[0], "%s was stopped: %s",
		    spec->argv[0], err_text(err));
	return err;
}

enum err
child_start(
    const char *const *argv, int watch_ms, int *status, struct fault *fault)
{
	struct child_spec spec = {
	    .argv = argv, .timeout_ms = watch_ms, .own_session = true};
	struct child child;
	enum err err;

	assert(argv[0] != NULL && watch_ms >= 0);
	*status = CHILD_RUNNING;
	err = launch(&child, &spec, false, fault);
	if (err != ERR_OK)
		return err;
	do
		err = step(&child, NULL);
	while (err == ERR_NOT_READY);
	if (err == ERR_OK)
		*status = end_status(child.pid);
	shut(&child.pid_fd);
	return ERR_OK;
}
