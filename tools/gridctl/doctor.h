/*
 * doctor: what gridctl doctor looks at outside the data directory. Each look
 * says what it found by doctor_say().
 */
#pragma once

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

/* Asks GET /readyz of the site: "http://localhost:80". */
void doctor_site(struct doctor *doctor, const char *url);

/* Looks at the services, where systemd runs. */
void doctor_services(struct doctor *doctor);

/* Limits of this process that the others are likely to have, too. */
void doctor_limits(struct doctor *doctor);

/* Looks at the age of the backups, and at the last night. */
void doctor_backups(struct doctor *doctor);
void doctor_night(struct doctor *doctor);
