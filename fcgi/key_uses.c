#include "fcgi/key_uses.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "common/date.h"
#include "common/log.h"

struct key_uses *
key_uses_new(void)
{
	struct key_uses *uses = calloc(1, sizeof(*uses));

	if (uses != NULL)
		pthread_mutex_init(&uses->lock, NULL);
	return uses;
}

void
key_uses_free(struct key_uses *uses)
{
	if (uses == NULL)
		return;
	pthread_mutex_destroy(&uses->lock);
	free(uses);
}

void
key_uses_note(struct key_uses *uses, struct span id)
{
	int64_t now = date_now_ms();
	unsigned i = 0;

	assert(id.len > 0 && id.len < sizeof(uses->uses[0].id));
	pthread_mutex_lock(&uses->lock);
	while (i < uses->count && !span_eq(id, span_of(uses->uses[i].id)))
		i++;
	if (i < KEY_USES_MAX &&
	    (i < uses->count ||
		span_copy(uses->uses[i].id, sizeof(uses->uses[i].id), id))) {
		uses->uses[i].used_ms = now;
		if (i == uses->count)
			uses->count++;
	}
	pthread_mutex_unlock(&uses->lock);
}

void
key_uses_note_session(struct key_uses *uses, const struct session *session)
{
	unsigned i = 0;

	pthread_mutex_lock(&uses->lock);
	while (i < uses->session_count &&
	    memcmp(uses->sessions[i].id, session->id, sizeof(session->id)) != 0)
		i++;
	if (i < KEY_USES_MAX) {
		uses->sessions[i] = *session;
		if (i == uses->session_count)
			uses->session_count++;
	}
	pthread_mutex_unlock(&uses->lock);
}

/* A use that cannot be written costs the session time. */
static void
write_sessions(struct key_uses *uses, struct store *store)
{
	struct session copy[KEY_USES_MAX];
	unsigned count;
	enum err err = ERR_OK;

	pthread_mutex_lock(&uses->lock);
	count = uses->session_count;
	memcpy(copy, uses->sessions, count * sizeof(*copy));
	uses->session_count = 0;
	pthread_mutex_unlock(&uses->lock);
	if (count > 0)
		err = session_touch_all(store, copy, count);
	if (err != ERR_OK)
		log_warn("the use of sessions was not noted: count=%u "
			 "error=%s",
		    count, err_text(err));
}

void
key_uses_write(struct key_uses *uses, struct store *store)
{
	struct access_use copy[KEY_USES_MAX];
	unsigned count;

	pthread_mutex_lock(&uses->lock);
	count = uses->count;
	memcpy(copy, uses->uses, count * sizeof(*copy));
	uses->count = 0;
	pthread_mutex_unlock(&uses->lock);
	if (count > 0)
		access_note_uses(store, copy, count); /* logged there */
	write_sessions(uses, store);
}
