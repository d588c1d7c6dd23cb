#include "fcgi/settings.h"

#include <assert.h>
#include <stddef.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "common/span.h"

#ifndef GRID_DATA_DIR
#define GRID_DATA_DIR "/var/lib/product-grid"
#endif
#ifndef GRID_RUN_DIR
#define GRID_RUN_DIR "/run/product-grid"
#endif
#ifndef GRID_BIN_DIR
#define GRID_BIN_DIR "/usr/local/bin"
#endif

static const char *const levels[] = {"error", "warn", "info", "debug", NULL};

#define AT(member) offsetof(struct api_settings, member)

const struct conf_row settings_rows[] = {
    {"data", "dir", CONF_TEXT, AT(data_dir), GRID_DATA_DIR, 0, 0, NULL,
	"the data directory that gridctl works on"},
    {"pages", "socket", CONF_TEXT, AT(pages_socket), GRID_RUN_DIR "/pages.sock",
	0, 0, NULL, "where nginx finds the pool for pages"},
    {"pages", "processes", CONF_INT, AT(pages_processes), "2", 1, 256, NULL,
	"worker processes; one a processor"},
    {"pages", "threads", CONF_INT, AT(pages_threads), "8", 1, 256, NULL,
	"requests at once in each"},
    {"pages", "backlog", CONF_INT, AT(pages_backlog), "1024", 1, 65535, NULL,
	"requests that may queue"},
    {"pages", "socket_mode", CONF_INT, AT(socket_mode), "660", 0, 777, NULL,
	"permissions of both sockets"},
    {"pages", "drain", CONF_SECONDS, AT(drain_s), "30", 0, 3600, NULL,
	"how long requests under way may go on when gridapi is to end"},
    {"slow", "socket", CONF_TEXT, AT(slow_socket), GRID_RUN_DIR "/slow.sock", 0,
	0, NULL, "where nginx finds the pool for what takes seconds"},
    {"slow", "processes", CONF_INT, AT(slow_processes), "1", 1, 64, NULL,
	"worker processes"},
    {"slow", "threads", CONF_INT, AT(slow_threads), "16", 1, 256, NULL,
	"requests at once in each"},
    {"slow", "backlog", CONF_INT, AT(slow_backlog), "64", 1, 65535, NULL,
	"requests that may queue; more are told to come back"},
    {"api", "public_url", CONF_TEXT, AT(public_url), "", 0, 0, NULL,
	"the address callers use, without /api/v1; empty: the one they used"},
    {"api", "trusted_proxies", CONF_TEXT, AT(trusted_proxies), "", 0, 0, NULL,
	"addresses whose X-Forwarded-Host and -Proto count, by commas"},
    {"api", "body_max", CONF_SIZE, AT(body_bytes), "8M", 1024, 1 << 30, NULL,
	"most that a request's body may have"},
    {"api", "retention", CONF_SECONDS, AT(retention_s), "15m", 0, 31536000,
	NULL, "how long a replaced snapshot stays for those who page"},
    {"api", "scrub", CONF_SECONDS, AT(scrub_s), "24h", 0, 31536000, NULL,
	"how often all published files are compared with their checksums; 0: "
	"never"},
    {"api", "snapshots_open", CONF_INT, AT(snapshots_open), "2048", 1, 65536,
	NULL, "most snapshots that a worker keeps open"},
    {"compute", "gridctl", CONF_TEXT, AT(gridctl), GRID_BIN_DIR "/gridctl", 0,
	0, NULL, "the program that computes a supplier"},
    {"compute", "timeout", CONF_SECONDS, AT(compute_timeout_s), "300", 1, 3600,
	NULL, "how long one computation may take"},
    {"compute", "slots", CONF_INT, AT(compute_slots), "4", 1, 256, NULL,
	"computations at once, over all processes"},
    {"compute", "waiters", CONF_INT, AT(compute_waiters), "12", 1, 256, NULL,
	"requests that may wait for computations in one worker"},
    {"hooks", "deliver", CONF_BOOL, AT(hooks_deliver), "yes", 0, 0, NULL,
	"start the process that sends to hooks (gridctl hook)"},
    {"hooks", "give_up", CONF_SECONDS, AT(hooks_give_up_s), "24h", 1, 2592000,
	NULL, "how long an event is tried"},
    {"hooks", "ca", CONF_TEXT, AT(hooks_ca), "", 0, 0, NULL,
	"certificates that receivers' are checked with; empty: the system's"},
    {"trail", "keep", CONF_INT, AT(trail_keep), "0", 0, 1200, NULL,
	"months of the trail that stay, beside the present one; 0: all"},
    {"trail", "archive", CONF_TEXT, AT(trail_archive), "", 0, 0, NULL,
	"the folder that older months are taken to"},
    {"session", "lifetime", CONF_SECONDS, AT(session_s), "12h", 1, 31536000,
	NULL, "how long a session lasts after its last use"},
    {"session", "secure_cookie", CONF_BOOL, AT(secure_cookie), "no", 0, 0, NULL,
	"mark cookies Secure also when nginx was not reached by TLS"},
    {"outside", "accept", CONF_BOOL, AT(outside), "no", 0, 0, NULL,
	"let in whom nginx names as the organisation's server told it"},
    {"outside", "administrators", CONF_TEXT, AT(outside_administrators), "", 0,
	0, NULL, "groups of administrators, by commas"},
    {"outside", "managers", CONF_TEXT, AT(outside_managers), "", 0, 0, NULL,
	"groups of managers, by commas"},
    {"outside", "buyers", CONF_TEXT, AT(outside_buyers), "", 0, 0, NULL,
	"groups of buyers, by commas: GROUP for all suppliers, GROUP=CODE CODE "
	"for some"},
    {"outside", "sign_in", CONF_TEXT, AT(outside_sign_in), "/oauth2/start?rd=/",
	0, 0, NULL, "where a person signs in, for the page's button"},
    {"outside", "sign_out", CONF_TEXT, AT(outside_sign_out),
	"/oauth2/sign_out?rd=/", 0, 0, NULL,
	"where a person signs out; empty: nowhere but here"},
    {"outside", "confirm", CONF_SECONDS, AT(outside_s), "1h", 1, 31536000, NULL,
	"after how long the organisation's server is asked again"},
    {"log", "level", CONF_CHOICE, AT(log_level), "info", 0, 0, levels,
	"error, warn, info or debug"},
};

