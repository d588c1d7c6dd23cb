/*
 * GET /propositions: what was proposed and what became of it, as a feed.
 *
 * The cursor is the number of the last entry that was looked at, shown or not.
 * Numbers follow the commits, so what is written meanwhile stands behind it.
 */
#include <assert.h>

#include "common/date.h"
#include "common/members.h"
#include "fcgi/endpoints/answer.h"
#include "fcgi/endpoints/endpoint.h"
#include "fcgi/call.h"
#include "fcgi/endpoints/feed.h"
#include "fcgi/settings.h"
#include "fcgi/fail.h"
#include "lmdb-schema/facts/source.h"
#include "lmdb-schema/state/proposal.h"
#include "lmdb-schema/state/trail.h"
#include "lmdb-schema/state/trail_gaps.h"
#include "fcgi/rows/ensure.h"
#include "fcgi/rows/etag.h"
#include "fcgi/rows/negotiate.h"
#include "fcgi/rows/paging.h"
#include "fcgi/rows/shared_source.h"
#include "fcgi/table/lines.h"
#include "fcgi/table/walk.h"

/* Entries that a thread for pages looks through, and the most of an answer. */
#define LOOKED_MAX 20000
#define SHOWN_MAX 10000
#define STREAMED 2000 /* entries of more are put as they are written */

struct feed {
	struct call *call;
	struct state_view *view;
	struct answer answer;
	int64_t limit, shown, looked;
	uint64_t last; /* the newest entry */
	uint64_t gap; /* oldest first: the entry before which to end; or 0 */
	struct feed_cursor at; /* looked at last */
	bool cut; /* entries that match may be left */
	bool named; /* an entry was met of the supplier that is asked for */
	bool elsewhere; /* where requests may take longer */
	enum format format;
};

static bool
matches(const struct feed *feed, const struct audit_entry *entry)
{
	const struct params *params = &feed->call->params;
	unsigned state = feed_entry_state(entry);

	if (state == 0 ||
	    (params->states != 0 && (params->states & state) == 0))
		return false;
	if (!call_sees(feed->call, entry->supplier))
		return false;
	if (params->fournisseur.len > 0 &&
	    !span_eq(entry->supplier, params->fournisseur))
		return false;
	if (params->codein.len > 0 && !span_eq(entry->codein, params->codein))
		return false;
	if (params->author.len > 0 && !feed_entry_is_by(entry, params->author))
		return false;
	return entry->when_ms >= params->from_ms &&
	    (params->until_ms == 0 || entry->when_ms < params->until_ms);
}

/* ERR_EXISTS: it is enough. */
static enum err
look(struct feed *feed, const struct audit_entry *entry)
{
	bool wanted;

	if (feed->gap != 0 && entry->number >= feed->gap)
		return ERR_EXISTS;
	wanted = matches(feed, entry);
	feed->named |= span_eq(entry->supplier, feed->call->params.fournisseur);
	if (wanted && feed->shown == feed->limit) {
		feed->cut = true;
		return ERR_EXISTS;
	}
	if (feed->looked++ == LOOKED_MAX && !feed->call->request->slow_pool) {
		feed->elsewhere = true;
		return ERR_EXISTS;
	}
	feed->at = (struct feed_cursor){entry->number, entry->when_ms};
	if (!wanted)
		return ERR_OK;
	feed->shown++;
	feed_entry_write(&feed->answer.json, entry);
	return buf_end(feed->answer.json.buf);
}

static enum err
look_on(void *context, const struct audit_entry *entry)
{
	return look(context, entry);
}

/* --- one article ----------------------------------------------------------- */

/* To an entry at the end of what is read: the next call goes on behind it. */
static enum err
move_to(struct feed *feed, uint64_t number)
{
	struct audit_entry entry;
	enum err err;

	if (number <= feed->at.number)
		return ERR_OK;
	err = trail_get(feed->view, number, &entry);
	if (err == ERR_OK)
		feed->at = (struct feed_cursor){entry.number, entry.when_ms};
	return err;
}

static enum err
read_article(struct feed *feed)
{
	const struct params *params = &feed->call->params;
	struct trail_article article = {.supplier = params->fournisseur,
	    .codein = params->codein,
	    .back = params->descending};
	enum err err;

	if (params->has_since && params->descending) {
		if (params->since.number <= 1)
			return ERR_OK;
		article.to = params->since.number - 1;
	} else if (params->has_since)
		article.from = params->since.number + 1;
	if (feed->gap != 0)
		article.to = feed->gap - 1;
	err = trail_history(feed->view, &article, look_on, feed);
	return err == ERR_OK && !params->descending && feed->gap == 0
	    ? move_to(feed, feed->last)
	    : err;
}

