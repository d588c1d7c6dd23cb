#include "tools/gridctl/night/step.h"

#include <assert.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "common/fs.h"
#include "common/spawn.h"
#include "tools/gridctl/cmd.h"

/* As JSON a byte may become three of UTF-8: both parts fit NIGHT_SAID_MAX. */
#define HEAD_MAX 2000
#define TAIL_MAX 600

struct said {
	char head[HEAD_MAX];
	size_t head_len;
	char tail[TAIL_MAX]; /* a ring */
	uint64_t tail_bytes;
};

static void
keep(struct said *said, const char *bytes, size_t len)
{
	for (size_t i = 0; i < len; i++) {
		char byte = bytes[i] == '\0' ? '?' : bytes[i];

		if (said->head_len < HEAD_MAX)
			said->head[said->head_len++] = byte;
		else
			said->tail[said->tail_bytes++ % TAIL_MAX] = byte;
	}
}

/* Without the line ends at the end. */
static void
said_text(char text[NIGHT_SAID_MAX + 1], const struct said *said)
{
	uint64_t at = 0;
	size_t len = said->head_len;

	memcpy(text, said->head, len);
	if (said->tail_bytes > TAIL_MAX) {
		memcpy(text + len, "\n[...]\n", 7);
		len += 7;
		at = said->tail_bytes - TAIL_MAX;
	}
	for (; at < said->tail_bytes; at++)
		text[len++] = said->tail[at % TAIL_MAX];
	while (len > 0 && text[len - 1] == '\n')
		len--;
	text[len] = '\0';
}

/* Reads to the end, and passes it on. */
static void
listen_to(struct said *said, int fd)
{
	char bytes[4096];

	for (;;) {
		ssize_t got = read(fd, bytes, sizeof(bytes));

		if (got < 0 && errno == EINTR)
			continue;
		if (got <= 0)
			return;
		keep(said, bytes, (size_t)got);
		(void)fs_write_all(STDERR_FILENO, bytes, (size_t)got);
	}
}

static void __attribute__((noreturn)) be_child(int out, pid_t parent,
    uint64_t *rows, int (*run)(void *context), void *context)
{
	int code;

	/* The parent may have died before the call. */
	if (prctl(PR_SET_PDEATHSIG, SIGKILL) != 0 || getppid() != parent ||
	    dup2(out, STDOUT_FILENO) < 0 || dup2(out, STDERR_FILENO) < 0)
		_exit(CMD_FAILED);
	close(out);
	code = cmd_flush(run(context));
	*rows = cmd_rows();
	_exit(code);
}

enum err
step_run(
    struct step_result *out, int lock, int (*run)(void *context), void *context)
{
	struct said said = {.head_len = 0};
	pid_t pid, parent = getpid();
	int ends[2], status = 0, errnum;
	uint64_t *rows;

	assert(out != NULL && run != NULL);
	memset(out, 0, sizeof(*out));
	rows = mmap(NULL, sizeof(*rows), PROT_READ | PROT_WRITE,
	    MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	if (rows == MAP_FAILED)
		return err_from_errno(errno);
	if (pipe2(ends, O_CLOEXEC) != 0) {
		munmap(rows, sizeof(*rows));
		return err_from_errno(errno);
	}
	fflush(stdout);
	pid = fork();
	if (pid == 0) {
		close(ends[0]);
		close(lock);
		be_child(ends[1], parent, rows, run, context);
	}
	errnum = errno;
	close(ends[1]);
	if (pid > 0) {
		listen_to(&said, ends[0]);
		errnum = spawn_reap(&status, pid);
	}
	close(ends[0]);
	out->code = spawn_code(status);
	out->rows = *rows;
	said_text(out->said, &said);
	munmap(rows, sizeof(*rows));
	return pid > 0 && errnum == 0 ? ERR_OK : err_from_errno(errnum);
}
