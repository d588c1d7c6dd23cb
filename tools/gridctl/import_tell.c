#include "tools/gridctl/import_tell.h"

#include <assert.h>
#include <stdio.h>

#include "common/date.h"
#include "lmdb-schema/facts/intake.h"
#include "lmdb-schema/facts/live.h"
#include "lmdb-schema/facts/source.h"
#include "tools/gridctl/cmd.h"
#include "tools/gridctl/import/import.h"
#include "tools/gridctl/import/import_changes.h"

void
import_tell_done(const struct import *import, bool merge,
    uint64_t suppliers_same, uint64_t bytes, double seconds)
{
	const struct source_header *header = intake_header(import->intake);

	printf("imported %s articles of %s suppliers, %s stores\n",
	    cmd_count(header->articles), cmd_count(header->suppliers),
	    cmd_count(header->stores));
	if (suppliers_same > 0)
		printf("  rows of %s of the suppliers are as before\n",
		    cmd_count(suppliers_same));
	for (unsigned i = 0; i < IMPORT_FILES; i++)
		if (!import->there[i])
			printf("  %-16s not there%s\n", import_file_name(i),
			    merge || i >= IMPORT_NETWORK ? ", left as it was"
							 : ", counts as empty");
		else
			printf("  %-16s %12s lines\n", import_file_name(i),
			    cmd_count(import->records[i]));
	printf("%s in %.1f s. 'gridctl compute --all' or '--stale' makes new "
	       "snapshots.\n",
	    cmd_bytes(bytes), seconds);
}

void
import_tell_ignored(const char *name)
{
	fprintf(stderr, "gridctl import: ignored: %s\n", name);
}

void
import_tell_nothing(const char *name)
{
	(void)name;
}

/* The file that a kind of series comes from. */
static const enum import_file series_file[] = {
    [SERIES_POSITIONS] = IMPORT_POSITIONS,
    [SERIES_SALES] = IMPORT_SALES,
    [SERIES_STOCK] = IMPORT_STOCK,
    [SERIES_RECEPTIONS] = IMPORT_RECEPTIONS,
};

/* --- what an import would change ----------------------------------------- */

static const struct source_header *
header_of(const struct source *source)
{
	static const struct source_header nothing;

	return source == NULL ? &nothing : source_header(source);
}

static void
line(const char *what, uint64_t before, uint64_t now)
{
	printf("  %-16s %12s %12s", what, cmd_count(before), cmd_count(now));
}

void
import_tell_changes(const struct import_told *told)
{
	const struct source_header *before = header_of(told->before);
	const struct source_header *now = source_header(told->now);
	const struct import_changes *changes = told->changes;
	const struct live_counts *live = told->live;

	printf("  %-16s %12s %12s %10s %10s %10s\n", "", "now", "then", "new",
	    "gone", "changed");
	line("articles", before->articles, now->articles);
	printf(" %10s %10s %10s\n", cmd_count(changes->articles_new),
	    cmd_count(changes->articles_gone),
	    cmd_count(changes->articles_changed));
	line("suppliers", before->suppliers, now->suppliers);
	printf(" %10s %10s %10s\n", cmd_count(changes->suppliers_new),
	    cmd_count(changes->suppliers_gone),
	    cmd_count(changes->suppliers_changed));
	for (unsigned i = 0; i < SERIES_KINDS; i++) {
		line(import_file_name(series_file[i]), before->records[i],
		    now->records[i]);
		putchar('\n');
	}
	printf("  network products: %s new or changed, %s gone\n",
	    cmd_count(live->networks), cmd_count(live->networks_gone));
	printf("  server ranges: %s changed\n", cmd_count(live->gammes));
	if (live->suppliers_same > 0)
		printf("  rows of %s of the suppliers are as before\n",
		    cmd_count(live->suppliers_same));
	puts("checked, nothing was changed");
}

/* --- what looks like a mistake -------------------------------------------- */

static bool
is_odd(const char *what, uint64_t gone, uint64_t before)
{
	if (before == 0 || gone < before - gone)
		return false;
	fprintf(stderr, "gridctl import: %s: %s of %s would go\n", what,
	    cmd_count(gone), cmd_count(before));
	return true;
}

bool
import_tell_odd(const struct source *before, const struct source *now,
    const struct import_changes *changes)
{
	const struct source_header *old = header_of(before);
	const struct source_header *new = source_header(now);
	bool odd = is_odd("articles", changes->articles_gone, old->articles);

	odd |= is_odd("suppliers", changes->suppliers_gone, old->suppliers);
	for (unsigned i = 0; i < SERIES_KINDS; i++)
		if (new->records[i] < old->records[i])
			odd |= is_odd(import_file_name(series_file[i]),
			    old->records[i] - new->records[i], old->records[i]);
	if (odd)
		fprintf(stderr,
		    "gridctl import: that looks like a mistake, such as half a "
		    "file; " CMD_IF_MEANT "\n");
	return odd;
}

/* --- months that lie ahead ------------------------------------------------ */

/*
 * A mistyped future month would leave the rows of all suppliers nearly empty.
 */
static void
warn_ahead(const char *where, int32_t month)
{
	char text[DATE_TEXT_MAX];

	date_month_text(text, month);
	fprintf(stderr,
	    "gridctl import: warning: %s: month %s lies ahead, and the 12 "
	    "months of all rows end with the newest: if it is a mistake, mend "
	    "the file and import the whole folder again, without --merge\n",
	    where, text);
}

void
import_warn_ahead(const struct intake *intake)
{
	static const enum series_kind kinds[] = {
	    SERIES_SALES, SERIES_STOCK, SERIES_RECEPTIONS};
	int32_t newest = intake_header(intake)->newest_month;
	bool told = false;

	assert(intake != NULL);
	if (!cmd_lies_ahead(newest))
		return;
	for (unsigned i = 0; i < sizeof(kinds) / sizeof(kinds[0]); i++) {
		int32_t month = intake_newest(intake, kinds[i]);

		if (!cmd_lies_ahead(month))
			continue;
		warn_ahead(import_file_name(IMPORT_SALES + i), month);
		told = told || month == newest;
	}
	if (!told)
		warn_ahead("facts of an earlier import", newest);
}
