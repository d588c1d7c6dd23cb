/*
 * chain: a night's steps, one after the other, each in a process of its own and
 * each safe to be done again:
 *
 *	take, check, import    for each complete delivery of the inbox
 *	compute, index, pack   what the imports have changed
 *	export, backup, send, prune
 *	report
 *
 * night.json is written before and after each step, so that a chain that was
 * cut off goes on with the step that it was at. A delivery whose step fails is
 * set aside; the steps behind the imports run in any case.
 */
#pragma once

#include <stdbool.h>

#include "common/err.h"
#include "lmdb-schema/upkeep/night.h"
#include "tools/gridctl/night/settings.h"

struct chain_options {
	const char *data_dir;
	const struct night_settings *settings;
	bool yes; /* import what looks like a mistake */
};

/*
 * Runs a night, or the rest of one. *out, the caller's to free, tells of it
 * also where the run ends early. ERR_BUSY: another process runs one.
 */
enum err chain_run(struct night **out, const struct chain_options *options);

/* Whether a process runs a night at present. */
bool chain_is_running(const char *data_dir);

/* Keeps nights from running until *lock is closed. ERR_BUSY: one runs. */
enum err chain_hold(int *lock, const char *data_dir);
