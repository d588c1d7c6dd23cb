/*
 * A job from cron or a shell: its output passes through, and its end is pushed
 * with the tail of that output.
 */
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/pidfd.h>
#include <sys/signalfd.h>
#include <sys/wait.h>
#include <unistd.h>

#include "common/date.h"
#include "common/fs.h"
#include "common/members.h"
#include "common/opt.h"
#include "common/spawn.h"
#include "common/utf8.h"
#include "tools/gridhook/cmd.h"
#include "tools/gridhook/sending.h"

#define TAIL_MAX 8192 /* bytes that are kept */
#define LINE_MAX_BYTES 400 /* of the last line, as the job's error */
#define NOT_STARTED 127 /* the shell's code for a command that is not there */

struct options {
	const char *job, *source, *title, *link;
	struct sending to;
	bool failures;
};

#define AT(member) offsetof(struct options, member)

static const struct opt_row rows[] = {
    {"--job", 'j', OPT_TEXT, AT(job), 0, 0, "NAME", "the job's name; needed"},
    {"--source", 's', OPT_TEXT, AT(source), 0, 0, "NAME",
	"who sends it (default: the machine's name)"},
    {"--title", 't', OPT_TEXT, AT(title), 0, 0, "TEXT", "one line"},
    {"--link", 0, OPT_TEXT, AT(link), 0, 0, "URL", "where to read more"},
    {"--only-failures", 0, OPT_FLAG, AT(failures), 0, 0, NULL,
	"push nothing when the job succeeds"},
    SENDING_OPTIONS(offsetof(struct options, to),
	"give up pushing after this (default: 10s)"),
};

static const struct opt_spec spec = {
    .usage = "gridhook [--config FILE] run --job NAME [OPTION]... -- COMMAND "
	     "[ARGUMENT]...",
    .about = "Runs a command and pushes how it ended: its exit status or "
	     "signal, how long it took, and the tail of its output, which "
	     "passes through. The exit code is the command's, 128 and the "
	     "signal's number when a signal ended it, and 127 when it could "
	     "not be started.",
    .rows = rows,
    .count = sizeof(rows) / sizeof(rows[0]),
    .args_min = 1,
    .args_max = -1,
};

struct job {
	pid_t pid;
	int pipes[2]; /* its standard output and error; -1 at their end */
	int pidfd, signals;
	int status; /* as waitpid() gives it */
	int exec_errno; /* 0 when it was started */
	int64_t began_ns, took_ms;
	char tail[TAIL_MAX];
	size_t tail_len;
	bool cut; /* there was more */
};

/* --- running it ----------------------------------------------------------- */

static const int passed_on[] = {SIGTERM, SIGINT, SIGHUP, SIGQUIT};

static sigset_t
signal_set(void)
{
	sigset_t set;

	sigemptyset(&set);
	for (size_t i = 0; i < sizeof(passed_on) / sizeof(passed_on[0]); i++)
		sigaddset(&set, passed_on[i]);
	return set;
}

/* In the child; comes back only when the command cannot be started. */
static void
become(char **argv, const int out[2], const int err[2], int report,
    const sigset_t *before)
{
	int code;

	dup2(out[1], STDOUT_FILENO);
	dup2(err[1], STDERR_FILENO);
	sigprocmask(SIG_SETMASK, before, NULL);
	execvp(argv[0], argv);
	code = errno;
	if (write(report, &code, sizeof(code)) < 0)
		_exit(NOT_STARTED);
	_exit(NOT_STARTED);
}

static enum err
start(struct job *job, char **argv)
{
	int out[2] = {-1, -1}, err[2] = {-1, -1}, report[2] = {-1, -1};
	sigset_t set = signal_set(), before;

	if (pipe2(out, O_CLOEXEC) != 0 || pipe2(err, O_CLOEXEC) != 0 ||
	    pipe2(report, O_CLOEXEC) != 0 ||
	    sigprocmask(SIG_BLOCK, &set, &before) != 0)
		return err_from_errno(errno);
	job->signals = signalfd(-1, &set, SFD_CLOEXEC | SFD_NONBLOCK);
	job->began_ns = date_monotonic_ns();
	job->pid = fork();
	if (job->pid == 0)
		become(argv, out, err, report[1], &before);
	close(out[1]);
	close(err[1]);
	close(report[1]);
	if (job->pid < 0 || job->signals < 0)
		return err_from_errno(errno);
	/* The write end closes by itself when the command has been started. */
	if (read(report[0], &job->exec_errno, sizeof(job->exec_errno)) !=
	    sizeof(job->exec_errno))
		job->exec_errno = 0;
	close(report[0]);
	job->pipes[0] = out[0];
	job->pipes[1] = err[0];
	job->pidfd = pidfd_open(job->pid, 0);
	return job->pidfd < 0 ? err_from_errno(errno) : ERR_OK;
}

