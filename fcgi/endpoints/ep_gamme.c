/*
 * PUT /products/{codein}/gamme and POST /gammes: ranges proposed. The way:
 *
 *	body -> the supplier's snapshot, computed if need be -> are all of them
 *	its articles? -> one transaction -> what came of each
 *
 * A node that does not keep the supplier (rows/holder.h) asks its facts instead: a
 * write is passed on where the last import does not come, or nothing can be stored.
 */
#include <assert.h>
#include <stdio.h>

#include "common/arena.h"
#include "fcgi/auth.h"
#include "fcgi/endpoints/answer.h"
#include "fcgi/endpoints/body.h"
#include "fcgi/endpoints/endpoint.h"
#include "fcgi/endpoints/known.h"
#include "fcgi/endpoints/listed.h"
#include "fcgi/fail.h"
#include "fcgi/http/members.h"
#include "fcgi/rows/ensure.h"
#include "fcgi/rows/holder.h"
#include "fcgi/rows/snapview.h"
#include "lmdb-schema/codemap.h"
#include "lmdb-schema/key.h"
#include "lmdb-schema/snapshot/catalog.h"
#include "lmdb-schema/state/proposal.h"

#define CHANGES_MAX 10000

struct submission {
	struct call *call;
	struct jsonr *doc;
	struct span supplier; /* empty on PUT: the one that lists it */
	struct proposal_change *changes;
	struct proposal_result *results;
	unsigned count;
	bool compute, computed;
	int64_t when_ms;
};

static enum err
check_scope(struct call *call)
{
	if (call->subject.may_propose)
		return ERR_OK;
	return reply_fail(call->reply, 403, CODE_FORBIDDEN,
	    "This key may only read: proposing a range needs one of scope "
	    "propose.");
}

static enum err
make_room(struct submission *submission, size_t count)
{
	struct arena *arena = submission->call->serving->arena;

	submission->count = (unsigned)count;
	count += count == 0;
	submission->changes =
	    arena_array(arena, count, sizeof(*submission->changes));
	submission->results =
	    arena_array(arena, count, sizeof(*submission->results));
	return submission->changes == NULL || submission->results == NULL
	    ? ERR_NO_MEMORY
	    : ERR_OK;
}

/* --- before --------------------------------------------------------------- */

static enum err
find(const struct known *known, struct span codein, bool in_order,
    uint32_t *place)
{
	uint32_t row;

	return known->snap != NULL && in_order
	    ? snapshot_find_next(known->snap, codein, place, &row)
	    : known_find(known, codein);
}

/* Each unknown article once, in the order of the request. */
static enum err
find_unknown(struct submission *submission, const struct known *known,
    struct codemap *unknown)
{
	bool in_order =
	    proposal_in_order(submission->changes, submission->count);
	uint32_t number, place = 0;
	enum err err = ERR_OK;

	for (unsigned i = 0; i < submission->count && err == ERR_OK; i++) {
		struct span codein = submission->changes[i].codein;

		err = find(known, codein, in_order, &place);
		if (err != ERR_NOT_FOUND)
			continue;
		err = codemap_add(unknown, codein, &number);
		err = err == ERR_EXISTS ? ERR_OK : err;
	}
	return err;
}

/* Why; with what to do where an import has brought some of them since. */
static void
say_unknown(struct buf *why, const struct submission *submission,
    const struct codemap *unknown)
{
	unsigned count =
	    listed_count(submission->call, submission->supplier, unknown);
	char what[32], text[LISTED_TEXT_MAX];

	buf_add_span(why,
	    span_of(reply_words(submission->call->reply,
		"This supplier does not have every one of these articles: "
		"details.inconnus names those it has not. Nothing was "
		"proposed.")));
	if (count == 0)
		return;
	snprintf(what, sizeof(what),
	    reply_words(submission->call->reply, " %u of them"), count);
	buf_add_span(why,
	    listed_not_yet(
		text, submission->call->reply, what, submission->supplier));
}

