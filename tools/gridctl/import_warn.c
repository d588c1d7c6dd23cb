#include "tools/gridctl/import_warn.h"

#include <assert.h>
#include <stdio.h>

#include "common/date.h"
#include "lmdb-schema/facts/intake.h"
#include "tools/gridctl/cmd.h"
#include "tools/gridctl/import/import.h"

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