/* --- the answer ----------------------------------------------------------- */

static struct trail_wanted
wanted_of(const struct params *params)
{
	return (struct trail_wanted){.supplier = params->fournisseur,
	    .author = params->author,
	    .from_ms = params->from_ms,
	    .until_ms = params->until_ms};
}

/*
 * A page ends before the entries that are in an archive: at the last one before
 * them, so that the next call learns of the gap.
 */
static enum err
end_at_gap(struct feed *feed)
{
	if (feed->gap == 0 || feed->cut || feed->elsewhere)
		return ERR_OK;
	feed->cut = true;
	return move_to(feed, feed->gap - 1);
}

static enum err
read_feed(struct feed *feed)
{
	const struct params *params = &feed->call->params;
	const struct trail_wanted wanted = wanted_of(params);
	uint64_t from = params->since.number;
	enum err err;

	if (!params->descending)
		from++;
	else if (!params->has_since)
		from = feed->last + 1;
	err = params->codein.len > 0 ? read_article(feed)
				     : trail_each(feed->view, &wanted, from,
					   params->descending, look_on, feed);
	if (err == ERR_OK || err == ERR_EXISTS)
		err = end_at_gap(feed);
	return feed_count(feed->call, err);
}

/*
 * ERR_NOT_FOUND: no supplier has this code, nor does the trail name one that
 * had. With a cursor, or before a gap, only a part was looked at, which says nothing.
 */
static enum err
check_supplier(struct feed *feed)
{
	struct call *call = feed->call;
	struct span code = call->params.fournisseur;
	struct source_supplier info;
	struct shared_source *source;
	enum err err;

	if (code.len == 0 || feed->named || call->params.has_since ||
	    feed->gap != 0 || proposal_version(feed->view, code) != 0)
		return ERR_OK;
	err = shared_source_get(&source, call);
	if (err != ERR_OK)
		return err;
	err = source_supplier(source->source, code, &info);
	shared_source_release(source);
	return err;
}

/* ERR_ANSWERED: a refusal, or too many entries for a thread of pages. */
static enum err
add_entries(struct feed *feed)
{
	struct jsonw *json = &feed->answer.json;
	enum err err;

	jsonw_array_begin(json);
	err = read_feed(feed);
	if (feed->elsewhere)
		return ensure_hand_over(feed->call);
	jsonw_array_end(json);
	if (err != ERR_OK)
		return err;
	err = check_supplier(feed);
	return err == ERR_NOT_FOUND
	    ? fail_no_supplier(feed->call, feed->call->params.fournisseur)
	    : err;
}

/* Where the next call goes on; nothing is older than the first entry. */
static void
add_next(struct jsonw *json, const struct feed *feed)
{
	char text[FEED_CURSOR_MAX];

	feed_cursor_text(text, &feed->at);
	if (feed->call->params.descending && !feed->cut) {
		jsonw_key(json, "suivant");
		jsonw_null(json);
	} else
		members_text(json, "suivant", span_of(text));
}

static enum err
add_meta(struct feed *feed)
{
	const struct params *params = &feed->call->params;
	struct jsonw *json = &feed->answer.json;
	enum err err;

	members_object(json, "meta");
	members_bool(json, "complet", !feed->cut);
	add_next(json, feed);
	err = feed_write_kept(
	    json, feed->view, feed->call->server->settings->trail_keep);
	members_names(json, "ignores", params->ignored, params->ignored_count);
	jsonw_object_end(json);
	return err;
}

/* The entries stand in the text as an array: a line for each. */
static enum err
send_lines(struct feed *feed, struct lines *lines)
{
	struct reply *reply = feed->call->reply;
	struct span entry, rest = jsonw_inside(buf_span(feed->answer.json.buf));
	enum err err =
	    lines_begin(lines, feed->format, reply, feed_columns, FEED_COLUMNS);

	if (err == ERR_OK && feed->shown > STREAMED)
		reply_stream(reply, -1);
	while (err == ERR_OK && walk_item(&rest, &entry))
		err = lines_add(lines, entry);
	assert(err != ERR_OK || rest.len == 0);
	return err == ERR_OK ? lines_end(lines) : err;
}

