/*
 * GET /nomenclatures: a level of the classification with its counts, as it was
 * worked out when the supplier was computed. It never computes.
 */
#include <stdio.h>

#include "common/num.h"
#include "fcgi/endpoints/endpoint.h"
#include "fcgi/http/members.h"
#include "fcgi/rows/etag.h"
#include "fcgi/rows/paging.h"
#include "fcgi/rows/ensure.h"
#include "fcgi/rows/snapview.h"
#include "fcgi/rows/splice.h"

static void
class_code(char text[8], const struct snap_class *class, int64_t level)
{
	snprintf(text, 8, "%0*u", (int)level * 2, class->code);
}

static void
add_class(struct iovbuf *body, const struct snapshot_classes *classes,
    const struct snap_class *class, int64_t level)
{
	char number[NUM_TEXT_MAX], code[8];

	class_code(code, class, level);
	iovbuf_text(body, "{\"code\":\"");
	iovbuf_add(body, span_of(code));
	iovbuf_text(body, "\"");
	members_null_text(
	    body, "libelle", snapshot_class_label(classes, class));
	members_int(body, "nbArticles", class->articles);
	iovbuf_text(body, ",\"totalCa\":");
	iovbuf_copy(body, number, num_decimal_text(number, class->ca));
	iovbuf_text(body, ",\"totalQuantite\":");
	iovbuf_copy(body, number, num_decimal_text(number, class->qte));
	iovbuf_text(body, "},");
}

static void
add_meta(struct call *call, struct snapshot *snap,
    const struct snapshot_classes *classes, const struct paging *pages,
    int64_t shown)
{
	static const char *const filters[] = {"code1", "code2", "code3"};
	const struct params *params = &call->params;
	struct iovbuf *body = &call->reply->body;

	iovbuf_text(body, ",\"meta\":{");
	paging_meta(body, pages, shown, PAGING_HOW_LIST);
	members_int(body, "niveau", params->niveau);
	members_text(body, "filtreGrid", span_of(filters[params->niveau - 1]));
	members_null_text(body, "parent", params->parent);
	members_int(body, "total", pages->total);
	members_int(body, "sansNomenclature", classes->without);
	members_text(body, "codeFournisseur", snapshot_supplier(snap));
	members_null_text(body, "nomFournisseur", snapshot_name(snap));
	members_time(body, "computedAt", snapshot_head(snap)->computed_ms);
	members_day(body, "donneesAu", snapshot_head(snap)->as_of_day);
	members_names(body, "ignores", params->ignored, params->ignored_count);
	iovbuf_text(body, "}}");
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
	struct iovbuf *body = &call->reply->body;
	const uint64_t tag[] = {snapshot_head(snap)->generation};
	int64_t limit = params->limit == 0 ? PAGING_LIMIT : params->limit;
	struct snapshot_classes classes;
	struct paging pages;
	uint32_t found, total;
	int64_t first, shown;

	reply_header(call->reply, "Content-Type", "application/json");
	if (etag_matches(call, tag, 1, SPLICE_JSON))
		return ERR_ANSWERED;
	if (!snapshot_classes(snap, (unsigned)params->niveau, &classes))
		return ERR_DAMAGED;
	find_classes(&found, &total, &classes, params);
	pages = paging_of(params->page, limit, total);
	shown = paging_rows(&first, &pages);
	paging_headers(call, &pages, SPLICE_JSON);
	iovbuf_text(body, "{\"data\":[");
	for (int64_t i = first; i < first + shown; i++)
		add_class(body, &classes, &classes.class[found + i],
		    params -> niveau);
	if (shown > 0)
		iovbuf_drop_last(body);
	iovbuf_text(body, "]");
	add_meta(call, snap, &classes, &pages, shown);
	return ERR_OK;
}

enum err
ep_nomenclatures(struct call *call)
{
	struct snapview view;
	bool computed;
	/* It does not compute: an absent snapshot is a 202. */
	enum err err = ensure_snapshot(
	    &view, call, call->params.fournisseur, 0, false, &computed);

	if (err != ERR_OK)
		return err;
	return snapview_close(&view, call, send(call, &view));
}
