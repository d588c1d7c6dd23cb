#include "tools/gridctl/cmd.h"

#include <assert.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "common/fs.h"
#include "common/opt.h"
#include "common/owner.h"
#include "lmdb-schema/facts/source.h"
#include "lmdb-schema/key.h"
#include "lmdb-schema/state/hook.h"
#include "lmdb-schema/state/proposal.h"
#include "lmdb-schema/store/cluster.h"
#include "lmdb-schema/store/engine_trouble.h"
#include "lmdb-schema/store/store.h"
#include "lmdb-schema/upkeep/edition.h"

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
	assert(dir != NULL);
	data_dir = dir;
}

static int
open_by(struct store **store, const char *command,
    enum err (*open)(struct store **, const char *, struct fault *))
{
	char text[FAULT_TEXT_MAX];
	struct fault fault;
	enum err err;

	assert(store != NULL && command != NULL);
	fault_clear(&fault);
	err = open(store, cmd_data_dir(), &fault);
	if (err != ERR_OK)
		return cmd_fail(command, err, &fault);
	err = store_follow(*store);
	engine_tell_away(err, store_engine(*store), &fault);
	if (err != ERR_OK)
		fprintf(stderr,
		    "gridctl %s: other nodes may have written more than is "
		    "known here: %s\n",
		    command, fault_text(text, &fault, err));
	return CMD_DONE;
}

int
cmd_open(struct store **store, const char *command)
{
	return open_by(store, command, store_open);
}

int
cmd_open_to_look(struct store **store, const char *command)
{
	return open_by(store, command, store_open_piecemeal);
}

static uint64_t rows_done;

void
cmd_set_rows(uint64_t rows)
{
	rows_done = rows;
}

uint64_t
cmd_rows(void)
{
	return rows_done;
}

static char late_text[80];

static void
end_late(int number)
{
	ssize_t written = write(STDERR_FILENO, late_text, strlen(late_text));

	(void)number;
	(void)written; /* stderr is the last resort */
	_exit(CMD_LATE);
}

void
cmd_end_after(const char *command, int64_t seconds)
{
	struct sigaction action = {.sa_handler = end_late};

	assert(command != NULL && seconds >= 0);
	if (seconds == 0)
		return;
	snprintf(late_text, sizeof(late_text),
	    "gridctl %s: not done after %lld seconds: ended\n", command,
	    (long long)seconds);
	sigaction(SIGALRM, &action, NULL);
	alarm((unsigned)seconds);
}

/* Whether this user is neither root nor the data directory's owner. */
static bool
is_stranger(void)
{
	struct stat st;

	return owner_name() == NULL && geteuid() != 0 &&
	    (stat(cmd_data_dir(), &st) != 0 || st.st_uid != geteuid());
}

static void
name_denied(struct fault *fault)
{
	char path[FS_PATH_MAX];
	bool own;

	fault_clear(fault);
	if (cmd_denied(path, &own))
		fault_set(fault, path, "%s%s%s", err_text(ERR_DENIED),
		    own ? ": chmod u+rwX " : "", own ? path : "");
}

/* Another machine refuses, whose address is named: no user of this one matters. */
static bool
is_refused_afar(const struct fault *fault)
{
	return fault != NULL && fault_is_set(fault) &&
	    strstr(fault->place, "://") != NULL;
}

int
cmd_fail(const char *command, enum err err, const struct fault *fault)
{
	char text[FAULT_TEXT_MAX];
	struct fault closer;
	bool here = err == ERR_DENIED && !is_refused_afar(fault);

	assert(command != NULL && err != ERR_OK);
	if (err == ERR_CUT_OFF && (fault == NULL || !fault_is_set(fault))) {
		fault_clear(&closer);
		(void)cluster_cut_off(cmd_data_dir(), &closer);
		fault = &closer;
	} else if (here && is_stranger()) {
		fault_clear(&closer);
		store_denied(fault != NULL && fault->place[0] != '\0'
			? fault->place
			: cmd_data_dir(),
		    &closer);
		fault = &closer;
	} else if (here && (fault == NULL || !fault_is_set(fault))) {
		name_denied(&closer);
		fault = &closer;
	}
	fprintf(stderr, "gridctl %s: %s\n", command,
	    fault == NULL ? err_text(err) : fault_text(text, fault, err));
	/* The process has become another user: explain why root was refused. */
	if (here && owner_name() != NULL)
		fprintf(stderr,
		    "gridctl %s: it was done as %s, who owns %s: that user "
		    "must be allowed to do this\n",
		    command, owner_name(), cmd_data_dir());
	return CMD_FAILED;
}

int
cmd_options(
    void *values, const struct opt_spec *spec, int argc, char **argv, int *args)
{
	assert(spec != NULL && argc >= 1);
	switch (opt_read(values, spec, argc, argv, args)) {
	case OPT_GO:
		return CMD_GO;
	case OPT_HELP:
		return CMD_DONE;
	default:
		return CMD_USAGE;
	}
}

int
cmd_start(struct store **store, const char *command, void *values,
    const struct opt_spec *spec, int argc, char **argv, int *args)
{
	int result;

	assert(store != NULL && command != NULL);
	result = cmd_options(values, spec, argc, argv, args);
	if (result != CMD_GO)
		return result;
	result = cmd_open(store, command);
	return result == CMD_DONE ? CMD_GO : result;
}

