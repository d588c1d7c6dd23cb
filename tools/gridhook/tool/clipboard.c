/*
 * clipboard_get and clipboard_set. Under X the clipboard lives in the program
 * that owns it, so clipboard_set leaves a process of ours behind, which ends
 * when another program takes the clipboard. Under Wayland wl-clipboard's
 * programs do the same.
 *
 * The contents of the clipboard go into no log and no argument vector.
 */
#include "common/members.h"
#include "tools/gridhook/tool/tool.h"

#include <assert.h>
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <unistd.h>

#include "common/utf8.h"
#include "tools/gridhook/tool/child.h"
#include "tools/gridhook/tool/session.h"
#include "tools/gridhook/tool/wayland.h"
#include "tools/gridhook/tool/x11.h"

#define TEXT_MAX (1024 * 1024)
#define PEER_MS 2000

static enum err
no_program(const char *name, struct fault *fault)
{
	fault_set(fault, name,
	    "not found: program %s, which the package wl-clipboard has", name);
	return ERR_NOT_READY;
}

/* --- get ------------------------------------------------------------------ */

static enum err
get_x11(struct buf *text, bool *cut, struct fault *fault)
{
	struct x11 *x11;
	enum err err;

	err = x11_open(&x11, fault);
	if (err == ERR_OK)
		err = x11_selection_read(x11, text, cut, PEER_MS, fault);
	x11_close(x11);
	return err;
}

/* A compositor that is there and has no clipboard for such as us. */
static bool
lacks_clipboard(struct fault *fault)
{
	struct buf names;
	bool lacks = false;

	buf_init(&names, WAYLAND_NAMES_MAX);
	if (wayland_list(&names, fault) == ERR_OK &&
	    !wayland_has_clipboard(buf_span(&names))) {
		lacks = true;
		fault_clear(fault);
		fault_set(fault, "clipboard",
		    "not supported: this compositor does not "
		    "offer " WAYLAND_CLIPBOARD
		    ", without which only a program whose window has the "
		    "focus meets the clipboard");
	}
	buf_fini(&names);
	return lacks;
}

static enum err
get_wayland(struct buf *text, bool *cut, struct fault *fault)
{
	static const char *const argv[] = {
	    "wl-paste", "-n", "-t", "text/plain;charset=utf-8", NULL};
	struct child_spec spec = {.argv = argv, .timeout_ms = PEER_MS};
	int status;
	enum err err;

	if (!session_has_program(argv[0]))
		return no_program(argv[0], fault);
	err = child_run(&spec, text, &status, fault);
	*cut = err == ERR_TOO_LARGE;
	if (*cut || (err == ERR_OK && status == 0))
		return ERR_OK;
	if (err != ERR_OK && err != ERR_TIMED_OUT)
		return err;
	/*
	 * wl-paste ends with 1 for an empty clipboard, for one without text, and
	 * where it cannot know.
	 */
	fault_clear(fault);
	if (lacks_clipboard(fault) || fault_is_set(fault))
		return ERR_NOT_READY;
	if (err == ERR_OK)
		return ERR_NOT_FOUND;
	fault_set(fault, "wl-paste",
	    "timed out after %d ms: wl-paste got nothing", PEER_MS);
	return err;
}

/* A cut may have gone through a character: not half of one. */
static void
trim_character(struct buf *text)
{
	for (size_t tries = 0;
	     tries < 3 && text->len > 0 && !utf8_is_valid(buf_span(text));
	     tries++)
		text->len--;
}

static void
tell_text(struct answer *answer, struct span text, bool has_text, bool cut)
{
	struct jsonw *object = answer_object_begin(answer);

	members_text(object, "text", text);
	members_bool(object, "has_text", has_text);
	members_bool(object, "truncated", cut);
	answer_object_end(answer);
}

enum err
clipboard_get(
    const struct tool_call *call, struct answer *answer, struct fault *fault)
{
	enum session_kind kind = session_find(call->settings);
	bool cut = false;
	struct fault quiet;
	struct buf text;
	enum err err;

	assert(call->settings != NULL && answer != NULL);
	if (kind == SESSION_NONE)
		return session_none(fault);
	fault_clear(&quiet);
	buf_init(&text, TEXT_MAX);
	err = kind == SESSION_X11 ? get_x11(&text, &cut, &quiet)
				  : get_wayland(&text, &cut, &quiet);
	/* An empty clipboard is an answer; a missing program is none. */
	if (cut)
		trim_character(&text);
	if (err == ERR_OK)
		tell_text(answer, buf_span(&text), true, cut);
	else if (err == ERR_NOT_FOUND) {
		tell_text(answer, SPAN(""), false, false);
		err = ERR_OK;
	} else
		*fault = quiet;
	buf_fini(&text);
	return err;
}

/* --- set ------------------------------------------------------------------ */

/* The report of the owner to the process that started it. */
struct word {
	enum err err;
	struct fault fault;
};

/*
 * In a process of its own: nobody's child soon, in no group that is killed
 * when we are late, with no descriptor of the caller's but the owner's pipe.
 */
