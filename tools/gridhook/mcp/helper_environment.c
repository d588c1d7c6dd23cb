#include "tools/gridhook/mcp/helper_priv.h"

#include <assert.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define SETTINGS_VARIABLE "GRIDHOOK_TOOL_SETTINGS"

extern char **environ;

static bool
is_private(const char *variable)
{
	static const char *const names[] = {
	    "GRIDHOOK_SECRET=", "CREDENTIALS_DIRECTORY=", "NOTIFY_SOCKET=",
	    "LISTEN_FDS=", "LISTEN_PID=", SETTINGS_VARIABLE "="};

	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
		if (strncmp(variable, names[i], strlen(names[i])) == 0)
			return true;
	return false;
}

bool
helper_environment(char ***environment, char **own, const char *settings)
{
	size_t i, count = 0;
	char **variables;

	assert(environment != NULL && own != NULL);
	while (environ[count] != NULL)
		count++;
	*environment = variables = calloc(count + 2, sizeof(char *));
	if (variables == NULL)
		return false;
	for (i = 0, count = 0; environ[i] != NULL; i++)
		if (!is_private(environ[i]))
			variables[count++] = environ[i];
	if (settings != NULL) {
		if (asprintf(own, SETTINGS_VARIABLE "=%s", settings) < 0) {
			*own = NULL;
			return false;
		}
		variables[count++] = *own;
	}
	return true;
}