static enum err
tell_unknown(struct submission *submission, const struct codemap *unknown)
{
	struct buf why;
	struct jsonw json;
	enum err err;

	buf_init(&why, 2 * LISTED_TEXT_MAX);
	say_unknown(&why, submission, unknown);
	fail_begin(&json, submission->call);
	jsonw_key(&json, "inconnus");
	jsonw_array_begin(&json);
	for (uint32_t i = 0; i < codemap_count(unknown); i++)
		jsonw_string(&json, codemap_code(unknown, i));
	jsonw_array_end(&json);
	err = buf_end(&why);
	if (err == ERR_OK)
		err = fail_end(&json, submission->call, 404, CODE_NOT_FOUND,
		    buf_span(&why));
	buf_fini(&why);
	return err;
}

static enum err
check_known(struct submission *submission, const struct known *known)
{
	struct codemap *unknown = codemap_new();
	enum err err = ERR_NO_MEMORY;

	if (unknown != NULL)
		err = find_unknown(submission, known, unknown);
	if (err == ERR_OK && codemap_count(unknown) > 0)
		err = tell_unknown(submission, unknown);
	codemap_free(unknown);
	return err;
}

/* A computation may take minutes: the key may have been revoked since. */
static enum err
check_again(struct call *call)
{
	enum err err = auth_subject(call);

	if (err == ERR_DENIED)
		return auth_refuse(call);
	return err == ERR_OK ? check_scope(call) : err;
}

/* --- submission ------------------------------------------------------------ */

static enum err
deposit(struct submission *submission)
{
	struct call *call = submission->call;
	struct proposal_request request = {submission->supplier,
	    call->subject.name, submission->changes, submission->count};
	enum err err = proposal_deposit(call->server->store, &request,
	    submission->results, &submission->when_ms);

	if (err == ERR_OK || holder_pass_write(call, err) == ERR_ANSWERED)
		return err == ERR_OK ? ERR_OK : ERR_ANSWERED;
	return fail_write(call, err);
}

static void
write_result(
    struct answer *answer, const struct submission *submission, unsigned i)
{
	const struct proposal_change *change = &submission->changes[i];
	const struct proposal_result *result = &submission->results[i];

	members_text(&answer->json, "codein", change->codein);
	members_gamme(&answer->json, "gamme", change->gamme);
	members_gamme(&answer->json, "gammePrecedente", result->before);
	members_gamme(&answer->json, "codeGammeServeur", result->server);
	members_bool(&answer->json, "modifie", result->pending);
	members_text(&answer->json, "statut",
	    result->pending ? SPAN("a_valider") : SPAN("inchangee"));
}

static enum err
answer_one(struct submission *submission, struct span name)
{
	struct answer answer;

	answer_begin_unkept(&answer, submission->call);
	jsonw_object_begin(&answer.json);
	write_result(&answer, submission, 0);
	members_text(&answer.json, "codeFournisseur", submission->supplier);
	members_null_text(&answer.json, "nomFournisseur", name);
	jsonw_object_end(&answer.json);
	members_object(&answer.json, "meta");
	members_time(&answer.json, "enregistreLe", submission->when_ms);
	members_bool(&answer.json, "computedOnDemand", submission->computed);
	jsonw_object_end(&answer.json);
	return answer_end(&answer);
}

static enum err
answer_many(struct submission *submission, struct span name)
{
	struct answer answer;
	unsigned changed = 0;

	answer_begin_unkept(&answer, submission->call);
	jsonw_array_begin(&answer.json);
	for (unsigned i = 0; i < submission->count; i++) {
		changed += submission->results[i].pending;
		jsonw_object_begin(&answer.json);
		write_result(&answer, submission, i);
		jsonw_object_end(&answer.json);
	}
	jsonw_array_end(&answer.json);
	members_object(&answer.json, "meta");
	members_text(&answer.json, "codeFournisseur", submission->supplier);
	members_null_text(&answer.json, "nomFournisseur", name);
	members_int(&answer.json, "demandes", submission->count);
	members_int(&answer.json, "modifies", changed);
	members_int(&answer.json, "aValider", changed);
	members_time(&answer.json, "enregistreLe", submission->when_ms);
	members_bool(&answer.json, "computedOnDemand", submission->computed);
	jsonw_object_end(&answer.json);
	return answer_end(&answer);
}

typedef enum err (*tell_function)(
    struct submission *submission, struct span name);

static enum err
propose_for(struct submission *submission, const struct known *known,
    tell_function tell)
{
	enum err err = check_known(submission, known);

	if (err == ERR_OK)
		err = deposit(submission);
	return err == ERR_OK ? tell(submission, known->name) : err;
}