static void
detach(int *tell, int *life_fd)
{
	int null = open("/dev/null", O_RDWR);
	/* Out of the way first: either may stand where the other one goes. */
	int tell_copy = fcntl(*tell, F_DUPFD, 16);
	int life_copy = *life_fd < 0 ? -1 : fcntl(*life_fd, F_DUPFD, 16);

	setsid();
	signal(SIGALRM, SIG_DFL);
	dup2(null, STDIN_FILENO);
	dup2(null, STDOUT_FILENO);
	dup2(null, STDERR_FILENO);
	/* These two stand in front, and all behind them is closed. */
	*tell = dup2(tell_copy, 3);
	if (life_copy >= 0)
		*life_fd = dup2(life_copy, 4);
	close_range(life_copy >= 0 ? 5 : 4, ~0u, 0);
}

static void __attribute__((noreturn))
be_owner(struct span text, int tell, int life_fd)
{
	struct word word = {.err = ERR_OK};
	struct x11 *x11 = NULL;

	detach(&tell, &life_fd);
	word.err = x11_open(&x11, &word.fault);
	if (word.err == ERR_OK)
		word.err = x11_selection_own(x11, &word.fault);
	if (write(tell, &word, sizeof(word)) != (ssize_t)sizeof(word))
		_exit(EXIT_FAILURE);
	close(tell);
	if (word.err == ERR_OK)
		x11_selection_serve(x11, text, life_fd);
	x11_close(x11);
	_exit(EXIT_SUCCESS);
}

/* The owner's word; it is small enough to come in one piece. */
static enum err
hear(int fd, pid_t owner, struct fault *fault)
{
	struct pollfd wait = {.fd = fd, .events = POLLIN};
	struct word word;
	int ready;

	do
		ready = poll(&wait, 1, PEER_MS);
	while (ready < 0 && errno == EINTR);
	if (ready > 0 &&
	    read(fd, &word, sizeof(word)) == (ssize_t)sizeof(word)) {
		if (word.err != ERR_OK)
			*fault = word.fault;
		return word.err;
	}
	kill(owner, SIGKILL);
	fault_set(fault, "clipboard",
	    "timed out after %d ms: the X server does not answer", PEER_MS);
	return ERR_TIMED_OUT;
}

static enum err
set_x11(struct span text, int life_fd, struct fault *fault)
{
	int ends[2] = {-1, -1};
	pid_t owner;
	enum err err;

	if (pipe2(ends, O_CLOEXEC) != 0)
		return err_from_errno(errno);
	owner = fork();
	if (owner == 0)
		be_owner(text, ends[1], life_fd);
	err = owner < 0 ? err_from_errno(errno) : ERR_OK;
	close(ends[1]);
	if (err == ERR_OK)
		err = hear(ends[0], owner, fault);
	close(ends[0]);
	return err;
}

static enum err
clear_x11(struct fault *fault)
{
	struct x11 *x11;
	enum err err;

	err = x11_open(&x11, fault);
	if (err == ERR_OK)
		err = x11_selection_clear(x11, fault);
	x11_close(x11);
	return err;
}

/* wl-copy goes to the background by itself once it has the clipboard. */
static enum err
set_wayland(struct span text, struct fault *fault)
{
	const char *argv[] = {
	    "wl-copy", "-t", "text/plain;charset=utf-8", NULL};
	const char *clear[] = {"wl-copy", "--clear", NULL};
	struct child_spec spec = {.argv = text.len > 0 ? argv : clear,
	    .input = text,
	    .timeout_ms = PEER_MS,
	    .own_session = true};
	int status;
	enum err err;

	if (!session_has_program(argv[0]))
		return no_program(argv[0], fault);
	/* Without it wl-copy says yes, and may hold nothing. */
	if (lacks_clipboard(fault))
		return ERR_NOT_READY;
	fault_clear(fault);
	err = child_run(&spec, NULL, &status, fault);
	if (err == ERR_OK && status != 0) {
		fault_set(fault, "wl-copy",
		    "the desktop refused: wl-copy ended with status %d",
		    status);
		err = ERR_DENIED;
	}
	return err;
}

enum err
clipboard_set(
    const struct tool_call *call, struct answer *answer, struct fault *fault)
{
	enum session_kind kind;
	int life_fd;
	struct span text;
	enum err err;

	assert(call->settings != NULL && answer != NULL);
	kind = session_find(call->settings);
	life_fd = (int)call->settings->life_fd;
	if (!call_text(call, &text, "text", NULL, TEXT_MAX, fault))
		return ERR_BAD_INPUT;
	if (kind == SESSION_NONE)
		return session_none(fault);
	if (kind == SESSION_WAYLAND)
		err = set_wayland(text, fault);
	else if (text.len == 0)
		err = clear_x11(fault);
	else
		err = set_x11(text, life_fd, fault);
	if (err == ERR_OK)
		answer_text(answer,
		    text.len > 0 ? "The text is on the clipboard."
				 : "The clipboard is empty.");
	return err;
}
