#include "lmdb-schema/state/trail_lost.h"

#include <stdio.h>

#include "common/log.h"
#include "common/seldom.h"

/* A file that is copied over itself is cut while it is read. */
#define BACK "as a new file by 'cp -p', which keeps its owner, and rename it"

static const char *
remedy_of(const struct trail_parts_row *row, enum err err)
{
	if (err == ERR_DENIED)
		return "give it to the data directory's owner, by chown and "
		       "chmod 640";
	if (err == ERR_VERSION)
		return "run the version that wrote it; or, where none did, "
		       "copy "
		       "the file back from a backup or the archive " BACK;
	return row->away
	    ? "the month is in the archive: copy the file from there again, or "
	      "from a backup that has it, " BACK ", or remove it here"
	    : "copy the file back from a backup, or from the archive of "
	      "gridapi's setting [trail] archive where that has it, " BACK;
}

static const char *
reason_of(const char *path, enum err err)
{
	uint64_t bytes, on_disk;
	enum err found;

	if (err != ERR_DAMAGED)
		return err_text(err);
	found = fs_size(path, &bytes, &on_disk);
	if (found == ERR_NOT_FOUND)
		return "the file is missing";
	return found == ERR_OK && bytes == 0 ? "the file is empty"
					     : err_text(err);
}

void
trail_month_text(char text[DATE_TEXT_MAX], uint32_t month)
{
	if (date_month_dashed_text(text, (int32_t)month) == 0)
		snprintf(text, DATE_TEXT_MAX, "no month");
}

void
trail_lost(struct trail_lost *lost, const struct store *store,
    const struct trail_parts_row *row, enum err err)
{
	char month[DATE_TEXT_MAX];

	lost->path[0] = '\0';
	(void)trail_parts_path(lost->path, store, row->month, row->first, "");
	trail_month_text(month, row->month);
	snprintf(lost->what, sizeof(lost->what),
	    "entries %llu to %llu of the audit trail (%s): %s",
	    (unsigned long long)row->first, (unsigned long long)row->last,
	    month, reason_of(lost->path, err));
	lost->todo = remedy_of(row, err);
}

void
trail_lost_log(
    const struct store *store, const struct trail_parts_row *row, enum err err)
{
	char cause[FS_PATH_MAX + sizeof(((struct trail_lost *)NULL)->what)];
	struct trail_lost lost;
	uint64_t before;

	if (!trail_is_lost(err))
		return;
	trail_lost(&lost, store, row, err);
	snprintf(cause, sizeof(cause), "%s %s", lost.path, lost.what);
	if (seldom_fails_of(cause, &before, date_monotonic_ns()))
		log_error("the audit trail cannot be read in full: %s: %s: "
			  "file=%s times=%llu",
		    lost.what, lost.todo, lost.path,
		    (unsigned long long)before + 1);
}
