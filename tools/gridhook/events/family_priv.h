/*
 * family_priv: internals shared by the families' files only.
 *
 *	family.c       which family knows an object; those that carry others
 *	family_take.c  from members to fields
 *	family_job.c   scheduled jobs
 *	family_words.c words of failure
 *	family_alert.c alerts and monitors
 *	family_chat.c  chat and notification services
 */
#pragma once

#include "tools/gridhook/events/family.h"

/* One of these members is there. */
bool family_has(struct jval object, const char *members);

/* The first of the members as text; empty when none is there. */
struct span family_text_at(
    struct jval object, const char *members, struct arena *arena);

/* Also a numeric string, as environments give it. */
bool family_int(struct jval value, int64_t *out);

/* Fills what the rows say. */
void family_take(struct event *event, const struct take *takes,
    struct jval object, const struct trace *trace, struct arena *arena);

/* Fills a field from a member that is present. */
void family_take_value(struct event *event, enum field field, struct jval value,
    struct arena *arena);

/* One of the texts; what is there already stays. */
void family_take_text(struct event *event, enum field field, struct span text);

/*
 * Some word says that something failed, in English, French and other languages,
 * in any case, with or without accents. Of a long text the first line counts.
 */
bool family_words_fail(struct span text);

/* Some word names what runs by itself: "job.failed", "cron_error". */
bool family_words_name_job(struct span text);

/* The text is the folded word, but for case and accents. */
bool family_word_is(struct span word, const char *folded_word);

/* A text put together from parts, with `between` before each but the first. */
struct joined {
	struct buf buf;
};
bool family_join_begin(struct joined *joined, struct arena *arena);
void family_join(struct joined *joined, const char *between, struct span text);

extern const struct family family_finished_job, family_job, family_named_job,
    family_apprise, family_uptime_kuma, family_slack, family_discord,
    family_monitor, family_home_assistant, family_hooks;
