/* open_url: held against the rules, then given to the desktop. */
#include "tools/gridhook/tool/tool.h"

#include <assert.h>
#include <stdio.h>
#include <stdlib.h>

#include "tools/gridhook/tool/child.h"
#include "tools/gridhook/tool/portal.h"
#include "tools/gridhook/tool/session.h"
#include "tools/gridhook/tool/urlrule.h"

#define OPENER_WATCH_MS 3000
/* xdg-open tries one program after the other before it gives a mail up. */
#define MAIL_WATCH_MS 9000
#define PORTAL_MS 3000

/*
 * An opener that has ended well has handed the address on; one that still runs
 * may be the browser itself, or may fail later: the answer says which is known.
 */
static enum err
run_opener(const char *const *argv, int watch_ms, struct answer *answer,
    struct fault *fault)
{
	char text[200];
	int status;
	enum err err;

	err = child_start(argv, watch_ms, &status, fault);
	if (err != ERR_OK)
		return err;
	if (status == 0)
		snprintf(text, sizeof(text),
		    "%s handed it to the default program.", argv[0]);
	else
		snprintf(text, sizeof(text),
		    "%s was started and is still at work after %d s: whether "
		    "it opened is not known.",
		    argv[0], watch_ms / 1000);
	if (status == 0 || status == CHILD_RUNNING) {
		answer_text(answer, "%s", text);
		return ERR_OK;
	}
	fault_set(fault, argv[0],
	    "the desktop refused: %s ended with status %d (is a program for "
	    "such addresses installed and set as the default?)",
	    argv[0], status);
	return ERR_DENIED;
}

static enum err
open_by_program(const char *url, struct answer *answer, struct fault *fault)
{
	const char *xdg[] = {"xdg-open", url, NULL};
	const char *gio[] = {"gio", "open", url, NULL};
	bool is_mail =
	    span_eq_nocase(span_sub(span_of(url), 0, 7), SPAN("mailto:"));
	int watch_ms = is_mail ? MAIL_WATCH_MS : OPENER_WATCH_MS;

	if (session_has_program("xdg-open"))
		return run_opener(xdg, watch_ms, answer, fault);
	if (session_has_program("gio"))
		return run_opener(gio, watch_ms, answer, fault);
	fault_set(fault, "open_url",
	    "not found: neither a desktop portal nor xdg-open nor gio is "
	    "here; the package xdg-utils has one");
	return ERR_NOT_FOUND;
}

static enum err
open_checked(const char *url, struct answer *answer, struct fault *fault)
{
	struct fault portal;
	enum err err;

	fault_clear(&portal);
	err = portal_open_url(url, PORTAL_MS, &portal);
	if (err == ERR_OK) {
		answer_text(answer, "The desktop portal has taken it.");
		return ERR_OK;
	}
	if (err == ERR_TIMED_OUT) {
		answer_text(answer,
		    "The desktop portal was asked to open it and has not "
		    "answered yet: it may be asking the person which program "
		    "to use.");
		return ERR_OK;
	}
	/* A no is a no: it is not tried again behind the person's back. */
	if (err == ERR_DENIED) {
		*fault = portal;
		return err;
	}
	return open_by_program(url, answer, fault);
}

enum err
open_url(
    const struct tool_call *call, struct answer *answer, struct fault *fault)
{
	struct buf checked;
	struct span url;
	char *text = NULL;
	enum err err;

	assert(call->settings != NULL && answer != NULL);
	if (!call_text(call, &url, "url", NULL, URL_MAX, fault))
		return ERR_BAD_INPUT;
	buf_init(&checked, URL_MAX + 1);
	err = urlrule_check(&checked, url, call->settings->url_schemes, fault);
	if (err == ERR_OK) {
		text = buf_take(&checked, NULL);
		err = text == NULL ? ERR_NO_MEMORY : ERR_OK;
	}
	if (err == ERR_OK && session_find(call->settings) == SESSION_NONE)
		err = session_none(fault);
	if (err == ERR_OK)
		err = open_checked(text, answer, fault);
	buf_fini(&checked);
	free(text);
	return err;
}
