/*
 * sending: a push from this machine, as gridhook's own commands make it.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "common/jsonw.h"
#include "common/opt.h"
#include "common/span.h"
#include "tools/gridhook/settings.h"

/* Where to; both texts may be NULL. */
struct sending {
	const char *url; /* else GRIDHOOK_URL, else as the settings say */
	const char *secret_file; /* else the secret of the settings */
	int64_t timeout_s;
};

/* Rows of a command whose values have a struct sending at this offset. */
#define SENDING_OPTIONS(offset, timeout_help) \
	{"--url", 0, OPT_TEXT, (offset) + offsetof(struct sending, url), 0, 0, \
	    "URL", \
	    "where to (default: GRIDHOOK_URL, else the push path of the " \
	    "settings on this machine)"}, \
	    {"--secret-file", 0, OPT_TEXT, \
		(offset) + offsetof(struct sending, secret_file), 0, 0, \
		"FILE", "the secret (default: as the settings have it)"}, \
	{ \
		"--timeout", 0, OPT_SECONDS, \
		    (offset) + offsetof(struct sending, timeout_s), 1, 600, \
		    "TIME", (timeout_help) \
	}

/*
 * Begins the body of a push: an object with its "source", by default the name of
 * this machine. Ends it with "host" and "time".
 */
void sending_begin(struct jsonw *json, struct buf *body, const char *source);
enum err sending_end(struct jsonw *json);

/* False after a line on standard error that begins with `who`. */
bool sending_post(const struct sending *to, struct hook_settings *settings,
    struct span body, const char *who);
