/*
 * wayland: a message is a header of two 32-bit words (the object; the length
 * and the opcode) and its arguments, in the machine's own byte order.
 */
#include "tools/gridhook/tool/wayland.h"

#include <assert.h>
#include <errno.h>
#include <poll.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include "common/date.h"
#include "common/fs.h"

#define ANSWER_MS 1500
#define HEADER 8
#define MESSAGE_MAX 65536

enum object { DISPLAY = 1, REGISTRY = 2, CALLBACK = 3 };
enum request { SYNC = 0, GET_REGISTRY = 1 };

static enum err
reach(int *fd, struct fault *fault)
{
	const char *name = getenv("WAYLAND_DISPLAY");
	const char *folder = getenv("XDG_RUNTIME_DIR");
	struct sockaddr_un address = {.sun_family = AF_UNIX};
	char path[FS_PATH_MAX] = "";

	*fd = -1;
	if (name != NULL && name[0] == '/')
		fs_path(path, "%s", name);
	else if (name != NULL && folder != NULL)
		fs_path(path, "%s/%s", folder, name);
	if (path[0] != '\0' &&
	    span_copy(
		address.sun_path, sizeof(address.sun_path), span_of(path)))
		*fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
	if (*fd >= 0 &&
	    connect(*fd, (struct sockaddr *)&address, sizeof(address)) == 0)
		return ERR_OK;
	fault_set(fault, "WAYLAND_DISPLAY",
	    "no display: the compositor \"%s\" cannot be reached",
	    name == NULL ? "" : name);
	return ERR_NOT_READY;
}

/* "Tell me all there is", and "tell me when that was all". */
static bool
ask(int fd)
{
	static const uint32_t words[] = {DISPLAY,
	    (HEADER + 4) << 16 | GET_REGISTRY, REGISTRY, DISPLAY,
	    (HEADER + 4) << 16 | SYNC, CALLBACK};

	return send(fd, words, sizeof(words), MSG_NOSIGNAL) ==
	    (ssize_t)sizeof(words);
}

/* A global: its number, then its interface's name with length and NUL. */
static void
take_global(struct buf *names, const char *message, uint32_t len)
{
	uint32_t text;

	if (len < HEADER + 8)
		return;
	memcpy(&text, message + HEADER + 4, sizeof(text));
	if (text < 2 || text > len - HEADER - 8)
		return;
	buf_add(names, message + HEADER + 8, text - 1);
	buf_add_char(names, '\n');
}

/* Takes the whole messages at the front; true at the callback's. */
static bool
take_messages(struct buf *names, struct buf *input, bool *broken)
{
	uint32_t head[2], len;
	size_t at = 0;
	bool done = false;

	while (!done && input->len - at >= HEADER) {
		memcpy(head, input->data + at, sizeof(head));
		len = head[1] >> 16;
		*broken = len < HEADER || head[0] == DISPLAY;
		if (*broken || input->len - at < len)
			break;
		if (head[0] == REGISTRY && (head[1] & 0xffff) == 0)
			take_global(names, input->data + at, len);
		done = head[0] == CALLBACK;
		at += len;
	}
	memmove(input->data, input->data + at, input->len - at);
	input->len -= at;
	return done;
}

static enum err
hear(int fd, struct buf *names)
{
	int64_t end = date_monotonic_ns() / 1000000 + ANSWER_MS, left;
	struct pollfd wait = {.fd = fd, .events = POLLIN};
	struct buf input;
	bool broken = false;
	enum err err = ERR_NOT_READY;

	buf_init(&input, 2 * MESSAGE_MAX);
	while (err == ERR_NOT_READY) {
		char *room = buf_room(&input, MESSAGE_MAX);
		ssize_t got;

		left = end - date_monotonic_ns() / 1000000;
		if (room == NULL || left <= 0 ||
		    poll(&wait, 1, (int)left) <= 0) {
			err = ERR_TIMED_OUT;
			break;
		}
		got = read(fd, room, MESSAGE_MAX);
		if (got <= 0)
			err = ERR_CLOSED;
		else {
			buf_grown(&input, (size_t)got);
			if (take_messages(names, &input, &broken))
				err = ERR_OK;
			else if (broken)
				err = ERR_BAD_INPUT;
		}
	}
	buf_fini(&input);
	return err;
}

enum err
wayland_list(struct buf *names, struct fault *fault)
{
	enum err err;
	int fd;

	assert(names != NULL);
	err = reach(&fd, fault);
	if (err == ERR_OK) {
		err = ask(fd) ? hear(fd, names) : ERR_CLOSED;
		if (err != ERR_OK)
			fault_set(fault, "WAYLAND_DISPLAY",
			    "no display: the compositor does not answer");
	}
	if (fd >= 0)
		close(fd);
	return err;
}

bool
wayland_has(struct span names, const char *interface)
{
	struct span line;

	assert(interface != NULL);
	while (names.len > 0 && span_cut(&line, &names, '\n'))
		if (span_eq(line, span_of(interface)))
			return true;
	return false;
}

bool
wayland_has_clipboard(struct span names)
{
	return wayland_has(names, "zwlr_data_control_manager_v1") ||
	    wayland_has(names, "ext_data_control_manager_v1");
}
