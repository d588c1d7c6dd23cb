/*
 * gridctl night run and status: the chain that takes deliveries in, and what
 * hangs on it, by night/chain.h.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "common/conf.h"
#include "common/opt.h"
#include "common/web/post.h"
#include "lmdb-schema/store/store.h"
#include "lmdb-schema/upkeep/night.h"
#include "tools/gridctl/cmd.h"
#include "tools/gridctl/night/backups.h"
#include "tools/gridctl/night/chain.h"
#include "tools/gridctl/night/show.h"

struct options {
	const char *settings;
	bool yes, print_settings, json;
};

#define SETTINGS_ROW \
	{ \
		"--settings", 0, OPT_TEXT, offsetof(struct options, settings), \
		    0, 0, "FILE", "the settings, instead of " GRID_NIGHT_CONF \
	}

static const struct opt_row run_rows[] = {
    SETTINGS_ROW,
    {"--yes", 0, OPT_FLAG, offsetof(struct options, yes), 0, 0, NULL,
	"import also what looks like a mistake"},
    {"--print-settings", 0, OPT_FLAG, offsetof(struct options, print_settings),
	0, 0, NULL, "print all settings at their defaults"},
};

static const struct opt_spec run_spec = {
    .usage = "gridctl [--data DIR] night run [OPTION]...",
    .about =
	"Takes the deliveries of the inbox, checks and imports them, computes "
	"what has changed, makes the index, packs rows, exports validated "
	"ranges, makes a backup, sends it, prunes, and reports. A night that "
	"was cut "
	"off goes on where it was.",
    .rows = run_rows,
    .count = sizeof(run_rows) / sizeof(run_rows[0]),
};

static const struct opt_row status_rows[] = {
    SETTINGS_ROW,
    {"--json", 0, OPT_FLAG, offsetof(struct options, json), 0, 0, NULL,
	"as a JSON object"},
};

static const struct opt_spec status_spec = {
    .usage = "gridctl [--data DIR] night status [OPTION]...",
    .about = "Prints the steps of the last night, or of the one that runs: "
	     "state, seconds, rows, and for one that failed why and what to "
	     "do. Exit code 1: it failed, or was cut off.",
    .rows = status_rows,
    .count = sizeof(status_rows) / sizeof(status_rows[0]),
};

/* The report's address is tried before the night, not at its end. */
static int
check_url(const struct night_settings *settings)
{
	const char *fault =
	    settings->url[0] == '\0' ? NULL : post_url_fault(settings->url);

	if (fault == NULL && settings->secret_file[0] != '\0' &&
	    strncmp(settings->url, "http:", 5) == 0 &&
	    !post_url_is_local(settings->url))
		fault = "a secret goes over https, or stays on this machine";
	if (fault == NULL)
		return CMD_DONE;
	fprintf(stderr, "gridctl night: [report] url: %s\n", fault);
	return CMD_FAILED;
}

/* Without a file of that name the defaults hold. */
static int
read_settings(struct night_settings *settings, const char *path)
{
	const struct conf_row *rows = night_settings_rows;
	struct fault fault;
	enum err err;

	fault_clear(&fault);
	err = conf_defaults(settings, rows, night_settings_count, &fault);
	if (err == ERR_OK)
		err = conf_read(settings, rows, night_settings_count,
		    path == NULL ? GRID_NIGHT_CONF : path, &fault);
	if (err == ERR_OK || (err == ERR_NOT_FOUND && path == NULL))
		err = night_settings_check(settings, cmd_data_dir(), &fault);
	return err == ERR_OK ? check_url(settings)
			     : cmd_fail("night", err, &fault);
}

static int
print(const struct night *night, const struct night_settings *settings,
    bool as_json)
{
	struct jsonw json;
	struct buf text;

	buf_init(&text, (size_t)8 << 20);
	if (as_json) {
		jsonw_init(&json, &text);
		night_json(&json, night);
		buf_add_char(&text, '\n');
	} else
		night_show(&text, night, settings);
	return cmd_print(&text, "night");
}

static int
run_chain(const struct chain_options *options)
{
	struct night *night = NULL;
	struct fault fault;
	int result = CMD_DONE;
	enum err err = chain_run(&night, options);

	if (night != NULL) {
		result = print(night, options->settings, false);
		if (night_failed(night))
			result = CMD_FAILED;
	}
	free(night);
	if (err == ERR_OK)
		return result;
	fault_clear(&fault);
	if (err == ERR_BUSY)
		fault_set(&fault, options->data_dir,
		    "another 'gridctl night run' is under way: wait for its "
		    "end");
	else
		fault_set(&fault, options->data_dir,
		    "night.json cannot be read or written: %s", err_text(err));
	return cmd_fail("night", err, &fault);
}

