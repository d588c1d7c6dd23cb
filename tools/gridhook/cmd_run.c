#include <stdio.h>
#include <stdlib.h>

#include "common/log.h"
#include "tools/gridhook/cmd.h"
#include "tools/gridhook/service.h"

int
cmd_run(const char *config, bool stay)
{
	struct fault fault = {.place = ""};
	struct hook_settings settings;
	enum err err;

	err = settings_load(&settings, config, &fault);
	if (err != ERR_OK)
		log_error("%s: %s", fault.place, fault.message);
	else
		err = service_run(&settings, stay);
	settings_fini(&settings);
	return err == ERR_OK ? EXIT_SUCCESS : EXIT_FAILURE;
}
