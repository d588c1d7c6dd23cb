/* open_url: held against the rules, then given to the desktop. */
#include "tools/gridhook/tool/tool.h"

#include <stdlib.h>

#include "tools/gridhook/tool/child.h"
#include "tools/gridhook/tool/portal.h"
#include "tools/gridhook/tool/session.h"
#include "tools/gridhook/tool/urlrule.h"

#define OPENER_WATCH_MS 3000
#define PORTAL_MS 3000

/* One that is still running has got hold of a browser. */
static enum err
run_opener(const char *const *argv, struct fault *fault)
{
	int status;
	enum err err;

	err = child_start(argv, OPENER_WATCH_MS, &status, fault);
	if (err != ERR_OK || status == CHILD_RUNNING || status == 0)
		return err;
	fault_set(fault, argv[0],
	    "the desktop refused: %s ended with status %d (is a browser "
	    "installed and set as the default?)",
	    argv[0], status);
	return ERR_DENIED;
}

static enum err
open_by_program(const char *url, struct fault *fault)
{
	const char *xdg[] = {"xdg-open", url, NULL};
	const char *gio[] = {"gio", "open", url, NULL};

	if (session_has_program("xdg-open"))
		return run_opener(xdg, fault);
	if (session_has_program("gio"))
		return run_opener(gio, fault);
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
		answer_text(answer, "Opened by the desktop portal.");
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
	err = open_by_program(url, fault);
	if (err == ERR_OK)
		answer_text(answer, "Opened in the default program.");
	return err;
}

enum err
open_url(const struct call *call, struct answer *answer, struct fault *fault)
{
	struct buf checked;
	struct span url;
	char *text = NULL;
	enum err err;

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
