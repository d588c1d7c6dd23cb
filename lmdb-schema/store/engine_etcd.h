/*
 * engine_etcd: the logs of a cluster in etcd (engine.h), by its JSON gateway;
 * etcd_text.h has the layout.
 *
 * Each request has a limit of ENGINE_REQUEST_MS, and goes to the member that answered
 * last; one that cannot be reached gives way to the next. After a failure,
 * appends fail at once for ENGINE_PAUSE_MS; then a read decides whether the next one is
 * sent. Connections are kept, one for each log and direction. libcurl is loaded
 * with the first request.
 */
#pragma once

#include <stdint.h>

#include "common/err.h"
#include "lmdb-schema/store/engine.h"

#define ENGINE_ETCD_MEMBERS 9

/* Texts; empty where there is none. They are copied. */
struct engine_etcd_settings {
	const char *members; /* http://host:port, by commas */
	const char *name; /* of the cluster: what its keys begin with */
	uint64_t epoch; /* 0, or behind the name: etcd_text.h */
	const char *ca, *cert, *key; /* files in PEM */
	const char *user, *password;
};

/*
 * Connects nowhere yet. ERR_BAD_INPUT, with the name of the setting in `fault`.
 * The engine's own close() frees it.
 */
enum err engine_etcd_open(struct engine **out,
    const struct engine_etcd_settings *settings, struct fault *fault);
