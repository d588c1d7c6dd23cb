/* gridctl doctor: deliveries that nothing goes on with. */
#include <assert.h>
#include <stdio.h>

#include "common/date.h"
#include "common/fs.h"
#include "tools/gridctl/doctor.h"
#include "tools/gridctl/night/inbox.h"
#include "tools/gridctl/night/settings.h"

#define HOUR_MS INT64_C(3600000)
/* A sender at work changes something; a night begins once a day. */
#define PART_OLD_MS HOUR_MS
#define COMPLETE_OLD_MS (25 * HOUR_MS)

struct look {
	struct doctor *doctor;
	const char *folder;
	unsigned told;
};

static void
look_at_part(struct look *look, const char *name, unsigned long long hours)
{
	char todo[FS_PATH_MAX + 128];

	look->told++;
	snprintf(todo, sizeof(todo),
	    "have it sent again; or, where all of it is there, 'touch "
	    "%s/%s.done'",
	    look->folder, name);
	doctor_say(look->doctor, DOCTOR_LOOK, "inbox", todo,
	    "%s came to a halt %llu hours ago: neither %s.done nor a manifest "
	    "says that it is complete",
	    name, hours, name);
}

static void
look_at_delivery(void *context, const struct inbox_waiting *waiting)
{
	struct look *look = context;
	int64_t age_ms = date_now_ms() - waiting->changed_ms;
	unsigned long long hours =
	    (unsigned long long)(age_ms < 0 ? 0 : age_ms / HOUR_MS);

	if (!waiting->complete && age_ms > PART_OLD_MS)
		look_at_part(look, waiting->name, hours);
	if (!waiting->complete || age_ms <= COMPLETE_OLD_MS)
		return;
	look->told++;
	doctor_say(look->doctor, DOCTOR_LOOK, "inbox",
	    "'gridctl night run'; product-grid-night.timer, once enabled, "
	    "does it each night",
	    "%s is complete, and has waited for %llu hours", waiting->name,
	    hours);
}

static void
look_into(struct doctor *doctor, const struct night_settings *settings)
{
	const char *folder = settings->inbox;
	struct look look = {doctor, folder, 0};
	struct inbox inbox = {.folder = folder};
	enum err err = inbox_look(&inbox, look_at_delivery, &look);

	if (err == ERR_NOT_FOUND && night_settings_has_inbox(settings))
		doctor_say(doctor, DOCTOR_LOOK, "inbox",
		    "make the folder, or mend [inbox] folder in night.conf",
		    "%s is not there: no delivery arrives", folder);
	else if (err != ERR_OK && err != ERR_NOT_FOUND)
		doctor_say(doctor, DOCTOR_LOOK, "inbox", NULL, "%s: %s", folder,
		    err_text(err));
	else if (err == ERR_OK && look.told == 0)
		doctor_say(doctor, DOCTOR_FINE, "inbox", NULL,
		    "nothing is left in it");
}

static void
tell_twice(void *context, const char *text)
{
	doctor_say(context, DOCTOR_FINE, "night", NULL, "%s", text);
}

void
doctor_inbox(struct doctor *doctor, const char *path)
{
	const struct conf_row *rows = night_settings_rows;
	struct night_settings settings = {.inbox = NULL};
	struct fault fault;
	enum err err;

	assert(doctor != NULL);
	fault_clear(&fault);
	err = conf_defaults(&settings, rows, night_settings_count, &fault);
	if (err == ERR_OK)
		err = conf_read_telling(&settings, rows, night_settings_count,
		    path == NULL ? GRID_NIGHT_CONF : path, tell_twice, doctor,
		    &fault);
	if (err == ERR_OK || (err == ERR_NOT_FOUND && path == NULL))
		look_into(doctor, &settings);
	else
		doctor_say(doctor, DOCTOR_WRONG, "night",
		    "no night runs until it can be read", "%s: %s", fault.place,
		    fault.message);
	conf_fini(&settings, rows, night_settings_count);
}
