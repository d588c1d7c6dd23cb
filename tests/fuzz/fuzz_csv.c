/*
 * A CSV file; the first byte says which. The fast way of reading and libcsv's
 * find the same, and an import takes the same file in or says why not.
 */
#include <stdio.h>
#include <sys/mman.h>
#include <unistd.h>

#include "lmdb-schema/store/store.h"
#include "tests/fuzz/fuzz.h"
#include "tests/fuzz/made.h"
#include "tools/gridctl/csv/csv.h"
#include "tools/gridctl/import/import.h"
#include "tools/gridctl/import/import_priv.h"

#define REFUSED 1 /* the header was */

static struct store *store;
static struct source *source;
static char path[64];
static int fd = -1;

static void
begin(void)
{
	struct fault fault;

	FUZZ_CHECK(store_open(&store, made_flow(), &fault) == ERR_OK);
	FUZZ_CHECK(source_open(&source, store) == ERR_OK);
	fd = memfd_create("csv", MFD_CLOEXEC);
	FUZZ_CHECK(fd >= 0);
	snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
}

/* A number that stands for all that was read and all that was told. */
static uint64_t
read_records(const struct csv_spec *spec, struct csv_faults *faults)
{
	struct csv_record record;
	struct csv *csv;
	uint64_t sum = 0;

	if (csv_open(&csv, path, "f.csv", spec, faults) != ERR_OK)
		return REFUSED;
	while (csv_next(csv, &record))
		for (unsigned i = 0; i < spec->count + csv_extra_count(csv);
		     i++) {
			sum = sum * 31 + record.line;
			for (size_t k = 0; k < record.fields[i].len; k++)
				sum = sum * 31 +
				    (unsigned char)record.fields[i].ptr[k];
		}
	sum = sum * 31 + (uint64_t)csv_end(csv);
	csv_close(csv);
	return sum;
}

static void
compare_ways(enum import_file file)
{
	struct csv_faults fast = {0}, slow = {0};
	struct csv_spec spec = {.columns = import_rows[file].columns,
	    .count = import_rows[file].count,
	    .extra = file == IMPORT_NETWORK ? import_is_month : NULL};
	uint64_t sum = read_records(&spec, &fast);

	spec.slow = true;
	FUZZ_CHECK(read_records(&spec, &slow) == sum);
	/* Of a header that is an empty line libcsv makes no column at all. */
	FUZZ_CHECK(sum == REFUSED || fast.count == slow.count);
}

static void
take_in(enum import_file file)
{
	struct import import;
	enum err err =
	    import_init(&import, ".", store_dir(store), INTAKE_MEMORY);

	FUZZ_CHECK(err == ERR_OK);
	FUZZ_CHECK(intake_new(&import.intake, store, source) == ERR_OK);
	if (file >= IMPORT_SALES)
		FUZZ_CHECK(import_seal(&import) == ERR_OK);
	err = import_read_path(&import, file, path);
	FUZZ_CHECK(err == ERR_OK || err == ERR_BAD_INPUT);
	FUZZ_CHECK((err == ERR_OK) == (import.faults[file].count == 0));
	intake_free(import.intake);
	import_fini(&import);
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t len)
{
	enum import_file file;

	if (len == 0)
		return 0;
	if (store == NULL)
		begin();
	file = (enum import_file)((data[0] - 'a') % IMPORT_FILES);
	if (data[0] < 'a')
		return 0;
	FUZZ_CHECK(ftruncate(fd, 0) == 0);
	FUZZ_CHECK(pwrite(fd, data + 1, len - 1, 0) == (ssize_t)len - 1);
	compare_ways(file);
	take_in(file);
	return 0;
}
