/*
 * /app/pending, /app/save, /app/cancel: what a buyer sees of the proposals,
 * and decides (docs/app-api.md). All that one call decides is one transaction.
 */
#include <assert.h>
#include <stdio.h>

#include "common/arena.h"
#include "fcgi/endpoints/answer.h"
#include "fcgi/endpoints/body.h"
#include "fcgi/endpoints/endpoint.h"
#include "fcgi/endpoints/known.h"
#include "fcgi/fail.h"
#include "fcgi/http/members.h"
#include "fcgi/rows/ensure.h"
#include "fcgi/rows/holder.h"
#include "fcgi/rows/snapview.h"
#include "lmdb-schema/codemap.h"
#include "lmdb-schema/key.h"
#include "lmdb-schema/state/proposal.h"
#include "lmdb-schema/state/state.h"

#define ITEMS_MAX 10000

static void
write_version(struct jsonw *json, struct call *call, struct span supplier)
{
	struct state_view *state = call->serving->views.state;
	char text[KEY_GENERATION_LEN + 1];

	key_generation_text(text, proposal_version(state, supplier));
	members_text(json, "version", span_of(text));
}

/* --- GET /app/pending ----------------------------------------------------- */

struct listing {
	struct answer answer;
	struct span supplier;
	int64_t total;
};

static enum err
add_pending(void *context, struct span codein, const struct proposal *proposal)
{
	struct listing *listing = context;
	struct answer *answer = &listing->answer;
	struct serving *serving = answer->call->serving;
	uint8_t server, recorded;
	enum err err = proposal_recorded(serving->views.state,
	    serving->views.live, listing->supplier, codein, &server, &recorded);

	if (err != ERR_OK)
		return err;
	listing->total++;
	jsonw_object_begin(&answer->json);
	members_text(&answer->json, "codein", codein);
	members_gamme(&answer->json, "gamme", proposal->gamme);
	members_gamme(&answer->json, "codeGamme", recorded);
	members_gamme(&answer->json, "codeGammeServeur", server);
	members_text(&answer->json, "author", proposal->author);
	members_time(&answer->json, "at", proposal->when_ms);
	members_null_text(&answer->json, "motif", proposal->motif);
	jsonw_object_end(&answer->json);
	return ERR_OK;
}

enum err
ep_pending(struct call *call)
{
	struct listing listing = {.supplier = call->params.fournisseur};
	struct answer *answer = &listing.answer;
	enum err err, ended;

	assert(call->subject.kind == SUBJECT_USER);
	answer_begin_unkept(answer, call);
	jsonw_array_begin(&answer->json);
	err = proposal_pending(call->serving->views.state, listing.supplier,
	    add_pending, &listing);
	jsonw_array_end(&answer->json);
	members_object(&answer->json, "meta");
	members_text(&answer->json, "codeFournisseur", listing.supplier);
	members_int(&answer->json, "total", listing.total);
	write_version(&answer->json, call, listing.supplier);
	jsonw_object_end(&answer->json);
	ended = answer_end(answer);
	return err == ERR_OK ? ended : err;
}

/* --- what a buyer decides ------------------------------------------------- */

struct deciding {
	struct call *call;
	struct jsonr *doc;
	enum proposal_action action; /* of the proposals */
	struct proposal_verdict verdict;
	struct proposal_decision *decisions;
	struct proposal_decided *decided;
	struct codemap *named;
	unsigned edits; /* the last ones */
	bool all;
	uint64_t rest;
};

/* The range that the user saw; PROPOSAL_ANY where the body does not say. */
static uint8_t
read_seen(struct deciding *deciding, const struct jsonr_value *item,
    const char *list, unsigned i, const char *name)
{
	const struct jsonr_value *value = jsonr_member(item, name);
	char path[64];
	uint8_t gamme;

	if (jsonr_type(value) == JSONR_ABSENT)
		return PROPOSAL_ANY;
	snprintf(path, sizeof(path), "%s[%u].%s", list, i, name);
	body_gamme(deciding->doc, &gamme, value, path, true);
	return gamme;
}

