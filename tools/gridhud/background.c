#include "tools/gridhud/background.h"

#include <assert.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "common/log.h"
#include "tools/gridhud/app/app.h"

static void
on_added(void *arg, uint64_t number, bool live)
{
	(void)arg;
	(void)number;
	(void)live;
}

/* The service's log is the only place for them. */
static void
on_notice(void *arg, const char *text)
{
	(void)arg;
	log_info("%s", text);
}

static void
on_nothing(void *arg)
{
	(void)arg;
}

static const struct front front = {.added = on_added,
    .notice = on_notice,
    .bell = on_nothing,
    .changed = on_nothing,
    .background = true};

int
background_run(const char *config, const char *now)
{
	struct app *app = calloc(1, sizeof(*app));
	struct fault fault = {.place = ""};
	int code = EXIT_FAILURE;
	enum err err;

	if (app == NULL) {
		fprintf(stderr, "gridhud: %s\n", err_text(ERR_NO_MEMORY));
		return code;
	}
	log_open("gridhud", LOG_INFO_);
	err = app_open(app, config, now, &front, NULL, &fault);
	app->input_ended = true;
	if (err != ERR_OK)
		fprintf(
		    stderr, "gridhud: %s: %s\n", fault.place, fault.message);
	else if (app_run(app, STDIN_FILENO, on_nothing, on_nothing, NULL) ==
	    ERR_OK)
		code = EXIT_SUCCESS;
	app_close(app);
	free(app);
	return code;
}