static enum err
answer_lines(struct feed *feed)
{
	struct call *call = feed->call;
	struct buf *text = &call->serving->text;
	char cursor[FEED_CURSOR_MAX];
	struct lines lines = {0};
	enum err err;

	buf_clear(text);
	jsonw_init(&feed->answer.json, text);
	err = add_entries(feed);
	if (err == ERR_OK)
		err = jsonw_end(&feed->answer.json);
	if (err != ERR_OK)
		return err;
	feed_cursor_text(cursor, &feed->at);
	if (!call->params.descending || feed->cut)
		reply_header_text(call->reply, "X-Suivant", span_of(cursor));
	reply_header_text(call->reply, "X-Has-More",
	    feed->cut ? SPAN("true") : SPAN("false"));
	err = send_lines(feed, &lines);
	lines_fini(&lines);
	return err;
}

static enum err
answer(struct feed *feed)
{
	enum err err;

	answer_begin(&feed->answer, feed->call);
	err = add_entries(feed);
	if (err == ERR_OK)
		err = add_meta(feed);
	return err == ERR_OK ? answer_end(&feed->answer) : err;
}

/* Oldest first, what is in an archive would be left out without a word. */
static enum err
find_gap(struct feed *feed)
{
	const struct params *params = &feed->call->params;
	const struct trail_wanted wanted = wanted_of(params);

	return params->descending
	    ? ERR_OK
	    : trail_gap(&feed->gap, feed->view, &wanted,
		  params->since.number + 1, !params->has_since);
}

/* The entry behind the cursor is in an archive. */
static enum err
refuse_gap(struct feed *feed)
{
	char since[DATE_TEXT_MAX];
	int64_t since_ms = date_now_ms();
	enum err err = trail_since(feed->view, &since_ms);

	if (err != ERR_OK && err != ERR_NOT_FOUND)
		return err;
	date_instant_text(since, since_ms);
	return reply_fail(feed->call->reply, 404, CODE_NOT_FOUND,
	    "The entries of the trail from %llu on are in an archive. Ask the "
	    "operator for them, or begin again without depuis, with du=%s.",
	    (unsigned long long)feed->gap, since);
}

/* An entry that is away, in an archive, and whose successor is here. */
static bool
is_before_all(const struct feed *feed, const struct feed_cursor *since)
{
	struct audit_entry next;

	return trail_get(feed->view, since->number + 1, &next) == ERR_OK &&
	    next.when_ms >= since->when_ms;
}

/*
 * The cursor's entry must be the one that was read, or the last one of those in an
 * archive; and the one behind it must be here, so that nothing is missed: else 404.
 */
static enum err
check_since(struct feed *feed)
{
	const struct feed_cursor *since = &feed->call->params.since;
	struct audit_entry entry = {.when_ms = 0};
	enum err err = ERR_OK;
	bool other;

	if (!feed->call->params.has_since)
		return ERR_OK;
	feed->at = *since;
	if (since->number > 0)
		err = trail_get(feed->view, since->number, &entry);
	if (err == ERR_NOT_FOUND && is_before_all(feed, since))
		return ERR_OK;
	other = err == ERR_OK && entry.when_ms != since->when_ms;
	if ((err == ERR_OK || err == ERR_NOT_FOUND) && !other &&
	    feed->gap == since->number + 1)
		return refuse_gap(feed);
	if (err == ERR_NOT_FOUND || other)
		return reply_fail(feed->call->reply, 404, CODE_NOT_FOUND,
		    "The trail has no entry %llu of that time: it comes from a "
		    "backup, or the cursor from elsewhere. Begin again without "
		    "depuis.",
		    (unsigned long long)since->number);
	return feed_count(feed->call, err);
}

enum err
ep_propositions(struct call *call)
{
	struct feed feed = {.call = call,
	    .view = call->serving->views.state,
	    .format = negotiate_format(call)};
	uint64_t tag[2];
	enum err err = trail_last(feed.view, &feed.last);

	assert(call->subject.kind != SUBJECT_NOBODY);
	if (call->params.fournisseur.len > 0 &&
	    !call_sees(call, call->params.fournisseur))
		return fail_no_supplier(call, call->params.fournisseur);
	feed.limit =
	    call->params.limit == 0 ? PAGING_LIMIT : call->params.limit;
	if (feed.limit > SHOWN_MAX)
		feed.limit = SHOWN_MAX;
	if (err == ERR_OK)
		err = find_gap(&feed);
	if (err == ERR_OK)
		err = check_since(&feed);
	if (err != ERR_OK)
		return err;
	tag[0] = feed.last;
	tag[1] = feed.gap;
	negotiate_headers(
	    call, feed.format, "propositions", call->params.fournisseur);
	if (etag_matches(call, tag, 2, feed.format))
		return ERR_ANSWERED;
	return feed.format == FORMAT_JSON ? answer(&feed) : answer_lines(&feed);
}