static void
read_codein(struct deciding *deciding, struct proposal_decision *decision,
    const struct jsonr_value *item, const char *list, unsigned i)
{
	uint32_t number;
	char path[64];

	snprintf(path, sizeof(path), "%s[%u].codein", list, i);
	if (!body_code(deciding->doc, &decision->codein,
		jsonr_member(item, "codein"), path))
		return;
	if (codemap_add(deciding->named, decision->codein, &number) ==
	    ERR_EXISTS)
		jsonr_issue(deciding->doc, path,
		    "names article %.*s, which is named already",
		    SPAN_ARG(decision->codein));
}

static void
read_proposal(struct deciding *deciding, const struct jsonr_value *item,
    unsigned i, struct proposal_decision *decision)
{
	static const char *const names[] = {"codein", "gamme", "codeGamme"};
	char path[64];

	snprintf(path, sizeof(path), "proposals[%u]", i);
	if (!jsonr_want_object(deciding->doc, item, path))
		return;
	jsonr_only(deciding->doc, item, path, names, 3);
	decision->action = deciding->action;
	read_codein(deciding, decision, item, "proposals", i);
	snprintf(path, sizeof(path), "proposals[%u].gamme", i);
	body_gamme(deciding->doc, &decision->seen_pending,
	    jsonr_member(item, "gamme"), path, false);
	decision->seen_recorded =
	    read_seen(deciding, item, "proposals", i, "codeGamme");
}

static void
read_edit(struct deciding *deciding, const struct jsonr_value *item, unsigned i,
    struct proposal_decision *decision)
{
	static const char *const names[] = {
	    "codein", "gamme", "codeGamme", "gammeAValider"};
	char path[64];

	snprintf(path, sizeof(path), "edits[%u]", i);
	if (!jsonr_want_object(deciding->doc, item, path))
		return;
	jsonr_only(deciding->doc, item, path, names, 4);
	decision->action = PROPOSAL_EDIT;
	read_codein(deciding, decision, item, "edits", i);
	snprintf(path, sizeof(path), "edits[%u].gamme", i);
	body_gamme(deciding->doc, &decision->gamme, jsonr_member(item, "gamme"),
	    path, true);
	decision->seen_recorded =
	    read_seen(deciding, item, "edits", i, "codeGamme");
	decision->seen_pending =
	    read_seen(deciding, item, "edits", i, "gammeAValider");
}

/* `all` goes by the version that the user saw. */
static void
read_all(struct deciding *deciding, const struct jsonr_value *root)
{
	const struct jsonr_value *value = jsonr_member(root, "version");
	struct span text;

	body_flag(deciding->doc, &deciding->all, root, "all");
	if (deciding->all)
		deciding->verdict.rest = deciding->action == PROPOSAL_SAVE
		    ? PROPOSAL_SAVE_REST
		    : PROPOSAL_CANCEL_REST;
	if (!deciding->all && jsonr_type(value) == JSONR_ABSENT)
		return;
	if (jsonr_want_string(deciding->doc, &text, value, "version") &&
	    !key_generation(&deciding->verdict.seen_version, text))
		jsonr_issue(deciding->doc, "version",
		    "must be meta.version of /app/pending");
}

static unsigned
count_items(
    struct deciding *deciding, const struct jsonr_value *root, const char *name)
{
	const struct jsonr_value *list = jsonr_member(root, name);

	if (jsonr_type(list) == JSONR_ABSENT)
		return 0;
	return (unsigned)body_array(deciding->doc, list, name, 0, ITEMS_MAX);
}

static enum err
make_room(struct deciding *deciding, unsigned count)
{
	struct arena *arena = deciding->call->serving->arena;

	deciding->decisions =
	    arena_array(arena, count + 1, sizeof(*deciding->decisions));
	deciding->decided =
	    arena_array(arena, count + 1, sizeof(*deciding->decided));
	deciding->named = codemap_new();
	return deciding->decisions == NULL || deciding->decided == NULL ||
		deciding->named == NULL
	    ? ERR_NO_MEMORY
	    : ERR_OK;
}