static void
keep(struct job *job, const char *bytes, size_t len)
{
	size_t over;

	if (len > TAIL_MAX) {
		bytes += len - TAIL_MAX;
		len = TAIL_MAX;
		job->cut = true;
	}
	if (job->tail_len + len > TAIL_MAX) {
		over = job->tail_len + len - TAIL_MAX;
		memmove(job->tail, job->tail + over, job->tail_len - over);
		job->tail_len -= over;
		job->cut = true;
	}
	memcpy(job->tail + job->tail_len, bytes, len);
	job->tail_len += len;
}

/* Copies to our own output; the job goes on even if that is not read. */
static void
pass(struct job *job, int which)
{
	char bytes[65536];
	ssize_t got = read(job->pipes[which], bytes, sizeof(bytes));

	if (got < 0 && (errno == EINTR || errno == EAGAIN))
		return;
	if (got <= 0) {
		close(job->pipes[which]);
		job->pipes[which] = -1;
		return;
	}
	keep(job, bytes, (size_t)got);
	if (fs_write_all(which == 0 ? STDOUT_FILENO : STDERR_FILENO, bytes,
		(size_t)got) != ERR_OK)
		return;
}

static void
pass_signal(const struct job *job)
{
	struct signalfd_siginfo info;

	/* The terminal sends its own to the job as well. */
	while (read(job->signals, &info, sizeof(info)) == (ssize_t)sizeof(info))
		if (info.ssi_code != SI_KERNEL)
			kill(job->pid, (int)info.ssi_signo);
}

/*
 * Runs until the process has ended and its pipes are empty. A process that it
 * left running may hold them open for ever: leave_behind() is for that.
 */
static void
follow(struct job *job)
{
	bool over = false;
	int ready;

	for (;;) {
		struct pollfd fds[4] = {{job->pipes[0], POLLIN, 0},
		    {job->pipes[1], POLLIN, 0},
		    {over ? -1 : job->pidfd, POLLIN, 0},
		    {over ? -1 : job->signals, POLLIN, 0}};

		ready = poll(fds, 4, over ? 0 : -1);
		if (ready == 0 || (ready < 0 && errno != EINTR))
			break;
		if (fds[0].revents != 0)
			pass(job, 0);
		if (fds[1].revents != 0)
			pass(job, 1);
		if (fds[3].revents != 0)
			pass_signal(job);
		if (fds[2].revents == 0)
			continue;
		job->took_ms = (date_monotonic_ns() - job->began_ns) / 1000000;
		if (waitpid(job->pid, &job->status, 0) != job->pid)
			job->status = NOT_STARTED << 8;
		over = true;
	}
}

/*
 * Processes that the command left running go on writing: a child passes that on
 * until the last of it has ended, and nobody waits for the child.
 */
static void
leave_behind(struct job *job)
{
	sigset_t set = signal_set();
	pid_t pid;

	if (job->pipes[0] < 0 && job->pipes[1] < 0)
		return;
	fflush(NULL);
	pid = fork();
	if (pid < 0)
		fprintf(stderr,
		    "gridhook run: what the command left running loses its "
		    "output: %s\n",
		    strerror(errno));
	if (pid != 0)
		return;
	sigprocmask(SIG_UNBLOCK, &set, NULL);
	while (job->pipes[0] >= 0 || job->pipes[1] >= 0) {
		struct pollfd fds[2] = {
		    {job->pipes[0], POLLIN, 0}, {job->pipes[1], POLLIN, 0}};

		if (poll(fds, 2, -1) < 0 && errno != EINTR)
			break;
		for (int i = 0; i < 2; i++)
			if (fds[i].revents != 0)
				pass(job, i);
	}
	_exit(EXIT_SUCCESS);
}

/* --- telling -------------------------------------------------------------- */

static bool
has_failed(const struct job *job)
{
	return job->exec_errno != 0 || !WIFEXITED(job->status) ||
	    WEXITSTATUS(job->status) != 0;
}

static int
code_of(const struct job *job)
{
	if (job->exec_errno != 0)
		return NOT_STARTED;
	return spawn_code(job->status);
}

/* The kept end of the output, from the beginning of a line on. */
static struct span
tail_of(const struct job *job)
{
	struct span text = span_make(job->tail, job->tail_len);

	if (job->cut && span_find(text, '\n') < text.len)
		text = span_from(text, span_find(text, '\n') + 1);
	while (text.len > 0 && strchr("\n\r", text.ptr[text.len - 1]) != NULL)
		text.len--;
	return text;
}

