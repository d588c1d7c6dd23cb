#include "fcgi/endpoints/feed.h"

#include <assert.h>

#include "common/count.h"
#include "common/members.h"
#include "fcgi/http/feed_states.h"

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

const struct table_column feed_columns[FEED_COLUMNS] = {
    {{"numero", 6}, ROW_INTEGER},
    {{"etat", 4}, ROW_TEXT},
    {{"codeFournisseur", 15}, ROW_TEXT},
    {{"codein", 6}, ROW_TEXT},
    {{"gamme", 5}, ROW_TEXT},
    {{"gammePrecedente", 15}, ROW_TEXT},
    {{"motif", 5}, ROW_TEXT},
    {{"proposeePar", 11}, ROW_TEXT},
    {{"proposeeLe", 10}, ROW_TEXT},
    {{"decideePar", 10}, ROW_TEXT},
    {{"decideeLe", 9}, ROW_TEXT},
    {{"remplace", 8}, ROW_OBJECT},
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
feed_state_of(const struct audit_entry *entry)
{
	const struct event *event = event_of(entry);

	return event == NULL || !trail_is_about_article(entry) ? 0
							       : event->state;
}

bool
feed_is_by(const struct audit_entry *entry, struct span author)
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
feed_write(struct jsonw *json, const struct audit_entry *entry)
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

enum err
feed_write_kept(struct jsonw *json, struct state_view *view)
{
	struct audit_entry first = {.when_ms = 0};
	enum err err = trail_get(view, 1, &first);

	if (err == ERR_NOT_FOUND)
		err = ERR_OK;
	members_time(json, "premiereLe", first.when_ms);
	jsonw_key(json, "conservationJours");
	jsonw_null(json);
	return err;
}