static enum err
read_body(struct deciding *deciding)
{
	static const char *const names[] = {
	    "fournisseur", "proposals", "all", "version", "edits"};
	const struct jsonr_value *root = jsonr_root(deciding->doc);
	struct jsonr *doc = deciding->doc;
	bool save = deciding->action == PROPOSAL_SAVE;
	unsigned proposals = count_items(deciding, root, "proposals");
	unsigned edits = save ? count_items(deciding, root, "edits") : 0;
	enum err err = make_room(deciding, proposals + edits);

	if (err != ERR_OK)
		return err;
	jsonr_only(doc, root, "", names, save ? 5 : 4);
	body_code(doc, &deciding->verdict.supplier,
	    jsonr_member(root, "fournisseur"), "fournisseur");
	read_all(deciding, root);
	for (unsigned i = 0; i < proposals; i++)
		read_proposal(deciding,
		    jsonr_at(jsonr_member(root, "proposals"), i), i,
		    &deciding->decisions[i]);
	for (unsigned i = 0; i < edits; i++)
		read_edit(deciding, jsonr_at(jsonr_member(root, "edits"), i), i,
		    &deciding->decisions[proposals + i]);
	deciding->edits = edits;
	deciding->verdict.count = proposals + edits;
	deciding->verdict.decisions = deciding->decisions;
	if (proposals + edits == 0 && !deciding->all && jsonr_issues(doc) == 0)
		jsonr_issue(doc, "",
		    save ? "names nothing to do: proposals, all or edits"
			 : "names nothing to do: proposals, all");
	return ERR_OK;
}

static enum err
tell_unknown(struct deciding *deciding, const struct known *known)
{
	struct call *call = deciding->call;
	const struct proposal_verdict *verdict = &deciding->verdict;
	struct jsonw json;
	unsigned unknown = 0;
	enum err err = ERR_OK;

	fail_begin(&json, call);
	jsonw_key(&json, "inconnus");
	jsonw_array_begin(&json);
	for (unsigned i = verdict->count - deciding->edits;
	     i < verdict->count && err == ERR_OK; i++) {
		struct span codein = deciding->decisions[i].codein;

		err = known_find(known, codein);
		if (err != ERR_NOT_FOUND)
			continue;
		err = ERR_OK;
		unknown++;
		jsonw_string(&json, codein);
	}
	jsonw_array_end(&json);
	if (err == ERR_OK && unknown > 0)
		return fail_end(&json, call, 404, CODE_NOT_FOUND,
		    SPAN("This supplier does not have every one of these "
			 "articles: see details.inconnus. Nothing was saved."));
	return err;
}

static enum err
check_by_facts(struct deciding *deciding)
{
	struct known known;
	enum err err =
	    known_open(&known, deciding->call, deciding->verdict.supplier);

	if (err == ERR_OK)
		err = tell_unknown(deciding, &known);
	known_close(&known);
	return err;
}

/*
 * A user's own range needs an article that the supplier has. A node that does not
 * keep the supplier (rows/holder.h) asks its facts.
 */
static enum err
check_known(struct deciding *deciding)
{
	struct call *call = deciding->call;
	struct span supplier = deciding->verdict.supplier;
	struct snapview view;
	struct known known;
	bool here = true, computed;
	enum err err = ERR_OK;

	if (deciding->edits == 0)
		return ERR_OK;
	err = holder_is_here(&here, call, supplier);
	if (err == ERR_OK && !here)
		return check_by_facts(deciding);
	if (err == ERR_OK)
		err =
		    ensure_snapshot(&view, call, supplier, 0, false, &computed);
	if (err != ERR_OK)
		return err;
	known_by_snapshot(&known, view.pinned->snap);
	return snapview_close(&view, call, tell_unknown(deciding, &known));
}

/* Not everybody decides for every supplier. */
static enum err
check_rights(struct deciding *deciding)
{
	struct call *call = deciding->call;
	struct span supplier = deciding->verdict.supplier;

	if (rights_decide(&call->subject.rights, supplier))
		return ERR_OK;
	return reply_fail(call->reply, 403, CODE_FORBIDDEN,
	    "This user decides for some suppliers only, and %.*s is none of "
	    "them; GET /app/session lists them. Nothing was done.",
	    SPAN_ARG(supplier));
}

/* --- what came of it ------------------------------------------------------ */

/* The author and time of a range, unless it has changed again since. */
static void
answer_who(struct answer *answer, const char *by, const char *at,
    const struct proposal *made, uint8_t gamme)
{
	if (made->gamme != gamme)
		return;
	members_text(&answer->json, by, made->author);
	members_time(&answer->json, at, made->when_ms);
}

/* A buyer whose wish was not met wants to know who was faster, and when. */
static void
answer_others(struct deciding *deciding, struct answer *answer,
    struct span codein, const struct proposal_decided *decided)
{
	struct state_view *state = deciding->call->serving->views.state;
	struct span supplier = deciding->verdict.supplier;
	struct proposal made;