static struct span
last_line(struct span text)
{
	size_t at = text.len;

	while (at > 0 && text.ptr[at - 1] != '\n')
		at--;
	return utf8_cut(span_from(text, at), LINE_MAX_BYTES);
}

static void
put_error(struct jsonw *json, const struct job *job, struct span tail,
    const char *command)
{
	const char *name;
	char why[512];
	struct buf text;

	if (job->exec_errno != 0)
		snprintf(why, sizeof(why), "%s cannot be started: %s", command,
		    strerror(job->exec_errno));
	else if (WIFSIGNALED(job->status)) {
		name = sigabbrev_np(WTERMSIG(job->status));
		snprintf(why, sizeof(why), "ended by signal %s",
		    name == NULL ? "?" : name);
	} else
		snprintf(why, sizeof(why), "exit status %d",
		    WEXITSTATUS(job->status));
	buf_init(&text, sizeof(why) + LINE_MAX_BYTES * 4);
	buf_add_span(&text, span_of(why));
	if (tail.len > 0) {
		buf_add_text(&text, ": ");
		buf_add_span(&text, last_line(tail));
	}
	members_text(json, "error",
	    buf_end(&text) == ERR_OK ? buf_span(&text) : span_of(why));
	buf_fini(&text);
}

static enum err
write_body(struct buf *body, const struct options *options,
    const struct job *job, const char *command)
{
	struct span tail = tail_of(job);
	struct jsonw json;

	sending_begin(&json, body, options->source);
	members_given(&json, "job", options->job);
	members_given(&json, "title", options->title);
	members_given(&json, "status", has_failed(job) ? "error" : "ok");
	members_int(&json, "exit_code", code_of(job));
	members_int(&json, "duration_ms", job->took_ms);
	if (tail.len > 0)
		members_text(&json, "text", tail);
	if (has_failed(job))
		put_error(&json, job, tail, command);
	members_given(&json, "url", options->link);
	return sending_end(&json);
}

static void
push(const struct options *options, struct hook_settings *settings,
    const struct job *job, const char *command)
{
	struct buf raw, body;
	enum err err;

	if (options->failures && !has_failed(job))
		return;
	buf_init(&raw, TAIL_MAX * 8);
	buf_init(&body, TAIL_MAX * 24);
	err = write_body(&raw, options, job, command);
	/* A job writes what it likes; the push is UTF-8. */
	if (err == ERR_OK) {
		utf8_mend(&body, buf_span(&raw));
		err = buf_end(&body);
	}
	if (err != ERR_OK)
		fprintf(
		    stderr, "gridhook run: not pushed: %s\n", err_text(err));
	else
		sending_post(&options->to, settings, buf_span(&body),
		    "gridhook run: not pushed");
	buf_fini(&raw);
	buf_fini(&body);
}

/* --- the command ---------------------------------------------------------- */

static int
run(const struct options *options, struct hook_settings *settings, char **argv)
{
	struct job job = {.pipes = {-1, -1}, .pidfd = -1, .signals = -1};
	enum err err = start(&job, argv);

	signal(SIGPIPE, SIG_IGN);
	if (err != ERR_OK) {
		fprintf(
		    stderr, "gridhook run: %s: %s\n", argv[0], err_text(err));
		return NOT_STARTED;
	}
	follow(&job);
	if (job.exec_errno != 0)
		fprintf(stderr, "gridhook run: %s cannot be started: %s\n",
		    argv[0], strerror(job.exec_errno));
	leave_behind(&job);
	push(options, settings, &job, argv[0]);
	return code_of(&job);
}

int
cmd_job(const char *config, int argc, char **argv)
{
	struct options options = {.to.timeout_s = 10};
	struct fault fault = {.place = ""};
	struct hook_settings settings;
	int count, code;

	if (!opt_go(&code, &options, &spec, argc, argv, &count))
		return code;
	if (options.job == NULL || options.job[0] == '\0') {
		fprintf(stderr,
		    "gridhook run: --job NAME is missing; try 'gridhook run "
		    "--help'\n");
		return OPT_USAGE;
	}
	/* The operands are argv[1] to argv[count]. */
	argv[count + 1] = NULL;
	if (settings_load(&settings, config, &fault) != ERR_OK) {
		fprintf(stderr,
		    "gridhook run: %s: %s; the job runs, and its "
		    "end is not pushed\n",
		    fault.place, fault.message);
		execvp(argv[1], argv + 1);
		code = NOT_STARTED;
	} else
		code = run(&options, &settings, argv + 1);
	settings_fini(&settings);
	return code;
}