const size_t settings_count = sizeof(settings_rows) / sizeof(settings_rows[0]);

/* --- what the table cannot say -------------------------------------------- */

static bool
only_has(struct span text, const char *good)
{
	for (size_t i = 0; i < text.len; i++)
		if (text.ptr[i] == '\0' || strchr(good, text.ptr[i]) == NULL)
			return false;
	return true;
}

#define LETTERS \
	"abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789.-_"

static bool
is_public_url(struct span url)
{
	static const struct span schemes[] = {{"https://", 8}, {"http://", 7}};
	struct span rest = {NULL, 0}, host;

	for (unsigned i = 0; i < 2; i++)
		if (span_starts(url, schemes[i]))
			rest = span_from(url, schemes[i].len);
	host = span_sub(rest, 0, span_find(rest, '/'));
	return host.len > 0 && host.ptr[0] != ':' &&
	    only_has(host, LETTERS "[:]") &&
	    only_has(span_from(rest, host.len), LETTERS "/~%");
}

/* 660 and the like: digits as chmod has them, none beyond 7. */
static bool
is_mode(int64_t digits)
{
	return digits / 100 < 8 && digits / 10 % 10 < 8 && digits % 10 < 8;
}

/* A path of the site, or an address elsewhere. */
static bool
is_place(struct span text)
{
	bool path = span_starts(text, SPAN("/")) &&
	    !span_starts(text, SPAN("//")) && !span_starts(text, SPAN("/\\"));

	for (size_t i = 0; i < text.len; i++)
		if ((unsigned char)text.ptr[i] <= ' ' || text.ptr[i] == 0x7f)
			return false;
	return path || span_starts(text, SPAN("https://")) ||
	    span_starts(text, SPAN("http://"));
}

