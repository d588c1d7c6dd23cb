/*
 * tool_lists: list_suppliers and classification.
 */
#include <inttypes.h>

#include "common/members.h"
#include "fcgi/mcp/asking.h"
#include "fcgi/mcp/grid_tools.h"
#include "fcgi/mcp/tell.h"

static void
give_page(struct asking *asking)
{
	if (asking_has(asking, "limit"))
		asking_give(asking, "limit", "limit");
	else
		asking_pair(asking, SPAN("limit"), SPAN("50"));
	asking_give(asking, "page", "page");
}

/* "total" and "more" of a list whose meta has them. */
static void
tell_list(
    struct asking *asking, const char *name, const char *one, const char *many)
{
	struct jsonw *json = &asking->json;
	int64_t total = 0;
	unsigned count;

	jval_int(jval_member(asking->meta, "total"), &total);
	members_int(json, "total", total);
	members_bool(json, "more",
	    jval_type(jval_member(asking->meta, "complet")) == JFALSE);
	count = tell_rows(asking, name);
	tell_end(asking, "%u of %" PRId64 " %s.%s", count, total,
	    total == 1 ? one : many, tell_rest(asking, count));
}

void
tool_suppliers(struct asking *asking)
{
	asking_begin(asking, "/fournisseurs");
	asking_give(asking, "search", "search");
	asking_give(asking, "with_data", "withData");
	give_page(asking);
	if (!asking_get(asking))
		return;
	tell_begin(asking);
	tell_list(asking, "suppliers", "supplier", "suppliers");
}

void
tool_classification(struct asking *asking)
{
	asking_begin(asking, "/nomenclatures");
	asking_give(asking, "supplier", "fournisseur");
	asking_give(asking, "level", "niveau");
	asking_give(asking, "parent", "parent");
	give_page(asking);
	if (!asking_get(asking))
		return;
	tell_begin(asking);
	tell_member(&asking->json, "supplier", asking->meta, "codeFournisseur");
	tell_member(&asking->json, "data_until", asking->meta, "donneesAu");
	tell_member(&asking->json, "level", asking->meta, "niveau");
	tell_member(&asking->json, "filter", asking->meta, "filtreGrid");
	tell_list(asking, "classes", "class", "classes");
}
