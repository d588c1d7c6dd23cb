/* gridctl doctor: backups, and the last night. */
#include <stdlib.h>

#include "common/date.h"
#include "lmdb-schema/upkeep/backup_note.h"
#include "lmdb-schema/upkeep/night.h"
#include "tools/gridctl/doctor.h"
#include "tools/gridctl/night/chain.h"

#define HOUR_MS INT64_C(3600000)
#define BACKUP_OLD_MS (36 * HOUR_MS)
#define TEST_OLD_MS (40 * 24 * HOUR_MS)

static unsigned long long
hours(int64_t ms)
{
	return ms < 0 ? 0 : (unsigned long long)(ms / HOUR_MS);
}

static void
look_at_copies(struct doctor *doctor, const struct backup_note *note)
{
	const int64_t *at = note->ms;
	int64_t now = date_now_ms();

	if (at[BACKUP_MADE] == 0)
		doctor_say(doctor, DOCTOR_LOOK, "backup",
		    "name a [backup] folder in night.conf, or run 'gridctl "
		    "backup FOLDER'",
		    "none was made yet");
	else if (now - at[BACKUP_MADE] > BACKUP_OLD_MS)
		doctor_say(doctor, DOCTOR_LOOK, "backup",
		    "'gridctl night status', or your own backup job",
		    "the last one is %llu hours old",
		    hours(now - at[BACKUP_MADE]));
	else if (at[BACKUP_SENT] != 0 &&
	    at[BACKUP_MADE] - at[BACKUP_SENT] > BACKUP_OLD_MS)
		doctor_say(doctor, DOCTOR_LOOK, "backup",
		    "'gridctl night status': why the step send fails",
		    "none has reached the other host for %llu hours",
		    hours(now - at[BACKUP_SENT]));
	else
		doctor_say(doctor, DOCTOR_FINE, "backup", NULL,
		    "%llu hours old", hours(now - at[BACKUP_MADE]));
	/* A backup made by hand is tried by hand: no line before the first test. */
	if (at[BACKUP_TESTED] != 0 && now - at[BACKUP_TESTED] > TEST_OLD_MS)
		doctor_say(doctor, DOCTOR_LOOK, "backup",
		    "'gridctl night test-restore'; "
		    "product-grid-restore-test.timer does it each month",
		    "none was restored to try it for %llu days",
		    hours(now - at[BACKUP_TESTED]) / 24);
}

void
doctor_backups(struct doctor *doctor)
{
	struct backup_note note;
	enum err err = backup_note_read(&note, cmd_data_dir());

	if (err == ERR_OK)
		look_at_copies(doctor, &note);
	else
		doctor_say(doctor, DOCTOR_LOOK, "backup",
		    "the next backup writes it anew",
		    "backups.json of the data directory: %s", err_text(err));
}

static void
look_at_steps(struct doctor *doctor, const struct night *night)
{
	char began[DATE_TEXT_MAX];

	cmd_time(began, night->began_ms);
	if (night_failed(night))
		doctor_say(doctor, DOCTOR_LOOK, "night",
		    "'gridctl night status' says why, and what to do",
		    "a step of the one of %.16s has failed", began);
	else if (night->ended_ms != 0)
		doctor_say(doctor, DOCTOR_FINE, "night", NULL,
		    "the one of %.16s is done", began);
	else if (chain_is_running(cmd_data_dir()))
		doctor_say(doctor, DOCTOR_FINE, "night", NULL,
		    "the one of %.16s is under way", began);
	else
		doctor_say(doctor, DOCTOR_LOOK, "night",
		    "'gridctl night run' goes on with it",
		    "the one of %.16s was cut off", began);
}

void
doctor_night(struct doctor *doctor)
{
	struct night *night = NULL;
	enum err err = night_read(&night, cmd_data_dir());

	if (err == ERR_OK)
		look_at_steps(doctor, night);
	else if (err != ERR_NOT_FOUND)
		doctor_say(doctor, DOCTOR_LOOK, "night",
		    "the next night writes it anew",
		    "night.json of the data directory: %s", err_text(err));
	free(night);
}
