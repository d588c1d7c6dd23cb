/*
 * GET /nomenclatures: a level of the classification with its counts, as it was
 * worked out when the supplier was computed. It never computes.
 */
#include <assert.h>
#include <stdio.h>

#include "common/members.h"
#include "fcgi/endpoints/answer.h"
#include "fcgi/endpoints/endpoint.h"
#include "fcgi/rows/etag.h"
#include "fcgi/rows/paging.h"
#include "fcgi/rows/ensure.h"
#include "fcgi/rows/snapview.h"
#include "fcgi/http/format.h"

static void
class_code(char text[8], const struct snap_class *class, int64_t level)
{
	snprintf(text, 8, "%0*u", (int)level * 2, class->code);
}

static void
add_class(struct jsonw *json, const struct snapshot_classes *classes,
    const struct snap_class *class, int64_t level)
{
	char code[8];

	class_code(code, class, level);
	jsonw_object_begin(json);
	members_text(json, "code", span_of(code));
	members_null_text(
	    json, "libelle", snapshot_class_label(classes, class));
	members_int(json, "nbArticles", class->articles);
	members_micro(json, "totalCa", class->ca);
	members_micro(json, "totalQuantite", class->qte);
	jsonw_object_end(json);
}

static void
add_meta(struct jsonw *json, const struct call *call, struct snapshot *snap,
    const struct snapshot_classes *classes, const struct paging *pages,
    int64_t shown)
{
	const struct params *params = &call->params;
	static const char *const filters[] = {"code1", "code2", "code3"};

	members_object(json, "meta");
	paging_meta(json, call, pages, shown, PAGING_HOW_LIST);
	members_int(json, "niveau", params->niveau);
	members_text(json, "filtreGrid", span_of(filters[params->niveau - 1]));
	members_null_text(json, "parent", params->parent);
	members_int(json, "total", pages->total);
	members_int(json, "sansNomenclature", classes->without);
	members_text(json, "codeFournisseur", snapshot_supplier(snap));
	members_null_text(json, "nomFournisseur", snapshot_name(snap));
	members_time(json, "computedAt", snapshot_head(snap)->computed_ms);
	members_day(json, "donneesAu", snapshot_head(snap)->as_of_day);
	members_names(json, "ignores", params->ignored, params->ignored_count);
	jsonw_object_end(json);
}

/* By code, the entries below a parent follow one another. */
static void
find_classes(uint32_t *first, uint32_t *count,
    const struct snapshot_classes *classes, const struct params *params)
{
	char code[8];

	*first = *count = 0;
	for (uint32_t i = 0; i < classes->count; i++) {
		class_code(code, &classes->class[i], params -> niveau);
		if (!span_starts(span_of(code), params->parent))
			continue;
		if ((*count)++ == 0)
			*first = i;
	}
}

static enum err
send(struct call *call, struct snapview *view)
{
	struct snapshot *snap = view->pinned->snap;
	const struct params *params = &call->params;
	const uint64_t tag[] = {snapshot_head(snap)->generation};
	int64_t limit = params->limit == 0 ? PAGING_LIMIT : params->limit;
	struct snapshot_classes classes;
	struct answer answer;
	struct paging pages;
	uint32_t found, total;
	int64_t first, shown;

	reply_header(call->reply, "Content-Type", "application/json");
	if (etag_matches(call, tag, 1, FORMAT_JSON))
		return ERR_ANSWERED;
	if (!snapshot_classes(snap, (unsigned)params->niveau, &classes))
		return ERR_DAMAGED;
	find_classes(&found, &total, &classes, params);
	pages = paging_of(params->page, limit, total);
	shown = paging_rows(&first, &pages);
	paging_headers(call, &pages, FORMAT_JSON);
	answer_begin(&answer, call);
	jsonw_array_begin(&answer.json);
	for (int64_t i = first; i < first + shown; i++)
		add_class(&answer.json, &classes, &classes.class[found + i],
		    params -> niveau);
	jsonw_array_end(&answer.json);
	add_meta(&answer.json, call, snap, &classes, &pages, shown);
	return answer_end(&answer);
}

enum err
ep_nomenclatures(struct call *call)
{
	struct snapview view;
	bool computed;
	/* An absent snapshot is a 202: this endpoint does not compute. */
	enum err err = ensure_snapshot(
	    &view, call, call->params.fournisseur, 0, false, &computed);

	assert(call->params.niveau >= 1 && call->params.niveau <= 3);
	assert(call->subject.kind != SUBJECT_NOBODY);
	if (err != ERR_OK)
		return err;
	return snapview_close(&view, call, send(call, &view));
}
