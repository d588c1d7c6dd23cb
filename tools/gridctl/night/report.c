#include "tools/gridctl/night/report.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "common/date.h"
#include "common/fs.h"
#include "common/members.h"
#include "common/spawn.h"
#include "common/web/post.h"
#include "tools/gridctl/cmd.h"
#include "tools/gridctl/night/show.h"

#define REPORT_MAX (1u << 20)
#define SECRET_MAX 4096

struct report {
	const struct night_settings *settings;
	char title[NIGHT_TITLE_MAX];
	const char *state;
	struct buf text;
};

static int
failed(const char *how, const char *why)
{
	fprintf(stderr, "gridctl night: %s: %s\n", how, why);
	return CMD_FAILED;
}

/* --- by a command ---------------------------------------------------------- */

/* The report as a file without a name, for the command's input. */
static int
text_file(const struct buf *text)
{
	int fd = memfd_create("report", MFD_CLOEXEC);

	if (fd >= 0 &&
	    (fs_write_all(fd, text->data, text->len) != ERR_OK ||
		lseek(fd, 0, SEEK_SET) != 0)) {
		close(fd);
		fd = -1;
	}
	return fd;
}

static int
run_command(const struct report *report)
{
	char *argv[] = {
	    (char[]){"sh"}, (char[]){"-c"}, report->settings->command, NULL};
	int64_t end =
	    date_monotonic_ns() + report->settings->timeout_s * 1000000000;
	struct spawn_fd input = {text_file(&report->text), STDIN_FILENO};
	struct spawn_spec spec = {.program = "/bin/sh",
	    .argv = argv,
	    .fds = &input,
	    .fd_count = 1,
	    .group = true};
	pid_t pid = 0;
	int status = 0, errnum;

	if (input.from < 0)
		return failed("report", strerror(errno));
	setenv("NIGHT_TITLE", report->title, 1);
	setenv("NIGHT_STATE", report->state, 1);
	errnum = spawn_start(&pid, &spec);
	close(input.from);
	if (errnum != 0)
		return failed("[report] command", strerror(errnum));
	if (!spawn_ends_before(pid, end)) {
		spawn_kill_group(pid);
		(void)spawn_reap(&status, pid);
		return failed(
		    "[report] command", "not done in time ([report] timeout)");
	}
	errnum = spawn_reap(&status, pid);
	if (errnum != 0)
		return failed("[report] command", strerror(errnum));
	if (spawn_code(status) == 0)
		return CMD_DONE;
	fprintf(stderr, "gridctl night: [report] command: exit code %d\n",
	    spawn_code(status));
	return CMD_FAILED;
}

/* --- to an address ---------------------------------------------------------- */

static enum err
body_of(struct buf *body, const struct report *report)
{
	struct jsonw json;

	jsonw_init(&json, body);
	jsonw_object_begin(&json);
	members_string(&json, "source", "night");
	members_string(&json, "title", report->title);
	members_string(&json, "status", report->state);
	members_text(&json, "text", buf_span(&report->text));
	jsonw_object_end(&json);
	return buf_end(body);
}

/* "Authorization: Bearer SECRET", or empty without one; the file is one line. */
static enum err
secret_header(char header[SECRET_MAX], const char *path)
{
	struct buf secret;
	enum err err;

	header[0] = '\0';
	if (path[0] == '\0')
		return ERR_OK;
	buf_init(&secret, SECRET_MAX / 2);
	err = fs_read(&secret, path);
	if (err == ERR_OK) {
		struct span text, rest = buf_span(&secret);

		if (!span_cut(&text, &rest, '\n') || text.len == 0 ||
		    rest.len > 0)
			err = ERR_BAD_INPUT;
		else
			snprintf(header, SECRET_MAX,
			    "Authorization: Bearer %.*s", SPAN_ARG(text));
	}
	buf_fini(&secret);
	return err;
}

static int
wait_for(struct posts *posts)
{
	struct post_result result;
	char text[POST_TEXT_MAX];

	while (!posts_next(&result, posts))
		posts_wait(posts, 1000);
	if (result.status >= 200 && result.status < 300)
		return CMD_DONE;
	post_text(text, &result);
	return failed("[report] url", text);
}

static int
post(const struct report *report)
{
	const struct night_settings *settings = report->settings;
	char header[SECRET_MAX];
	const char *headers[] = {"Content-Type: application/json", NULL, NULL};
	struct posts *posts = NULL;
	struct buf body;
	int result;
	enum err err = secret_header(header, settings->secret_file);

	if (err != ERR_OK)
		return failed("[report] secret_file", err_text(err));
	if (header[0] != '\0')
		headers[1] = header;
	buf_init(&body, 2 * REPORT_MAX);
	err = body_of(&body, report);
	if (err == ERR_OK)
		err = posts_new(&posts, NULL);
	if (err == ERR_OK)
		err = posts_add(posts,
		    &(struct post_request){.url = settings->url,
			.headers = headers,
			.body = buf_span(&body),
			.timeout_ms = settings->timeout_s * 1000});
	result = err == ERR_OK ? wait_for(posts)
			       : failed("[report] url", err_text(err));
	posts_free(posts);
	buf_fini(&body);
	return result;
}

int
night_report(const struct night *night, const struct night_settings *settings)
{
	struct report report = {.settings = settings};
	int result = CMD_DONE;

	if (settings->quiet && !night_failed(night))
		return CMD_DONE;
	report.state = night_failed(night) ? "failed" : "done";
	night_title(report.title, night);
	buf_init(&report.text, REPORT_MAX);
	night_show(&report.text, night, settings);
	if (buf_end(&report.text) != ERR_OK)
		result = failed("report", err_text(buf_end(&report.text)));
	else {
		if (settings->command[0] != '\0')
			result = run_command(&report);
		if (settings->url[0] != '\0' && post(&report) != CMD_DONE)
			result = CMD_FAILED;
	}
	buf_fini(&report.text);
	return result;
}