int
cmd_settle(struct store *store, const char *command, bool imported, bool quiet)
{
	struct fault fault;
	struct proposal_settled settled;
	enum err err =
	    proposal_settle(store, SPAN("gridctl"), imported, &settled);

	assert(command != NULL);
	if (err != ERR_OK) {
		fault_clear(&fault);
		if (err == ERR_AWAY && !imported)
			edition_say_away(cmd_data_dir(), &fault);
		if (err == ERR_CUT_OFF)
			(void)cluster_cut_off(cmd_data_dir(), &fault);
		fault_set(&fault, cmd_data_dir(),
		    imported
			? "the import is done; validated changes that it has "
			  "brought, and proposals that it makes needless, are "
			  "not ended yet (%s): the next import ends them"
			: "nothing was imported: validated changes and "
			  "proposals that the import before has settled are "
			  "to be ended first, and cannot be (%s): once that is "
			  "mended, import again",
		    err_text(err));
		return cmd_fail(command, err, &fault);
	}
	if (settled.arrived > 0 && !quiet)
		printf("%s validated changes have arrived\n",
		    cmd_count(settled.arrived));
	if (settled.withdrawn > 0 && !quiet)
		printf("%s proposals are withdrawn: the server has their range "
		       "by now\n",
		    cmd_count(settled.withdrawn));
	return CMD_DONE;
}

void
cmd_note_failure(struct store *store, const char *command, struct span supplier,
    const char *why)
{
	char actor[32];
	enum err err;

	snprintf(actor, sizeof(actor), "gridctl %s", command);
	err = hook_note(store, HOOK_FAILED, actor, supplier, span_of(why));
	if (err != ERR_OK)
		fprintf(stderr, "gridctl %s: hooks are not told: %s\n", command,
		    err_text(err));
}

void
cmd_time(char text[DATE_TEXT_MAX], int64_t ms)
{
	text[0] = '-';
	text[1] = '\0';
	if (ms != 0)
		date_instant_text(text, ms);
}

bool
cmd_lies_ahead(int32_t month)
{
	return month > date_month_of_day(date_day_from_ms(date_now_ms()));
}

void
cmd_json_time(struct jsonw *json, const char *name, int64_t ms)
{
	char text[DATE_TEXT_MAX];

	assert(name != NULL);
	cmd_time(text, ms);
	jsonw_key(json, name);
	jsonw_text(json, ms == 0 ? NULL : text);
}

bool
cmd_codes(char *list, size_t max, const char *text)
{
	struct span code, rest = span_of(text);
	size_t len = 0;

	while (span_cut(&code, &rest, ',')) {
		code = span_trim(code);
		if (!key_code_ok(code) || len + code.len + 1 > max)
			return false;
		memcpy(list + len, code.ptr, code.len);
		len += code.len;
		list[len++] = '\n';
	}
	list[len] = '\0';
	return len > 0;
}

static void
add_json_codes(struct jsonw *json, const char *name, struct span codes)
{
	struct span code, rest = codes;

	jsonw_key(json, name);
	if (codes.len == 0) {
		jsonw_null(json);
		return;
	}
	jsonw_array_begin(json);
	while (span_cut(&code, &rest, '\n'))
		if (code.len > 0)
			jsonw_string(json, code);
	jsonw_array_end(json);
}

void
cmd_add_codes(struct cmd_list *list, const char *name, struct span codes)
{
	struct span code, rest = codes;
	bool first = true;

	if (list->as_json) {
		add_json_codes(&list->json, name, codes);
		return;
	}
	while (span_cut(&code, &rest, '\n')) {
		if (code.len == 0)
			continue;
		if (first)
			buf_addf(&list->text, ", %s ", name);
		buf_addf(
		    &list->text, "%s%.*s", first ? "" : ",", SPAN_ARG(code));
		first = false;
	}
}

void
cmd_warn_codes(struct store *store, const char *command, struct span codes)
{
	struct source_supplier supplier;
	struct source *source = NULL;
	struct span code, rest = codes;
	enum err err = source_open(&source, store);

	if (err != ERR_OK && err != ERR_NOT_FOUND)
		return; /* damaged facts are for other commands to tell */
	while (rest.len > 0 && span_cut(&code, &rest, '\n'))
		if (code.len > 0 &&
		    (source == NULL ||
			source_supplier(source, code, &supplier) ==
			    ERR_NOT_FOUND))
			fprintf(stderr,
			    "gridctl %s: --suppliers: no supplier has the code "
			    "\"%.*s\" at present: 'gridctl suppliers' lists "
			    "those that there are\n",
			    command, SPAN_ARG(code));
	source_close(source);
}

static char *
next_text(size_t *size)
{
	static char texts[8][40];
	static unsigned next;

	*size = sizeof(texts[0]);
	return texts[next++ % 8];
}

void
cmd_words_missing(void)
{
	puts("words.idx: the index of all suppliers' words is missing: "
	     "'gridctl index' makes it; until then searches read each "
	     "snapshot");
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
cmd_help_table(const char *program, const char *about,
    const struct cmd_row *rows, unsigned count)
{
	assert(rows != NULL && count > 0);
	print_table(stdout, program, about, rows, count);
	return CMD_DONE;
}

int
cmd_run_table(const char *program, const char *about,
    const struct cmd_row *rows, unsigned count, int argc, char **argv)
{
	assert(rows != NULL && count > 0 && argc >= 1);
	if (argc > 1 &&
	    (strcmp(argv[1], "--help") == 0 || strcmp(argv[1], "-h") == 0))
		return cmd_help_table(program, about, rows, count);
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

int
cmd_by_words(int (*run)(int argc, char **argv), const char *const *words)
{
	enum { MAX = 12 };
	char texts[MAX][FS_PATH_MAX];
	char *argv[MAX + 1] = {NULL};
	int argc = 0;

	for (; words[argc] != NULL; argc++) {
		assert(argc < MAX);
		snprintf(texts[argc], FS_PATH_MAX, "%s", words[argc]);
		argv[argc] = texts[argc];
	}
	return run(argc, argv);
}
