/*
 * doctor: what gridctl doctor looks at, most of it outside the data directory. Each
 * look says what it found by doctor_say().
 */
#pragma once

#include <stdbool.h>
#include <stdio.h>

#include "common/span.h"
#include "tools/gridctl/cmd.h"

enum doctor_level {
	DOCTOR_FINE,
	DOCTOR_LOOK, /* works, but deserves a look */
	DOCTOR_WRONG
};

struct doctor {
	struct cmd_list list;
	unsigned counts[3]; /* by level */
};

/* `todo` is NULL where there is nothing to do. */
void doctor_say(struct doctor *doctor, enum doctor_level level,
    const char *about, const char *todo, const char *format, ...)
    __attribute__((format(printf, 5, 6)));

/*
 * Asks GET /readyz of the site: "http://localhost:80". Without a URL, of what
 * nginx's `file` listens on. An answer for other data than those in the folder
 * `data` is of another gridapi.
 */
void doctor_site(
    struct doctor *doctor, const char *url, const char *file, const char *data);

/* Says until when a site's certificate counts, as curl's "%{certs}" has it. */
void doctor_certificate(struct doctor *doctor, FILE *file);

/*
 * Looks at the log that the nodes share, at the nodes, and at what this one lacks of
 * what others have imported and computed. Nothing of a machine on its own.
 */
struct store;
void doctor_nodes(struct doctor *doctor, struct store *store);

/* Mends a cluster.conf that is not right, or a file that it names. */
#define DOCTOR_MEND_CLUSTER \
	"correct that: docs/cluster.md, \"cluster.conf\"; then start this " \
	"node's gridapi anew"

struct doctor_nginx; /* files of nginx that a node of a cluster needs */

/*
 * Reads them, with root's permission where there is it: the site, and the file that
 * it includes for the nodes. NULL where no memory is left.
 */
struct doctor_nginx *doctor_nginx_read(const char *site);

/*
 * Says whether nginx has what gridctl cluster nginx prints, and the site what a node
 * needs, and frees `nginx`. Nothing of a machine on its own.
 */
void doctor_nginx(
    struct doctor *doctor, struct doctor_nginx *nginx, const char *data);

#define DOCTOR_ADDRESS_MAX 320

/*
 * "https://grid.example:443" and the host to connect to, of nginx's site; false
 * where the file cannot be read or has no listen that can be asked.
 */
bool doctor_listens(char url[DOCTOR_ADDRESS_MAX], char host[DOCTOR_ADDRESS_MAX],
    const char *file);

struct timex;

/*
 * Says whether a time server keeps the clock: `kernel` is what adjtimex(2) put
 * there, `state` what it returned, with its errno.
 */
void doctor_clock(struct doctor *doctor, int state, const struct timex *kernel);

/* Looks at the services, where systemd runs. */
void doctor_services(struct doctor *doctor);

/* Limits of this process that the others are likely to have, too. */
void doctor_limits(struct doctor *doctor);

struct store;

/*
 * Looks whether each file of the audit trail is here or in an archive; of its
 * bytes the head alone is read.
 */
void doctor_trail(struct doctor *doctor, struct store *store);

/* Looks at the age of the backups, and at the last night. */
void doctor_backups(struct doctor *doctor);
void doctor_night(struct doctor *doctor);

/*
 * Looks for deliveries that came in part, or wait for more than a day. `path` is
 * the night's settings; NULL: those of the machine.
 */
void doctor_inbox(struct doctor *doctor, const char *path);
