/*
 * tool_ranges: propose_ranges and proposal_status.
 */
#include <inttypes.h>
#include <stdio.h>

#include "common/members.h"
#include "fcgi/mcp/asking.h"
#include "fcgi/mcp/grid_tools.h"
#include "fcgi/mcp/tell.h"

/* The body of POST /gammes: each article with the same range. */
static void
write_changes(struct asking *asking, struct jsonw *json)
{
	struct jwalk walk = jwalk_begin(jval_member(asking->args, "codeins"));
	struct jval none, codein;

	jsonw_object_begin(json);
	members_text(json, "fournisseur", asking_text(asking, "supplier"));
	jsonw_key(json, "changes");
	jsonw_array_begin(json);
	while (jwalk_next(&walk, &none, &codein)) {
		jsonw_object_begin(json);
		members_text(json, "codein", asking_string(asking, codein));
		members_text(json, "gamme", asking_text(asking, "gamme"));
		if (asking_has(asking, "motif"))
			members_text(
			    json, "motif", asking_text(asking, "motif"));
		jsonw_object_end(json);
	}
	jsonw_array_end(json);
	jsonw_object_end(json);
}

static void
tell_proposed(struct asking *asking)
{
	struct jsonw *json = &asking->json;
	int64_t waiting = 0, asked = 0;
	char same[160] = "";

	jval_int(jval_member(asking->meta, "demandes"), &asked);
	jval_int(jval_member(asking->meta, "aValider"), &waiting);
	if (waiting < asked)
		snprintf(same, sizeof(same),
		    " %" PRId64 " article%s %s this range on record: a "
		    "proposal that waited there is withdrawn.",
		    asked - waiting, tell_s(asked - waiting),
		    asked - waiting == 1 ? "has" : "have");
	tell_begin(asking);
	tell_member(json, "supplier", asking->meta, "codeFournisseur");
	tell_member(json, "asked", asking->meta, "demandes");
	tell_member(json, "waiting", asking->meta, "aValider");
	tell_member(json, "recorded_at", asking->meta, "enregistreLe");
	members_bool(json, "decided", false);
	tell_rows(asking, "articles");
	tell_end(asking,
	    "Proposed, not decided: %" PRId64
	    " proposal%s wait%s for a person in "
	    "the Grid screen, who may accept, change or reject %s; no range "
	    "has changed.%s proposal_status tells what became of proposals.",
	    waiting, tell_s(waiting), waiting == 1 ? "s" : "",
	    waiting == 1 ? "it" : "them", same);
}

void
tool_propose(struct asking *asking)
{
	struct jsonw json;
	struct buf body;

	buf_init(&body, (size_t)1 << 20);
	jsonw_init(&json, &body);
	asking_begin(asking, "/gammes");
	write_changes(asking, &json);
	buf_fail(&asking->uri, jsonw_end(&json));
	if (asking_send(asking, METHOD_POST, buf_span(&body)))
		tell_proposed(asking);
	buf_fini(&body);
}

void
tool_status(struct asking *asking)
{
	struct jsonw *json = &asking->json;
	unsigned count;

	asking_begin(asking, "/propositions");
	asking_give(asking, "supplier", "fournisseur");
	asking_give(asking, "codein", "codein");
	asking_give(asking, "author", "auteur");
	asking_give(asking, "states", "etat");
	asking_give(asking, "from", "du");
	asking_give(asking, "until", "au");
	asking_give(asking, "cursor", "depuis");
	if (asking_has(asking, "limit"))
		asking_give(asking, "limit", "limit");
	else
		asking_pair(asking, SPAN("limit"), SPAN("50"));
	asking_pair(asking, SPAN("format"), SPAN("json"));
	if (!asking_get(asking))
		return;
	tell_begin(asking);
	members_bool(json, "more",
	    jval_type(jval_member(asking->meta, "complet")) == JFALSE);
	tell_member(json, "cursor", asking->meta, "suivant");
	count = tell_rows(asking, "entries");
	tell_end(asking, "%u %s, the newest first.%s", count,
	    count == 1 ? "entry" : "entries",
	    count < jval_count(asking->data)
		? " The others did not fit: give a smaller limit."
		: jval_type(jval_member(asking->meta, "complet")) == JFALSE
		? " There are more: pass cursor on."
		: "");
}
