#include <langinfo.h>
#include <locale.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "common/log.h"
#include "common/opt.h"
#include "config.h"
#include "tools/gridhud/background.h"
#include "tools/gridhud/settings.h"
#include "tools/gridhud/term/plain.h"
#include "tools/gridhud/term/term.h"

struct head {
	const char *config;
	const char *now;
	bool plain;
	bool background;
	bool print;
	bool check;
	bool version;
};

static const struct opt_row rows[] = {
    {"--config", 'c', OPT_TEXT, offsetof(struct head, config), 0, 0, "FILE",
	"settings (default: ~/.config/gridhud.conf)"},
    {"--plain", 'p', OPT_FLAG, offsetof(struct head, plain), 0, 0, NULL,
	"lines of text in place of a screen, for pipes and screen readers"},
    {"--background", 0, OPT_FLAG, offsetof(struct head, background), 0, 0, NULL,
	"show notifications and speak, without a window, until one is open"},
    {"--now", 0, OPT_TEXT, offsetof(struct head, now), 0, 0, "TIME",
	"take this for the time it is (23:30 or 2026-01-31T23:30), to try "
	"quiet and night hours out"},
    {"--check", 0, OPT_FLAG, offsetof(struct head, check), 0, 0, NULL,
	"check the settings, and end"},
    {"--print-settings", 0, OPT_FLAG, offsetof(struct head, print), 0, 0, NULL,
	"print a settings file that holds every default"},
    {"--version", 0, OPT_FLAG, offsetof(struct head, version), 0, 0, NULL,
	"print the version"},
};

static const struct opt_spec spec = {
    .usage = "gridhud [OPTION]...",
    .about = "The window that gridhook's messages come in at: it shows them, "
	     "counts them and reads them aloud. ? lists its keys.",
    .rows = rows,
    .count = sizeof(rows) / sizeof(rows[0]),
    .args_min = 0,
    .args_max = 0,
};

/* All texts are UTF-8; a locale that is not must not stand in their way. */
static void
set_locale(void)
{
	setlocale(LC_ALL, "");
	if (strcmp(nl_langinfo(CODESET), "UTF-8") != 0 &&
	    setlocale(LC_CTYPE, "C.UTF-8") == NULL)
		log_warn("no UTF-8 locale: accents will not be shown");
}

static int
check(const char *config)
{
	struct fault fault = {.place = ""};
	struct hud_settings settings;
	int code = EXIT_SUCCESS;

	if (settings_load(&settings, config, &fault) == ERR_OK)
		printf("settings are fine\n");
	else {
		fprintf(
		    stderr, "gridhud: %s: %s\n", fault.place, fault.message);
		code = EXIT_FAILURE;
	}
	settings_fini(&settings);
	return code;
}

int
main(int argc, char **argv)
{
	struct head head = {.config = NULL};
	int count = 0, code;

	log_open("gridhud", LOG_WARN_);
	if (!opt_go(&code, &head, &spec, argc, argv, &count))
		return code;
	if (head.version) {
		printf("gridhud %s\n", PACKAGE_VERSION);
		return EXIT_SUCCESS;
	}
	if (head.print) {
		settings_print(stdout);
		return EXIT_SUCCESS;
	}
	if (head.check)
		return check(head.config);
	set_locale();
	if (head.background)
		return background_run(head.config, head.now);
	if (head.plain)
		return plain_run(
		    &(struct plain_options){head.config, head.now});
	if (term_is_there() &&
	    (isatty(STDIN_FILENO) == 0 || isatty(STDOUT_FILENO) == 0)) {
		fprintf(stderr,
		    "gridhud: this is not a terminal: use gridhud --plain\n");
		return OPT_USAGE;
	}
	return term_run(&(struct term_options){head.config, head.now});
}
