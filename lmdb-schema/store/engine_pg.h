/*
 * engine_pg: the logs of a cluster in PostgreSQL (engine.h).
 *
 *	product_grid_head   a row for each log: number and chain of its last entry
 *	product_grid_log    the entries
 *	product_grid_node   the nodes' records
 *	product_grid_note   texts of gridctl cluster's
 *	product_grid_epoch  which epoch there is: of epoch 7, the other tables'
 *	                    rows are of the cluster NAME.7
 *
 * The tables are made with the first append. An append is one statement, and
 * its commit waits for the standbys that the server is told to wait for. What
 * other statements have shown is believed only after a commit behind it: a commit
 * whose wait has been cancelled is visible, and a failover forgets it.
 *
 * Each request has a limit of ENGINE_REQUEST_MS, connecting included, over all
 * hosts of the connection string.
 */
#pragma once

#include <stdint.h>

#include "common/err.h"
#include "lmdb-schema/store/engine.h"

/* Texts; empty where there is none. They are copied. */
struct engine_pg_settings {
	const char *postgres; /* a connection string, or a URI */
	const char *name; /* of the cluster */
	uint64_t epoch; /* 0, or behind the name */
	const char *password;
};

/*
 * Connects nowhere yet, and loads libpq. ERR_BAD_INPUT, ERR_NOT_FOUND where
 * libpq is missing; with the name of the setting in `fault`.
 */
enum err engine_pg_open(struct engine **out,
    const struct engine_pg_settings *settings, struct fault *fault);
