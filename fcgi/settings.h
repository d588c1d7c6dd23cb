/*
 * settings: what an operator may choose for gridapi, from its INI file. The
 * table in settings.c is the whole list.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "common/conf.h"

#define SETTINGS_BUYERS_MAX 2048 /* bytes of [outside] buyers */

struct api_settings {
	/* [data] */
	char *data_dir;
	/* [pages] and [slow]: the two pools */
	char *pages_socket, *slow_socket;
	int64_t pages_processes, pages_threads, pages_backlog;
	int64_t slow_processes, slow_threads, slow_backlog;
	int64_t socket_mode; /* as in chmod, read as decimal digits: 660 */
	int64_t drain_s; /* how long requests may go on after SIGTERM */
	/* [api] */
	char *public_url; /* empty: the one the caller used */
	char *trusted_proxies; /* addresses whose X-Forwarded-* count */
	int64_t body_bytes; /* most that a body may have */
	int64_t retention_s; /* how long a replaced snapshot stays */
	int64_t scrub_s; /* between two walks through all files; 0: none */
	int64_t snapshots_open; /* most that a worker keeps open */
	/* [compute] */
	char *gridctl; /* the program that computes */
	int64_t compute_timeout_s, compute_slots, compute_waiters;
	/* [hooks] */
	bool hooks_deliver;
	int64_t hooks_give_up_s;
	char *hooks_ca; /* a file; empty: the system's */
	/* [trail] */
	int64_t trail_keep; /* months; 0: all */
	char *trail_archive; /* a folder */
	/* [session] */
	int64_t session_s;
	bool secure_cookie;
	/* [outside] */
	bool outside;
	char *outside_administrators, *outside_managers, *outside_buyers;
	char *outside_sign_in, *outside_sign_out; /* addresses, or empty */
	int64_t outside_s;
	/* [log] */
	int log_level;
};

/*
 * Checks beyond the table: ERR_BAD_INPUT and a fault for an api.public_url
 * that is no http or https address with a host and without query, or for a
 * trail.archive that is no whole path, or trail.keep without one, or for outside.accept without any
 * group or with an address that is none.
 */
enum err settings_check(
    const struct api_settings *settings, struct fault *fault);

/* A setting that does nothing without another one, for a person; NULL: none. */
const char *settings_note(const struct api_settings *settings);

/* Whether compute.gridctl can be run; what else the fault says. */
enum err settings_check_gridctl(
    const struct api_settings *settings, struct fault *fault);

extern const struct conf_row settings_rows[];
extern const size_t settings_count;
