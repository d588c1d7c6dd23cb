/*
 * key_uses: when each API key was used last, gathered until it is worth a
 * transaction; sessions, too, where a transaction waits for other machines.
 */
#pragma once

#include <pthread.h>

#include "common/span.h"
#include "lmdb-schema/state/access.h"
#include "lmdb-schema/state/session.h"

#define KEY_USES_MAX 256

struct key_uses {
	pthread_mutex_t lock;
	struct access_use uses[KEY_USES_MAX];
	unsigned count;
	struct session sessions[KEY_USES_MAX];
	unsigned session_count;
};

struct key_uses *key_uses_new(void); /* NULL when memory is out */
void key_uses_free(struct key_uses *uses); /* NULL is fine */

/*
 * Notes that a key was used now. More keys than fit stay unnoted until the
 * others are written.
 */
void key_uses_note(struct key_uses *uses, struct span id);

/* Notes that the session was used at its used_ms. */
void key_uses_note_session(
    struct key_uses *uses, const struct session *session);

/* Stores what was noted, and forgets it; a failure is logged. */
void key_uses_write(struct key_uses *uses, struct store *store);
