/*
 * tool_rows: the tools about rows: query_rows, get_product, aggregate.
 */
#include <inttypes.h>
#include <stdio.h>

#include "common/members.h"
#include "common/num.h"
#include "fcgi/call.h"
#include "fcgi/endpoints/address.h"
#include "fcgi/mcp/asking.h"
#include "fcgi/mcp/grid_tools.h"
#include "fcgi/mcp/tell.h"
#include "lmdb-schema/row.h"

/* The columns that buyers look at first; a whole row has seventy. */
#define FIELDS \
	"codein,codeFournisseur,libelle1,marque,libelleCode3,codeGamme," \
	"gammeAValider,totalCa,totalQuantite,totalMarge,tauxMarge," \
	"stockActuel,couvertureJours,nbJoursDerniereVente"

static void
give_int(struct asking *asking, const char *name, int64_t value)
{
	char text[NUM_TEXT_MAX];

	asking_pair(
	    asking, span_of(name), span_make(text, num_int_text(text, value)));
}

/* The address of the same rows, all of them, as a file. */
static void
put_dump(struct asking *asking, struct span what)
{
	struct buf url;

	buf_init(&url, 1 << 20);
	address_of_site(&url, asking->agent->call);
	buf_add_span(&url, what);
	buf_add_text(&url, "&format=csv");
	if (buf_end(&url) == ERR_OK)
		members_text(&asking->json, "dump_url", buf_span(&url));
	buf_fini(&url);
}

/* --- query_rows ----------------------------------------------------------- */

#define PART_MAX 160

/* Of nodes that keep a part of the suppliers: "" where all were searched. */
static void
part_text(char text[PART_MAX], const struct asking *asking)
{
	int64_t absent = 0;

	text[0] = '\0';
	jval_int(jval_member(asking->meta, "sansSnapshot"), &absent);
	if (asking->agent->call->server->keeps_part && absent > 0)
		snprintf(text, PART_MAX,
		    " %" PRId64 " supplier%s not searched, without snapshot or "
		    "kept by nodes that do not answer.",
		    absent, absent == 1 ? " was" : "s were");
}

static void
tell_query(struct asking *asking, struct span what)
{
	struct jsonw *json = &asking->json;
	char part[PART_MAX];
	int64_t total = 0;
	unsigned count;

	jval_int(jval_member(asking->pages, "total"), &total);
	tell_begin(asking);
	tell_member(json, "supplier", asking->meta, "codeFournisseur");
	tell_member(json, "data_until", asking->meta, "donneesAu");
	tell_pages(asking);
	count = tell_rows(asking, "rows");
	put_dump(asking, what);
	part_text(part, asking);
	tell_end(asking, "%u of %" PRId64 " row%s.%s%s", count, total,
	    tell_s(total), tell_rest(asking, count), part);
}

void
tool_rows(struct asking *asking)
{
	bool across = !asking_has(asking, "supplier");
	size_t what;

	if (across && !asking_has(asking, "search")) {
		result_error(asking->result,
		    "Name a supplier (list_suppliers lists them), or give "
		    "search to look for words across all suppliers.");
		return;
	}
	asking_begin(asking, across ? "/products/search" : "/grid");
	asking_give(asking, "supplier", "fournisseur");
	asking_give(asking, "search", across ? "q" : "search");
	if (!asking_filters(asking))
		return;
	if (asking_has(asking, "sort")) {
		asking_give(asking, "sort", "sort");
		asking_pair(asking, SPAN("order"), SPAN("asc"));
	}
	if (asking_has(asking, "fields"))
		asking_give(asking, "fields", "fields");
	else
		asking_pair(asking, SPAN("fields"), SPAN(FIELDS));
	what = asking->uri.len;
	give_int(asking, "limit", asking_int(asking, "limit", 20));
	asking_pair(asking, SPAN("format"), SPAN("json"));
	asking_give(asking, "page", "page");
	if (!asking_get(asking))
		return;
	tell_query(asking, span_sub(buf_span(&asking->uri), 0, what));
}

/* --- get_product ---------------------------------------------------------- */

static void
give_scalars(struct asking *asking)
{
	struct buf names;

	buf_init(&names, 65536);
	for (unsigned i = 0; i < ROW_FLATS; i++) {
		if (i > 0)
			buf_add_char(&names, ',');
		buf_add_span(&names, row_info[i].name);
	}
	buf_fail(&asking->uri, buf_end(&names));
	asking_pair(asking, SPAN("fields"), buf_span(&names));
	buf_fini(&names);
}

void
tool_product(struct asking *asking)
{
	struct jsonw *json = &asking->json;
	size_t bytes;

	asking_begin(asking, "/products");
	asking_segment(asking, asking_text(asking, "codein"));
	asking_give(asking, "supplier", "fournisseur");
	if (asking_has(asking, "fields"))
		asking_give(asking, "fields", "fields");
	else
		give_scalars(asking);
	if (!asking_get(asking))
		return;
	bytes = jval_raw(asking->data).len;
	if (bytes > TELL_BYTES_MAX) {
		result_error(asking->result,
		    "This article has %zu bytes with these fields, %zu are the "
		    "most: name fewer, the maps by store one at a time.",
		    bytes, TELL_BYTES_MAX);
		return;
	}
	tell_begin(asking);
	tell_member(json, "product", jscan_root(&asking->doc), "data");
	tell_member(json, "suppliers", asking->meta, "fournisseurs");
	if (!jval_is_absent(jval_member(asking->meta, "autresNoeuds")))
		tell_member(json, "suppliers_not_compared", asking->meta,
		    "autresNoeuds");
	tell_member(json, "data_until", asking->meta, "donneesAu");
	tell_end(asking, "One article.");
}

/* --- aggregate ------------------------------------------------------------ */

void
tool_aggregate(struct asking *asking)
{
	struct jsonw *json = &asking->json;
	int64_t articles = 0;
	unsigned count;

	asking_begin(asking, "/grid/aggregates");
	asking_give(asking, "supplier", "fournisseur");
	asking_give(asking, "search", "search");
	if (!asking_filters(asking))
		return;
	asking_give(asking, "groups", "groups");
	asking_give(asking, "values", "values");
	asking_pair(asking, SPAN("order"),
	    jval_type(jval_member(asking->args, "ascending")) == JTRUE
		? SPAN("asc")
		: SPAN("desc"));
	give_int(asking, "limit", asking_int(asking, "limit", 50));
	asking_pair(asking, SPAN("format"), SPAN("json"));
	asking_give(asking, "page", "page");
	if (!asking_get(asking))
		return;
	jval_int(jval_member(asking->meta, "articles"), &articles);
	tell_begin(asking);
	tell_member(json, "supplier", asking->meta, "codeFournisseur");
	tell_member(json, "data_until", asking->meta, "donneesAu");
	tell_member(json, "articles", asking->meta, "articles");
	tell_member(json, "totals", asking->meta, "totaux");
	tell_pages(asking);
	count = tell_rows(asking, "groups");
	tell_end(asking, "%u group%s of %" PRId64 " article%s.%s", count,
	    tell_s(count), articles, tell_s(articles),
	    tell_rest(asking, count));
}