static enum err
check_outside(const struct api_settings *settings, struct fault *fault)
{
	const char *sign_in = settings->outside_sign_in;
	const char *sign_out = settings->outside_sign_out;

	if (!settings->outside)
		return ERR_OK;
	if (settings->outside_administrators[0] == '\0' &&
	    settings->outside_managers[0] == '\0' &&
	    settings->outside_buyers[0] == '\0') {
		fault_set(fault, "[outside] accept",
		    "lets nobody in: name groups in administrators, managers "
		    "or buyers of [outside]");
		return ERR_BAD_INPUT;
	}
	if (strlen(settings->outside_buyers) > SETTINGS_BUYERS_MAX) {
		fault_set(fault, "[outside] buyers",
		    "has %zu bytes, %d are the most",
		    strlen(settings->outside_buyers), SETTINGS_BUYERS_MAX);
		return ERR_BAD_INPUT;
	}
	if (!is_place(span_of(sign_in)) ||
	    (sign_out[0] != '\0' && !is_place(span_of(sign_out)))) {
		fault_set(fault, "[outside] sign_in, sign_out",
		    "must each be a path such as /oauth2/start?rd=/ or an "
		    "address that begins with https://: \"%s\", \"%s\"",
		    sign_in, sign_out);
		return ERR_BAD_INPUT;
	}
	return ERR_OK;
}

enum err
settings_check(const struct api_settings *settings, struct fault *fault)
{
	struct span url = span_of(settings->public_url);

	assert(settings->public_url != NULL);
	if (!is_mode(settings->socket_mode)) {
		fault_set(fault, "[pages] socket_mode",
		    "is no mode such as 660 (three digits from 0 to 7): %lld",
		    (long long)settings->socket_mode);
		return ERR_BAD_INPUT;
	}
	if (settings->trail_archive[0] != '/' &&
	    (settings->trail_keep > 0 || settings->trail_archive[0] != '\0')) {
		fault_set(fault, "[trail] archive",
		    "is no whole path of a folder, such as "
		    "/srv/archive/grid-trail, which [trail] keep needs: \"%s\"",
		    settings->trail_archive);
		return ERR_BAD_INPUT;
	}
	if (url.len == 0 || is_public_url(url))
		return check_outside(settings, fault);
	fault_set(fault, "[api] public_url",
	    "is no address such as https://grid.example.net (http:// or "
	    "https://, a host, no query): \"%s\"; empty is the one that "
	    "callers use",
	    settings->public_url);
	return ERR_BAD_INPUT;
}

const char *
settings_note(const struct api_settings *settings)
{
	return settings->trail_archive[0] != '\0' && settings->trail_keep == 0
	    ? "[trail] archive is set, and [trail] keep is 0: no month is "
	      "taken there; set keep to the months that stay here"
	    : NULL;
}

enum err
settings_check_gridctl(const struct api_settings *settings, struct fault *fault)
{
	struct stat found;
	const char *why = NULL;

	assert(settings->gridctl != NULL);
	if (stat(settings->gridctl, &found) != 0)
		why = "is not there, or cannot be reached";
	else if (!S_ISREG(found.st_mode))
		why = "is no file";
	else if (access(settings->gridctl, X_OK) != 0)
		why = "may not be executed";
	if (why == NULL)
		return ERR_OK;
	fault_set(fault, "[compute] gridctl",
	    "%s: \"%s\"; no supplier could be computed on demand: set it to "
	    "the path that 'command -v gridctl' prints",
	    why, settings->gridctl);
	return ERR_BAD_INPUT;
}
