/*
 * log_version: nodes of two versions of this program in one cluster. Entries of
 * the log are in the version that all nodes read (store/write_log.h); once all of
 * them read a later one, and none has come or gone for LOG_VERSION_WAIT_S, one of
 * them raises it. A node that does not read it stops there, and goes on reading.
 */
#pragma once

#include <stdint.h>

#include "common/err.h"

struct store;

#define LOG_VERSION_WAIT_S 600

/* The nodes at the look before; zeros at first. */
struct log_version {
	uint64_t least, nodes; /* the version that all read; how many */
	int64_t since_ns;
};

/*
 * Looks at the nodes' records, and raises the version when it is time. Where this
 * program reads no later version than is written, nothing is looked at.
 */
enum err log_version_look(
    struct log_version *seen, struct store *store, int64_t now_ns);
