/*
 * state: what the API itself keeps; the tables of state.mdb.
 *
 *	meta      "schema"   u64 SCHEMA_VERSION
 *	keys, users, sessions, pending, validated, audit, versions: each
 *	described beside the code that owns it
 */
#pragma once

enum {
	STATE_META,
	STATE_KEYS,
	STATE_USERS,
	STATE_SESSIONS,
	STATE_PENDING,
	STATE_VALIDATED,
	STATE_AUDIT,
	STATE_VERSIONS,
	STATE_TABLES
};

extern const char *const state_tables[STATE_TABLES];