static enum err
propose_by_facts(struct submission *submission, tell_function tell)
{
	struct known known;
	enum err err =
	    known_open(&known, submission->call, submission->supplier);

	if (err == ERR_OK)
		err = propose_for(submission, &known, tell);
	known_close(&known);
	return err;
}

static enum err
propose(struct submission *submission, tell_function tell)
{
	struct call *call = submission->call;
	struct known known;
	struct snapview view;
	bool here;
	enum err err = holder_is_here(&here, call, submission->supplier);

	if (err == ERR_OK && !here)
		return propose_by_facts(submission, tell);
	if (err == ERR_OK)
		err = ensure_snapshot(&view, call, submission->supplier, 0,
		    submission->compute, &submission->computed);
	if (err != ERR_OK)
		return err;
	if (submission->computed)
		err = check_again(call);
	if (err != ERR_OK) {
		snapview_drop(&view, call, ERR_OK);
		return err;
	}
	known_by_snapshot(&known, view.pinned->snap);
	return snapview_close(
	    &view, call, propose_for(submission, &known, tell));
}

/* --- PUT ------------------------------------------------------------------ */

static void
read_one(struct submission *submission, const struct jsonr_value *root)
{
	static const char *const names[] = {
	    "gamme", "fournisseur", "compute", "motif"};
	const struct jsonr_value *supplier = jsonr_member(root, "fournisseur");
	struct jsonr *doc = submission->doc;

	jsonr_only(doc, root, "", names, 4);
	body_gamme(doc, &submission->changes[0].gamme,
	    jsonr_member(root, "gamme"), "gamme", false);
	if (jsonr_type(supplier) != JSONR_ABSENT)
		body_code(doc, &submission->supplier, supplier, "fournisseur");
	body_flag(doc, &submission->compute, root, "compute");
	body_motif(doc, &submission->changes[0].motif, root, "motif");
}

static enum err
ask_which(struct call *call, const struct listed *listed, struct span why)
{
	struct jsonw json;

	fail_begin(&json, call);
	listed_write(&json, listed);
	return fail_end(&json, call, 400, CODE_BAD_REQUEST, why);
}

/* Minutes of computing are not begun for a supplier that nobody named. */
static enum err
take_computed(struct submission *submission, const struct listed *listed)
{
	struct call *call = submission->call;
	struct catalog_entry entry;
	bool here;
	enum err err = holder_is_here(&here, call, listed->codes[0]);

	if (err == ERR_OK && here)
		err = catalog_get(
		    call->serving->views.catalog, listed->codes[0], &entry);
	if (err == ERR_OK)
		submission->supplier = listed->codes[0];
	else if (err == ERR_NOT_FOUND)
		return ask_which(call, listed,
		    SPAN("This article was never computed: name the supplier "
			 "of details.fournisseurs in fournisseur."));
	return err;
}

/* The supplier that was not named: the one that lists the article. */
static enum err
find_supplier(struct submission *submission)
{
	struct call *call = submission->call;
	struct listed *listed;
	enum err err = holder_pass_import(call);

	if (err == ERR_OK)
		err = listed_find(&listed, call);
	if (err != ERR_OK)
		return err;
	if (listed->count == 0)
		return reply_fail(call->reply, 404, CODE_NOT_FOUND,
		    "No supplier lists this article.");
	if (listed->count > 1)
		return ask_which(call, listed,
		    SPAN("Several suppliers list this article: name one of "
			 "details.fournisseurs in fournisseur."));
	return take_computed(submission, listed);
}

enum err
ep_put_gamme(struct call *call)
{
	struct submission submission = {.call = call, .compute = true};
	enum err err = check_scope(call);

	assert(call->subject.kind != SUBJECT_NOBODY);
	if (err == ERR_OK)
		err = make_room(&submission, 1);
	if (err == ERR_OK)
		err = body_open(&submission.doc, call);
	if (err != ERR_OK)
		return err;
	read_one(&submission, jsonr_root(submission.doc));
	submission.changes[0].codein = call->path[0];
	err = body_check(call, submission.doc);
	if (err == ERR_OK && !key_code_ok(call->path[0]))
		err = reply_fail(call->reply, 404, CODE_NOT_FOUND,
		    "There is no such article.");
	if (err == ERR_OK && submission.supplier.len == 0)
		err = find_supplier(&submission);
	if (err == ERR_OK)
		err = propose(&submission, answer_one);
	jsonr_free(submission.doc);
	return err;
}

