/*
 * sending: a push from this machine, as gridhook's own commands make it.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "common/span.h"
#include "tools/gridhook/settings.h"

/* Where to; both texts may be NULL. */
struct sending {
	const char *url; /* else GRIDHOOK_URL, else as the settings say */
	const char *secret_file; /* else the secret of the settings */
	int64_t timeout_s;
};

/* False after a line on standard error that begins with `who`. */
bool sending_post(const struct sending *to, struct settings *settings,
    struct span body, const char *who);
