#include "lmdb-schema/state/feed_entry.h"

#include <assert.h>

#include "common/count.h"
#include "common/members.h"
#include "lmdb-schema/feed_states.h"
#include "lmdb-schema/state/trail.h"

/* The trail's events about ranges, and who they tell of. */
static const struct event {
	struct span name;
	enum feed_state state;
	bool proposes; /* the actor is the proposal's author */
} events[] = {
    {{"proposed", 8}, FEED_PROPOSED, true},
    {{"replaced", 8}, FEED_PROPOSED, true},
    {{"withdrawn", 9}, FEED_WITHDRAWN, false},
    {{"validated", 9}, FEED_VALIDATED, false},
    {{"rejected", 8}, FEED_REJECTED, false},
    {{"edited", 6}, FEED_EDITED, false},
    {{"arrived", 7}, FEED_ARRIVED, false},
};

static const struct event *
event_of(const struct audit_entry *entry)
{
	for (unsigned i = 0; i < COUNT(events); i++)
		if (span_eq(events[i].name, entry->event))
			return &events[i];
	return NULL;
}

unsigned
feed_entry_state(const struct audit_entry *entry)
{
	const struct event *event = event_of(entry);

	return event == NULL || !trail_is_about_article(entry) ? 0
							       : event->state;
}

bool
feed_entry_is_by(const struct audit_entry *entry, struct span author)
{
	const struct event *event = event_of(entry);

	assert(author.len > 0);
	return span_eq(entry->author, author) ||
	    (event != NULL && event->proposes && span_eq(entry->actor, author));
}

/* The proposal that this one takes the place of. */
static void
write_replaced(struct jsonw *json, const struct audit_entry *entry)
{
	if (!span_eq(entry->event, SPAN("replaced"))) {
		jsonw_key(json, "remplace");
		jsonw_null(json);
		return;
	}
	members_object(json, "remplace");
	members_null_text(json, "gamme", entry->before);
	members_null_text(json, "proposeePar", entry->author);
	members_time(json, "proposeeLe", entry->proposed_ms);
	jsonw_object_end(json);
}

static void
write_who(struct jsonw *json, const struct audit_entry *entry, bool proposes)
{
	members_null_text(
	    json, "proposeePar", proposes ? entry->actor : entry->author);
	members_time(
	    json, "proposeeLe", proposes ? entry->when_ms : entry->proposed_ms);
	members_null_text(
	    json, "decideePar", proposes ? SPAN("") : entry->actor);
	members_time(json, "decideeLe", proposes ? 0 : entry->when_ms);
}

void
feed_entry_write(struct jsonw *json, const struct audit_entry *entry)
{
	const struct event *event = event_of(entry);
	bool replaces = span_eq(entry->event, SPAN("replaced"));

	assert(event != NULL);
	jsonw_object_begin(json);
	members_int(json, "numero", (int64_t)entry->number);
	members_text(json, "etat", feed_state_name(event->state));
	members_text(json, "codeFournisseur", entry->supplier);
	members_text(json, "codein", entry->codein);
	members_null_text(json, "gamme", entry->gamme);
	members_null_text(json, "gammePrecedente",
	    replaces ? entry->recorded : entry->before);
	members_null_text(json, "motif", entry->motif);
	write_who(json, entry, event->proposes);
	write_replaced(json, entry);
	jsonw_object_end(json);
}
