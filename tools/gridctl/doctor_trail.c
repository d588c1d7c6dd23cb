#include "lmdb-schema/state/trail_look.h"
#include "lmdb-schema/state/trail_lost.h"
#include "tools/gridctl/doctor.h"

struct looking {
	struct doctor *doctor;
	const struct store *store;
	uint64_t files[TRAIL_UNREADABLE + 1]; /* by place */
};

static enum err
look_at(void *context, const struct trail_stretch *stretch)
{
	struct looking *looking = context;
	struct trail_lost lost;

	looking->files[stretch->place] += stretch->files;
	if (stretch->place < TRAIL_LOST)
		return ERR_OK;
	trail_lost(&lost, looking->store, &stretch->row, stretch->err);
	doctor_say(looking->doctor, DOCTOR_WRONG, "trail", lost.todo, "%s: %s",
	    lost.path, lost.what);
	return ERR_OK;
}

void
doctor_trail(struct doctor *doctor, struct store *store)
{
	struct looking looking = {.doctor = doctor, .store = store};
	enum err err = trail_look(store, look_at, &looking);

	if (err != ERR_OK)
		doctor_say(doctor, DOCTOR_WRONG, "trail",
		    "'gridctl check' says what is damaged",
		    "the files of the audit trail are not known: %s",
		    err_text(err));
	else if (looking.files[TRAIL_LOST] + looking.files[TRAIL_UNREADABLE] ==
	    0)
		doctor_say(doctor, DOCTOR_FINE, "trail", NULL,
		    "files of earlier months here: %s, in an archive: %s",
		    cmd_count(looking.files[TRAIL_HERE]),
		    cmd_count(looking.files[TRAIL_ARCHIVED]));
}
