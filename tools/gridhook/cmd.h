/*
 * cmd: the commands of gridhook, one file each. Each reads its own options and
 * returns the exit code: 0 done, 1 failed, 2 wrong command line.
 */
#pragma once

#include <stdbool.h>

#include "tools/gridhook/settings.h"

/* False after a line on standard error. settings_fini() in both cases. */
bool cmd_settings(struct hook_settings *settings, const char *config);

/* Settings are read from `config`; NULL: the usual places. */
int cmd_run(const char *config, bool stay);
int cmd_job(const char *config, int argc, char **argv);
int cmd_ctl(const char *config, int argc, char **argv);
int cmd_tools(const char *config, int argc, char **argv);
int cmd_call(const char *config, int argc, char **argv);
int cmd_send(const char *config, int argc, char **argv);
int cmd_mcp(const char *config, int argc, char **argv);
int cmd_explain(const char *config, int argc, char **argv);
