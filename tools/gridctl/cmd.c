#include "tools/gridctl/cmd.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lmdb-schema/store.h"

#ifndef GRID_DATA_DIR
#define GRID_DATA_DIR "/var/lib/product-grid"
#endif

static const char *data_dir;

const char *
cmd_data_dir(void)
{
	if (data_dir == NULL)
		data_dir = getenv("GRID_DATA");
	return data_dir == NULL || data_dir[0] == '\0' ? GRID_DATA_DIR
						       : data_dir;
}

void
cmd_set_data_dir(const char *dir)
{
	data_dir = dir;
}

int
cmd_open(struct store **store, const char *command)
{
	struct fault fault;
	enum err err;

	fault_clear(&fault);
	err = store_open(store, cmd_data_dir(), &fault);
	return err == ERR_OK ? CMD_DONE : cmd_fail(command, err, &fault);
}

int
cmd_fail(const char *command, enum err err, const struct fault *fault)
{
	if (fault != NULL && fault_is_set(fault))
		fprintf(stderr, "gridctl %s: %s%s%s\n", command, fault->place,
		    fault->place[0] == '\0' ? "" : ": ", fault->message);
	else
		fprintf(stderr, "gridctl %s: %s\n", command, err_text(err));
	return CMD_FAILED;
}

static char *
next_text(size_t *size)
{
	static char texts[8][40];
	static unsigned next;

	*size = sizeof(texts[0]);
	return texts[next++ % 8];
}

const char *
cmd_count(unsigned long long number)
{
	size_t size, len;
	char digits[32], *text = next_text(&size);
	size_t at = 0;

	len = (size_t)snprintf(digits, sizeof(digits), "%llu", number);
	for (size_t i = 0; i < len; i++) {
		if (i > 0 && (len - i) % 3 == 0)
			text[at++] = ',';
		text[at++] = digits[i];
	}
	text[at] = '\0';
	return text;
}

const char *
cmd_bytes(unsigned long long bytes)
{
	static const char *const units[] = {"bytes", "kB", "MB", "GB", "TB"};
	size_t size;
	char *text = next_text(&size);
	double value = (double)bytes;
	unsigned unit = 0;

	while (value >= 1000 && unit < 4) {
		value /= 1000;
		unit++;
	}
	snprintf(text, size, unit == 0 || value >= 100 ? "%.0f %s" : "%.1f %s",
	    value, units[unit]);
	return text;
}

static void
print_table(FILE *file, const char *program, const char *about,
    const struct cmd_row *rows, unsigned count)
{
	fprintf(
	    file, "Usage: %s COMMAND [OPTION]...\n\n%s\n\n", program, about);
	for (unsigned i = 0; i < count; i++)
		if (rows[i].summary != NULL)
			fprintf(file, "  %-11s %s\n", rows[i].name,
			    rows[i].summary);
	fprintf(file, "\n'%s COMMAND --help' says more about one.\n", program);
}

int
cmd_run_table(const char *program, const char *about,
    const struct cmd_row *rows, unsigned count, int argc, char **argv)
{
	if (argc > 1 && strcmp(argv[1], "--help") == 0) {
		print_table(stdout, program, about, rows, count);
		return CMD_DONE;
	}
	if (argc < 2) {
		print_table(stderr, program, about, rows, count);
		return CMD_USAGE;
	}
	for (unsigned i = 0; i < count; i++)
		if (strcmp(rows[i].name, argv[1]) == 0)
			return rows[i].run(argc - 1, argv + 1);
	fprintf(stderr, "%s: unknown command '%s'; '%s --help' lists them\n",
	    program, argv[1], program);
	return CMD_USAGE;
}
