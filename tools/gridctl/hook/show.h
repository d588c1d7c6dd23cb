/* show: hooks, what they gave up, and the answer to a try, for a person. */
#pragma once

#include "tools/gridctl/cmd.h"

struct store;

enum err show_hooks(struct cmd_list *list, struct store *store);

/* ERR_NOT_FOUND. */
enum err show_lost(
    struct cmd_list *list, struct store *store, struct span name);

/*
 * Sends a test event and prints the answer; *result is the exit code.
 * ERR_NOT_FOUND.
 */
enum err show_test(int *result, struct store *store, struct span name,
    const char *ca_file, int64_t timeout_ms);