/* --- POST ----------------------------------------------------------------- */

/* False: something is wrong with it. */
static bool
take_change(struct proposal_change *change, const struct jsonr_value *value)
{
	const struct jsonr_value *codein = jsonr_member(value, "codein");
	const struct jsonr_value *gamme = jsonr_member(value, "gamme");
	const struct jsonr_value *motif = jsonr_member(value, "motif");
	bool reasoned = jsonr_type(motif) == JSONR_STRING;

	if (jsonr_type(codein) != JSONR_STRING ||
	    jsonr_type(gamme) != JSONR_STRING ||
	    jsonr_count(value) != 2u + reasoned)
		return false;
	change->motif = reasoned ? jsonr_as_string(motif) : SPAN("");
	change->codein = jsonr_as_string(codein);
	change->gamme = row_gamme(jsonr_as_string(gamme));
	return key_code_ok(change->codein) && change->gamme != ROW_GAMME_NONE &&
	    change->gamme != ROW_GAMME_BAD && proposal_motif_ok(change->motif);
}

/* Says what is wrong with it, and where. */
static void
note_change(
    struct submission *submission, const struct jsonr_value *value, unsigned i)
{
	static const char *const names[] = {"codein", "gamme", "motif"};
	struct proposal_change *change = &submission->changes[i];
	struct jsonr *doc = submission->doc;
	char path[64];

	snprintf(path, sizeof(path), "changes[%u]", i);
	if (!jsonr_want_object(doc, value, path))
		return;
	jsonr_only(doc, value, path, names, 3);
	snprintf(path, sizeof(path), "changes[%u].codein", i);
	body_code(doc, &change->codein, jsonr_member(value, "codein"), path);
	snprintf(path, sizeof(path), "changes[%u].gamme", i);
	body_gamme(
	    doc, &change->gamme, jsonr_member(value, "gamme"), path, false);
	snprintf(path, sizeof(path), "changes[%u].motif", i);
	body_motif(doc, &change->motif, value, path);
}

static enum err
note_clash(void *context, unsigned first, unsigned again)
{
	struct submission *submission = context;
	const struct proposal_change *changes = submission->changes;
	char path[64];

	snprintf(path, sizeof(path), "changes[%u].gamme", again);
	jsonr_issue(submission->doc, path,
	    "proposes %.*s for article %.*s, but changes[%u] proposes %.*s",
	    SPAN_ARG(row_gamme_text(changes[again].gamme)),
	    SPAN_ARG(changes[again].codein), first,
	    SPAN_ARG(row_gamme_text(changes[first].gamme)));
	return ERR_OK;
}

/* Issues are noted in the document, and no failure. */
static enum err
read_many(struct submission *submission, const struct jsonr_value *root)
{
	static const char *const names[] = {
	    "fournisseur", "changes", "compute"};
	const struct jsonr_value *changes = jsonr_member(root, "changes");
	struct jsonr *doc = submission->doc;
	enum err err;

	jsonr_only(doc, root, "", names, 3);
	body_code(doc, &submission->supplier, jsonr_member(root, "fournisseur"),
	    "fournisseur");
	body_flag(doc, &submission->compute, root, "compute");
	err = make_room(
	    submission, body_array(doc, changes, "changes", 1, CHANGES_MAX));
	if (err != ERR_OK)
		return err;
	for (unsigned i = 0; i < submission->count; i++) {
		const struct jsonr_value *change = jsonr_at(changes, i);

		if (!take_change(&submission->changes[i], change))
			note_change(submission, change, i);
	}
	if (jsonr_issues(doc) == 0)
		err = proposal_clashes(submission->changes, submission->count,
		    note_clash, submission);
	return err;
}

enum err
ep_post_gammes(struct call *call)
{
	struct submission submission = {.call = call, .compute = true};
	enum err err = check_scope(call);

	assert(call->subject.kind != SUBJECT_NOBODY);
	if (err == ERR_OK)
		err = body_open(&submission.doc, call);
	if (err != ERR_OK)
		return err;
	err = read_many(&submission, jsonr_root(submission.doc));
	if (err == ERR_OK)
		err = body_check(call, submission.doc);
	if (err == ERR_OK)
		err = propose(&submission, answer_many);
	jsonr_free(submission.doc);
	return err;
}
