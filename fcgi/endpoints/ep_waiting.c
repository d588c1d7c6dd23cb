/*
 * GET /app/waiting: at which suppliers proposals wait: how many, the oldest,
 * and whose. The articles themselves: /app/pending.
 */
#include <assert.h>
#include <stdint.h>

#include "common/members.h"
#include "fcgi/call.h"
#include "fcgi/endpoints/answer.h"
#include "fcgi/endpoints/endpoint.h"
#include "lmdb-schema/state/proposal.h"

#define AUTHORS_MAX 8 /* told of a supplier; there are a few keys */

struct waiting {
	struct answer answer;
	int64_t suppliers, total;
	/* of the supplier at hand */
	int64_t oldest_ms;
	struct span authors[AUTHORS_MAX];
	unsigned author_count;
};

static enum err
look_at(void *context, struct span codein, const struct proposal *proposal)
{
	struct waiting *waiting = context;

	(void)codein;
	if (proposal->when_ms < waiting->oldest_ms)
		waiting->oldest_ms = proposal->when_ms;
	for (unsigned i = 0; i < waiting->author_count; i++)
		if (span_eq(waiting->authors[i], proposal->author))
			return ERR_OK;
	if (waiting->author_count < AUTHORS_MAX)
		waiting->authors[waiting->author_count++] = proposal->author;
	return ERR_OK;
}

static enum err
add_supplier(
    void *context, struct span supplier, const struct proposal_counts *counts)
{
	struct waiting *waiting = context;
	struct answer *answer = &waiting->answer;
	enum err err;

	if (counts->pending == 0)
		return ERR_OK;
	waiting->oldest_ms = INT64_MAX;
	waiting->author_count = 0;
	err = proposal_pending(
	    answer->call->serving->views.state, supplier, look_at, waiting);
	if (err != ERR_OK)
		return err;
	waiting->suppliers++;
	waiting->total += (int64_t)counts->pending;
	jsonw_object_begin(&answer->json);
	members_text(&answer->json, "codeFournisseur", supplier);
	members_int(&answer->json, "propositions", (int64_t)counts->pending);
	members_time(&answer->json, "oldest", waiting->oldest_ms);
	jsonw_key(&answer->json, "authors");
	jsonw_array_begin(&answer->json);
	for (unsigned i = 0; i < waiting->author_count; i++)
		jsonw_string(&answer->json, waiting->authors[i]);
	jsonw_array_end(&answer->json);
	jsonw_object_end(&answer->json);
	return ERR_OK;
}

enum err
ep_waiting(struct call *call)
{
	struct waiting waiting = {.total = 0};
	struct jsonw *json = &waiting.answer.json;
	enum err err;

	assert(call->subject.kind == SUBJECT_USER);
	answer_begin_unkept(&waiting.answer, call);
	jsonw_array_begin(json);
	err = proposal_suppliers(
	    call->serving->views.state, add_supplier, &waiting);
	if (err != ERR_OK)
		return err;
	jsonw_array_end(json);
	members_object(json, "meta");
	members_int(json, "total", waiting.suppliers);
	members_int(json, "propositions", waiting.total);
	jsonw_object_end(json);
	return answer_end(&waiting.answer);
}
