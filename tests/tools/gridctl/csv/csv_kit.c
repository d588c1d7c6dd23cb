#include "tests/tools/gridctl/csv/csv_kit.h"

#include <check.h>
#include <stdlib.h>

#include "tests/support/scratch.h"
#include "tools/gridctl/csv/csv.h"

const char *const csv_kit_columns[3] = {"a", "b", "c"};

bool
csv_kit_is_month(struct span name)
{
	return name.len == 7 && name.ptr[4] == '-';
}

void
csv_kit_read(struct buf *out, const char *name, bool slow, bool months)
{
	struct csv_spec spec = {
	    csv_kit_columns, 3, months ? csv_kit_is_month : NULL, slow};
	struct csv_faults *faults = calloc(1, sizeof(*faults));
	struct csv_record record;
	struct csv *csv;
	enum err err;

	err = csv_open(&csv, scratch_path(name), name, &spec, faults);
	if (csv != NULL) {
		for (unsigned i = 0; i < csv_extra_count(csv); i++)
			buf_addf(
			    out, "+%.*s;", SPAN_ARG(csv_extra_name(csv, i)));
		while (csv_next(csv, &record)) {
			buf_addf(out, "%d:", (int)record.line);
			for (unsigned i = 0; i < 3 + csv_extra_count(csv);
			     i++) {
				if (i > 0)
					buf_add_char(out, '|');
				buf_add_span(out, record.fields[i]);
			}
			buf_add_char(out, ';');
		}
		err = csv_end(csv);
	}
	csv_close(csv);
	for (unsigned i = 0; i < faults->count && i < CSV_FAULTS_KEPT; i++)
		buf_addf(out, "!%s: %s;", faults->kept[i].place,
		    faults->kept[i].message);
	buf_addf(out, "#%d faults, %s", (int)faults->count, err_text(err));
	free(faults);
}

void
csv_kit_check(const char *name, bool months, const char *expected)
{
	struct buf out;

	for (int slow = 0; slow <= 1; slow++) {
		buf_init(&out, 1 << 24);
		csv_kit_read(&out, name, slow, months);
		buf_add(&out, "", 1);
		ck_assert_int_eq(buf_end(&out), ERR_OK);
		ck_assert_str_eq(out.data, expected);
		buf_fini(&out);
	}
}
