#include "tools/gridhud/voice/ssip.h"

#include <assert.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include "common/fs.h"

/* The socket that the user's dispatcher listens on. */
static int
dial(void)
{
	const char *address = getenv("SPEECHD_ADDRESS");
	const char *runtime = getenv("XDG_RUNTIME_DIR");
	struct sockaddr_un to = {.sun_family = AF_UNIX};
	int fd, len;

	if (address != NULL && strncmp(address, "unix_socket:", 12) == 0)
		len = snprintf(
		    to.sun_path, sizeof(to.sun_path), "%s", address + 12);
	else if (runtime != NULL)
		len = snprintf(to.sun_path, sizeof(to.sun_path),
		    "%s/speech-dispatcher/speechd.sock", runtime);
	else
		return -1;
	if (len < 0 || (size_t)len >= sizeof(to.sun_path))
		return -1;
	fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
	if (fd >= 0 &&
	    connect(fd, (const struct sockaddr *)&to, sizeof(to)) != 0) {
		close(fd);
		return -1;
	}
	return fd;
}

/* Reads lines until one begins "NNN " (with a blank); its number. */
static int
reply(FILE *in)
{
	char line[1024];

	while (fgets(line, sizeof(line), in) != NULL)
		if (strlen(line) > 4 && line[3] == ' ')
			return (int)strtol(line, NULL, 10);
	return -1;
}

static bool
ask(int fd, FILE *in, const char *line)
{
	int code;

	if (fs_write_all(fd, line, strlen(line)) != ERR_OK)
		return false;
	code = reply(in);
	return code >= 200 && code < 300;
}

/* The text's lines; one that begins with a dot is given another. */
static bool
send_text(int fd, struct span text)
{
	struct span line;

	while (span_cut(&line, &text, '\n')) {
		if (line.len > 0 && line.ptr[0] == '.' &&
		    fs_write_all(fd, ".", 1) != ERR_OK)
			return false;
		if (fs_write_all(fd, line.ptr, line.len) != ERR_OK ||
		    fs_write_all(fd, "\r\n", 2) != ERR_OK)
			return false;
	}
	return fs_write_all(fd, ".\r\n", 3) == ERR_OK;
}

/* 702 is the end, 703 that it was cancelled. */
static int
wait_for_end(FILE *in)
{
	int code;

	do
		code = reply(in);
	while (code >= 0 && code != 702 && code != 703);
	return code == 702 ? 0 : 1;
}

static int
speak(int fd, FILE *in, const struct ssip_job *job)
{
	char rate[64], language[64];
	/* speech-dispatcher counts from -100 to 100; 0 is about 170. */
	int64_t scaled = (job->rate - 170) * 100 / 200;

	if (scaled < -100)
		scaled = -100;
	if (scaled > 100)
		scaled = 100;
	snprintf(rate, sizeof(rate), "SET SELF RATE %d\r\n", (int)scaled);
	snprintf(language, sizeof(language), "SET SELF LANGUAGE %.2s\r\n",
	    job->language);
	if (!ask(fd, in, "SET SELF CLIENT_NAME user:gridhud:main\r\n") ||
	    !ask(fd, in, "SET SELF NOTIFICATION END ON\r\n") ||
	    !ask(fd, in, "SET SELF NOTIFICATION CANCEL ON\r\n"))
		return 1;
	/* A synthesiser that cannot is still one that speaks. */
	ask(fd, in, language);
	ask(fd, in, rate);
	if (fs_write_all(fd, "SPEAK\r\n", 7) != ERR_OK || reply(in) != 230 ||
	    !send_text(fd, job->text) || reply(in) != 225)
		return 1;
	return wait_for_end(in);
}

int
ssip_speak(void *arg)
{
	const struct ssip_job *job = arg;
	int fd = dial();
	FILE *in;
	int code;

	assert(job->language != NULL && job->rate > 0);
	if (fd < 0)
		return 127;
	in = fdopen(fd, "r");
	if (in == NULL) {
		close(fd);
		return 1;
	}
	code = speak(fd, in, job);
	fclose(in);
	return code;
}
