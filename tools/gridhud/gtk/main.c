#include <langinfo.h>
#include <locale.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/log.h"
#include "common/opt.h"
#include "config.h"
#include "tools/gridhud/gtk/gtk_priv.h"

struct head {
	const char *config;
	const char *now;
	bool version;
};

static const struct opt_row rows[] = {
    {"--config", 'c', OPT_TEXT, offsetof(struct head, config), 0, 0, "FILE",
	"settings (default: ~/.config/gridhud.conf)"},
    {"--now", 0, OPT_TEXT, offsetof(struct head, now), 0, 0, "TIME",
	"take this for the time it is (23:30 or 2026-01-31T23:30), to try "
	"quiet and night hours out"},
    {"--version", 0, OPT_FLAG, offsetof(struct head, version), 0, 0, NULL,
	"print the version"},
};

static const struct opt_spec spec = {
    .usage = "gridhud-gtk [OPTION]...",
    .about = "The window of gridhook's messages on a graphical desktop. Its "
	     "settings and history are those of gridhud.",
    .rows = rows,
    .count = sizeof(rows) / sizeof(rows[0]),
    .args_min = 0,
    .args_max = 0,
};

int
main(int argc, char **argv)
{
	struct head head = {.config = NULL};
	int count = 0, code;

	log_open("gridhud-gtk", LOG_WARN_);
	if (!opt_go(&code, &head, &spec, argc, argv, &count))
		return code;
	if (head.version) {
		printf("gridhud-gtk %s\n", PACKAGE_VERSION);
		return EXIT_SUCCESS;
	}
	setlocale(LC_ALL, "");
	if (strcmp(nl_langinfo(CODESET), "UTF-8") != 0 &&
	    setlocale(LC_CTYPE, "C.UTF-8") == NULL)
		log_warn("no UTF-8 locale: accents will not be shown");
	if (app_block_signals() != ERR_OK)
		log_warn("signals cannot be blocked");
	g_set_prgname("gridhud-gtk");
	gtk_disable_setlocale();
	if (!gtk_init_check()) {
		fprintf(stderr,
		    "gridhud-gtk: there is no display: use gridhud in a "
		    "terminal, or set DISPLAY or WAYLAND_DISPLAY\n");
		return EXIT_FAILURE;
	}
	return win_run(head.config, head.now);
}
