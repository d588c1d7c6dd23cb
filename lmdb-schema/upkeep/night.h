/*
 * night: what a night's chain has done so far: the file night.json of the data
 * directory, replaced as a whole before and after each step.
 *
 *	{"version":1,"began":"…","ended":null,"steps":[{"step":"take",
 *	 "delivery":"monday","state":"done","began":"…","ended":"…","rows":5,
 *	 "tries":1,"said":""}, …]}
 *
 * Written by `gridctl night run`; read by `gridctl night status` and gridapi.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "common/err.h"
#include "common/jsonw.h"

#define NIGHT_STEPS_MAX 64
#define NIGHT_NAME_MAX 64
#define NIGHT_SAID_MAX 8000

enum night_kind {
	NIGHT_TAKE,
	NIGHT_CHECK,
	NIGHT_IMPORT,
	NIGHT_COMPUTE,
	NIGHT_INDEX,
	NIGHT_PACK,
	NIGHT_EXPORT,
	NIGHT_BACKUP,
	NIGHT_SEND,
	NIGHT_PRUNE,
	NIGHT_REPORT,
	NIGHT_KINDS
};

enum night_state {
	NIGHT_WAITING,
	NIGHT_RUNNING,
	NIGHT_DONE,
	NIGHT_FAILED,
	NIGHT_SKIPPED, /* an earlier step of the delivery failed */
	NIGHT_STATES
};

struct night_step {
	enum night_kind kind;
	enum night_state state;
	char delivery[NIGHT_NAME_MAX + 1]; /* empty: of none */
	int64_t began_ms, ended_ms; /* 0: not yet */
	uint64_t rows;
	unsigned tries;
	char said[NIGHT_SAID_MAX + 1]; /* by a step that failed */
};

struct night {
	int64_t began_ms, ended_ms; /* 0: it runs, or was cut off */
	unsigned count;
	struct night_step steps[NIGHT_STEPS_MAX];
};

/* "take", "running" */
const char *night_kind_name(enum night_kind kind);
const char *night_state_name(enum night_state state);

/* A night that begins now, without steps; free() it. NULL: no memory. */
struct night *night_new(void);

/* NULL when there is no room. The step waits. */
struct night_step *night_add(
    struct night *night, enum night_kind kind, const char *delivery);

bool night_failed(const struct night *night);

/*
 *   ERR_NOT_FOUND  no night has been yet
 *   ERR_DAMAGED    the file is not as night_write() writes it
 */
enum err night_read(struct night **out, const char *data_dir);
enum err night_write(const struct night *night, const char *data_dir);

/* The file's object. */
void night_json(struct jsonw *json, const struct night *night);