	if (proposal_validated_of(state, supplier, codein, &made) == ERR_OK)
		answer_who(
		    answer, "savedBy", "savedAt", &made, decided->recorded);
	if (proposal_pending_of(state, supplier, codein, &made) == ERR_OK)
		answer_who(answer, "proposedBy", "proposedAt", &made,
		    decided->pending);
}

static void
answer_one(struct deciding *deciding, struct answer *answer, unsigned i)
{
	static const struct span results[] = {
	    [PROPOSAL_APPLIED] = {"applied", 7},
	    [PROPOSAL_CONFLICT] = {"conflict", 8},
	    [PROPOSAL_ABSENT] = {"absent", 6},
	    [PROPOSAL_REFUSED] = {"refused", 7},
	};
	const struct proposal_decided *decided = &deciding->decided[i];
	struct span codein = deciding->decisions[i].codein;

	jsonw_object_begin(&answer->json);
	members_text(&answer->json, "codein", codein);
	members_text(&answer->json, "result", results[decided->outcome]);
	members_gamme(&answer->json, "codeGammeServeur", decided->server);
	members_gamme(&answer->json, "codeGamme", decided->recorded);
	members_gamme(&answer->json, "gammeAValider", decided->pending);
	if (decided->outcome != PROPOSAL_APPLIED)
		answer_others(deciding, answer, codein, decided);
	jsonw_object_end(&answer->json);
}

static enum err
answer_decided(struct deciding *deciding)
{
	unsigned counts[4] = {0, 0, 0, 0};
	struct answer answer;

	answer_begin_unkept(&answer, deciding->call);
	jsonw_array_begin(&answer.json);
	for (unsigned i = 0; i < deciding->verdict.count; i++) {
		counts[deciding->decided[i].outcome]++;
		answer_one(deciding, &answer, i);
	}
	jsonw_array_end(&answer.json);
	members_object(&answer.json, "meta");
	members_text(
	    &answer.json, "codeFournisseur", deciding->verdict.supplier);
	members_int(&answer.json, "demandes", deciding->verdict.count);
	members_int(&answer.json, "appliques", counts[PROPOSAL_APPLIED]);
	members_int(&answer.json, "conflits", counts[PROPOSAL_CONFLICT]);
	members_int(&answer.json, "reste", (int64_t)deciding->rest);
	write_version(&answer.json, deciding->call, deciding->verdict.supplier);
	jsonw_object_end(&answer.json);
	return answer_end(&answer);
}

static enum err
refuse_all(struct deciding *deciding)
{
	struct call *call = deciding->call;
	struct jsonw json;

	fail_begin(&json, call);
	write_version(&json, call, deciding->verdict.supplier);
	return fail_end(&json, call, 409, CODE_BAD_REQUEST,
	    SPAN("This supplier's ranges have changed since that version: "
		 "look again. Nothing was done."));
}

static enum err
decide(struct deciding *deciding)
{
	struct call *call = deciding->call;
	enum err err;

	deciding->verdict.actor = call->subject.name;
	err = proposal_decide(call->server->store, &deciding->verdict,
	    deciding->decided, &deciding->rest);
	if (err == ERR_OK || err == ERR_BUSY) {
		enum err renewed = state_view_renew(call->serving->views.state);

		err = renewed == ERR_OK ? err : renewed;
	}
	if (err == ERR_OK)
		return answer_decided(deciding);
	return err == ERR_BUSY ? refuse_all(deciding) : fail_write(call, err);
}

static enum err
run(struct call *call, enum proposal_action action)
{
	struct deciding deciding = {.call = call, .action = action};
	enum err err = body_open(&deciding.doc, call);

	assert(call->subject.kind == SUBJECT_USER);
	if (err != ERR_OK)
		return err;
	err = read_body(&deciding);
	if (err == ERR_OK)
		err = body_check(call, deciding.doc);
	if (err == ERR_OK)
		err = check_rights(&deciding);
	if (err == ERR_OK)
		err = check_known(&deciding);
	if (err == ERR_OK)
		err = decide(&deciding);
	codemap_free(deciding.named);
	jsonr_free(deciding.doc);
	return err;
}

enum err
ep_save(struct call *call)
{
	return run(call, PROPOSAL_SAVE);
}

enum err
ep_cancel(struct call *call)
{
	return run(call, PROPOSAL_CANCEL);
}
