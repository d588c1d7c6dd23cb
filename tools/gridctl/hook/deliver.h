/*
 * deliver: sends what hooks wait for, until it is told to end.
 *
 * One process at a time sends; of nodes that share the state, the node with the
 * lease (lease.h), and the others wait until it ends. Each hook has its own
 * tries and lanes (hook_at.h), so that a receiver that is dead or slow holds up
 * no other hook, and an event that a receiver refuses holds up its supplier
 * alone. How far a hook has come is stored after each answer: when the process
 * is killed, what was under way is sent again, with the same id.
 */
#pragma once

#include <stdint.h>

#include "common/err.h"

struct store;

struct deliver_options {
	int64_t first_wait_ms; /* before the second try; then it doubles */
	int64_t longest_wait_ms;
	int64_t give_up_ms; /* behind the first try */
	int64_t timeout_ms; /* of a try */
	const char *ca_file; /* NULL: the system's */
};

/*
 * Ends at SIGTERM or SIGINT with ERR_OK; ERR_BUSY: another process of this
 * machine sends, or waits.
 */
enum err deliver_run(
    struct store *store, const struct deliver_options *options);