static int
run(int argc, char **argv)
{
	struct options options = {.settings = NULL};
	struct night_settings settings = {.inbox = NULL};
	struct store *store;
	int args, result = cmd_options(&options, &run_spec, argc, argv, &args);

	if (result != CMD_GO)
		return result;
	if (options.print_settings) {
		conf_print(stdout, night_settings_rows, night_settings_count);
		return CMD_DONE;
	}
	result = read_settings(&settings, options.settings);
	/* Each step opens the data directory itself; here it is tried. */
	if (result == CMD_DONE)
		result = cmd_open(&store, "night");
	if (result == CMD_DONE) {
		store_close(store);
		result = run_chain(&(struct chain_options){
		    cmd_data_dir(), &settings, options.yes});
	}
	conf_fini(&settings, night_settings_rows, night_settings_count);
	return result;
}

/* --- status ------------------------------------------------------------------ */

static int
show_status(const struct night *night, const struct night_settings *settings,
    bool as_json)
{
	int result = print(night, settings, as_json);

	if (result != CMD_DONE)
		return result;
	if (night->ended_ms == 0 && !chain_is_running(cmd_data_dir())) {
		fprintf(stderr,
		    "gridctl night: it was cut off: 'gridctl night run' goes "
		    "on with it\n");
		return CMD_FAILED;
	}
	return night_failed(night) ? CMD_FAILED : CMD_DONE;
}

static int
cannot_be_read(enum err err)
{
	struct fault fault;

	fault_clear(&fault);
	fault_set(&fault, cmd_data_dir(), "night.json cannot be read: %s",
	    err_text(err));
	return cmd_fail("night", err, &fault);
}

static int
status(int argc, char **argv)
{
	struct options options = {.settings = NULL};
	struct night_settings settings = {.inbox = NULL};
	struct night *night = NULL;
	int args,
	    result = cmd_options(&options, &status_spec, argc, argv, &args);
	enum err err;

	if (result != CMD_GO)
		return result;
	result = read_settings(&settings, options.settings);
	err = result == CMD_DONE ? night_read(&night, cmd_data_dir()) : ERR_OK;
	if (err == ERR_NOT_FOUND)
		puts(options.json ? "null" : "there has been no night yet");
	else if (err != ERR_OK)
		result = cannot_be_read(err);
	else if (night != NULL)
		result = show_status(night, &settings, options.json);
	free(night);
	conf_fini(&settings, night_settings_rows, night_settings_count);
	return result;
}

/* --- test-restore -------------------------------------------------------------- */

static const struct opt_row test_rows[] = {SETTINGS_ROW};

static const struct opt_spec test_spec = {
    .usage = "gridctl [--data DIR] night test-restore [OPTION]...",
    .about = "Restores the newest backup into a folder beside the backups, "
	     "from the other host where [backup] send_to names one, reads "
	     "every byte of it, and removes it. No night runs meanwhile.",
    .rows = test_rows,
    .count = sizeof(test_rows) / sizeof(test_rows[0]),
};

static int
test_restore(int argc, char **argv)
{
	struct options options = {.settings = NULL};
	struct night_settings settings = {.inbox = NULL};
	int lock = -1, args,
	    result = cmd_options(&options, &test_spec, argc, argv, &args);
	enum err err;

	if (result != CMD_GO)
		return result;
	result = read_settings(&settings, options.settings);
	if (result == CMD_DONE) {
		err = chain_hold(&lock, cmd_data_dir());
		result = err == ERR_OK ? backups_test(&settings)
				       : cmd_fail("night", err, NULL);
	}
	if (lock >= 0)
		close(lock);
	conf_fini(&settings, night_settings_rows, night_settings_count);
	return result;
}

static const struct cmd_row commands[] = {
    {"run", run, "take deliveries in, compute, back up, report"},
    {"status", status, "say how far the last night has come"},
    {"test-restore", test_restore, "try whether the newest backup restores"},
};

int
cmd_night(int argc, char **argv)
{
	return cmd_run_table("gridctl night",
	    "The chain of a night, and how far it has come.", commands, 3, argc,
	    argv);
}
