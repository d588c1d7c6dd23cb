#include "tools/gridhook/cmd.h"

#include <stdio.h>

bool
cmd_settings(struct hook_settings *settings, const char *config)
{
	struct fault fault = {.place = ""};

	if (settings_load(settings, config, &fault) == ERR_OK)
		return true;
	fprintf(stderr, "gridhook: %s: %s\n", fault.place, fault.message);
	return false;
}
