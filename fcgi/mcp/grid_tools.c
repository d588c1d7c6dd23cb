#include "fcgi/mcp/grid_tools.h"

#include <stddef.h>

/* --- pieces of output schemas --------------------------------------------- */

#define STRINGS "{\"type\":\"array\",\"items\":{\"type\":\"string\"}}"
#define MEMBER(name, type) "\"" name "\":{\"type\":\"" type "\"}"
#define TEXT_OR_NULL(name) "\"" name "\":{\"description\":\"text, or null\"}"
#define LIST(name, members) \
	"\"" name "\":{\"type\":\"array\",\"items\":{\"type\":\"object\"," \
	"\"properties\":{" members "}}}"
#define OBJECT(members, required) \
	"{\"type\":\"object\",\"properties\":{" members \
	"},\"required\":[" required "]}"
/* Of tell_rows() and tell_pages(). */
#define ROWS MEMBER("returned", "integer") "," MEMBER("cut", "boolean")
#define PAGES \
	MEMBER("total", "integer") \
	"," MEMBER("page", "integer") "," MEMBER("more", "boolean")
#define OF_SUPPLIER TEXT_OR_NULL("supplier") "," TEXT_OR_NULL("data_until")

/* --- arguments that several tools have ------------------------------------ */

#define SUPPLIER \
	{ \
		.name = "supplier", .type = TOOL_STRING, .min = 1, .max = 64, \
		.help = "Supplier code, as list_suppliers gives it." \
	}
#define SUPPLIER_NEEDED \
	{ \
		.name = "supplier", .type = TOOL_STRING, .required = true, \
		.min = 1, .max = 64, \
		.help = "Supplier code, as list_suppliers gives it." \
	}
#define FILTERS \
	{ \
		.name = "filters", .type = TOOL_STRINGS, .max = 24, \
		.item_max = 4000, \
		.help = \
		    "Conditions that must all hold, each " \
		    "COLUMN=OPERATOR.VALUE: \"stockActuel=gt.0\", " \
		    "\"marque=in.(Duvel,Leffe)\", \"libelle1=like.*bio*\", " \
		    "\"derniereVente=lt.2025-10-01\", \"code1=eq.10\", " \
		    "\"gtin=is.null\", \"codeGamme=not.in.(A,B)\". " \
		    "describe_columns lists columns and operators." \
	}
#define PAGE \
	{ \
		.name = "page", .type = TOOL_INT, .min = 1, .max = 1000000, \
		.help = "Page, from 1.", .fallback = "1" \
	}
#define LIMIT(most, usual) \
	{ \
		.name = "limit", .type = TOOL_INT, .min = 1, .max = (most), \
		.help = "Most entries to return.", .fallback = (usual) \
	}
#define END \
	{ \
		.name = NULL \
	}

static const char *const gammes[] = {"A", "B", "C", "Y", "Z", NULL};

static const struct tool_field supplier_fields[] = {
    {.name = "search",
	.type = TOOL_STRING,
	.max = 200,
	.help = "Words in the code or name."},
    {.name = "with_data",
	.type = TOOL_BOOL,
	.help = "Only suppliers whose rows are computed.",
	.fallback = "false"},
    LIMIT(100, "50"), PAGE, END};

static const struct tool_field column_fields[] = {
    {.name = "columns",
	.type = TOOL_STRINGS,
	.max = 76,
	.item_max = 64,
	.help = "Only these columns. Omit for all."},
    {.name = "supplier",
	.type = TOOL_STRING,
	.min = 1,
	.max = 64,
	.help = "Also tell the least and greatest value of each number and "
		"date at this supplier."},
    END};

static const struct tool_field class_fields[] = {SUPPLIER_NEEDED,
    {.name = "level",
	.type = TOOL_INT,
	.min = 1,
	.max = 3,
	.help = "1 universe, 2 family, 3 sub-family.",
	.fallback = "1"},
    {.name = "parent",
	.type = TOOL_STRING,
	.max = 6,
	.help = "Only what lies below this class: 2 or 4 digits."},
    LIMIT(100, "50"), PAGE, END};

static const struct tool_field row_fields[] = {SUPPLIER,
    {.name = "search",
	.type = TOOL_STRING,
	.max = 120,
	.help = "Words in label, codein, GTIN, reference or central code. "
		"Without a supplier the search goes across all."},
    FILTERS,
    {.name = "fields",
	.type = TOOL_STRINGS,
	.max = 76,
	.item_max = 64,
	.help = "Columns to return; without it a dozen that matter most. "
		"Fewer columns leave room for more rows."},
    {.name = "sort",
	.type = TOOL_STRINGS,
	.max = 4,
	.item_max = 64,
	.help = "Columns to sort by; a - before the name descends: "
		"[\"-totalCa\"]. Empty values come last."},
    LIMIT(GRID_TOOL_ROWS, "20"), PAGE, END};

static const struct tool_field aggregate_fields[] = {SUPPLIER_NEEDED,
    {.name = "search",
	.type = TOOL_STRING,
	.max = 120,
	.help = "Only rows with these words, as query_rows looks for them."},
    FILTERS,
    {.name = "groups",
	.type = TOOL_STRINGS,
	.max = 3,
	.item_max = 64,
	.help = "What to group by: code1, code2, code3, marque, codeGamme, "
		"trend, mois, magasin. Omit for one sum over all rows."},
    {.name = "values",
	.type = TOOL_STRINGS,
	.max = 8,
	.item_max = 64,
	.help = "Columns to sum; with mois or magasin one or more of "
		"sales12m, stock12m, receptions12m, and by mois sales12mN1: "
		"the same month a year before. Default: totalCa, "
		"totalQuantite, totalMarge."},
    {.name = "ascending",
	.type = TOOL_BOOL,
	.help = "Groups with the smallest sum of the first value first.",
	.fallback = "false"},
    LIMIT(100, "50"), PAGE, END};

static const struct tool_field product_fields[] = {{.name = "codein",
						       .type = TOOL_STRING,
						       .required = true,
						       .min = 1,
						       .max = 64,
						       .help = "Article code."},
    {.name = "supplier",
	.type = TOOL_STRING,
	.min = 1,
	.max = 64,
	.help = "Supplier code, where several list the article; without it "
		"the one that sells most."},
    {.name = "fields",
	.type = TOOL_STRINGS,
	.max = 76,
	.item_max = 64,
	.help = "Columns to return, maps such as sales12m too; without it "
		"all that are no maps."},
    END};

static const struct tool_field propose_fields[] = {SUPPLIER_NEEDED,
    {.name = "codeins",
	.type = TOOL_STRINGS,
	.required = true,
	.min = 1,
	.max = 500,
	.unique = true,
	.item_max = 64,
	.help = "Article codes, all of this supplier. All or nothing: one "
		"unknown code, and nothing is proposed."},
    {.name = "gamme",
	.type = TOOL_STRING,
	.required = true,
	.choices = gammes,
	.help =
	    "The range to propose for each of them. For an article that has "
	    "this range on record, a proposal that waits is withdrawn."},
    {.name = "motif",
	.type = TOOL_STRING,
	.max = 500,
	.help = "Why, one line: the person who decides reads it."},
    END};

static const struct tool_field status_fields[] = {SUPPLIER,
    {.name = "codein",
	.type = TOOL_STRING,
	.min = 1,
	.max = 64,
	.help = "Only this article."},
    {.name = "author",
	.type = TOOL_STRING,
	.max = 64,
	.help = "Only proposals of this key or user, by name."},
    {.name = "states",
	.type = TOOL_STRINGS,
	.max = 6,
	.item_max = 20,
	.help = "proposee, validee, rejetee, retiree, modifiee, arrivee."},
    {.name = "from",
	.type = TOOL_STRING,
	.max = 40,
	.help = "Entries of that moment or later: RFC 3339, or a day."},
    {.name = "until",
	.type = TOOL_STRING,
	.max = 40,
	.help = "Entries before that moment."},
    {.name = "cursor",
	.type = TOOL_STRING,
	.max = 64,
	.help = "Where to go on: cursor of the answer before."},
    LIMIT(100, "50"), END};

#define READS .read_only = true, .idempotent = true

const struct grid_tool grid_tools[] = {
    {.shown = {.name = "list_suppliers",
	 .title = "List suppliers",
	 .description =
	     "List the suppliers by code: name, number of rows, and whether "
	     "they are computed. Call this first, for the codes.",
	 READS,
	 .fields = supplier_fields,
	 .output_schema =
	     OBJECT(PAGES "," ROWS "," LIST("suppliers",
			MEMBER("code", "string") "," TEXT_OR_NULL(
			    "nom") "," MEMBER("hasSnapshot",
			    "boolean") "," MEMBER("rowCount", "integer")),
		 "\"total\",\"more\",\"suppliers\"")},
	.act = tool_suppliers},
    {.shown = {.name = "describe_columns",
	 .title = "Describe columns",
	 .description =
	     "Return what each column of a row means: its type, unit and "
	     "meaning, the values it may have, and how a filter names it; with "
	     "a supplier also the least and greatest value there.",
	 READS,
	 .fields = column_fields,
	 .output_schema = OBJECT(
	     LIST("columns",
		 MEMBER("name", "string") "," MEMBER("type",
		     "string") "," MEMBER("unit", "string") "," MEMBER("label",
		     "string") "," MEMBER("meaning",
		     "string") "," MEMBER("nullable",
		     "boolean") ",\"values\":" STRINGS "," MEMBER("filter_as",
		     "string")) "," LIST("operators",
		 MEMBER("filter", "string") "," MEMBER(
		     "meaning", "string") "," MEMBER("texts_only", "boolean")),
	     "\"columns\",\"operators\"")},
	.act = tool_columns},
    {.shown = {.name = "classification",
	 .title = "Classification",
	 .description =
	     "List the classes of one supplier's articles at one level, with "
	     "their number of articles, turnover and quantity. The code "
	     "filters rows as code1, code2 or code3.",
	 READS,
	 .fields = class_fields,
	 .output_schema = OBJECT(
	     OF_SUPPLIER "," MEMBER("level", "integer") "," MEMBER("filter",
		 "string") "," MEMBER("total", "integer") "," MEMBER("more",
		 "boolean") "," ROWS "," LIST("classes",
		 MEMBER("code", "string") "," TEXT_OR_NULL(
		     "libelle") "," MEMBER("nbArticles",
		     "integer") "," MEMBER("totalCa",
		     "number") "," MEMBER("totalQuantite", "number")),
	     "\"level\",\"total\",\"more\",\"classes\"")},
	.act = tool_classification},
    {.shown = {.name = "query_rows",
	 .title = "Query rows",
	 .description =
	     "Return rows of one supplier's grid, or of all suppliers by "
	     "search words: filtered, sorted, at most 100. total is exact "
	     "whatever the limit; dump_url is the address of all these rows "
	     "as CSV, to be fetched with the same key.",
	 READS,
	 .fields = row_fields,
	 .output_schema = OBJECT(
	     OF_SUPPLIER "," PAGES "," ROWS "," LIST("rows",
		 MEMBER("codein", "string")) "," MEMBER("dump_url", "string"),
	     "\"total\",\"page\",\"more\",\"rows\",\"dump_url\"")},
	.act = tool_rows},
    {.shown = {.name = "aggregate",
	 .title = "Sums by groups",
	 .description =
	     "Return count, sum, min, max, mean and share of columns over one "
	     "supplier's rows that match, in all and by up to three keys, the "
	     "greatest sum first. Sums are exact. Ratios are not to be "
	     "summed: divide the sums.",
	 READS,
	 .fields = aggregate_fields,
	 .output_schema = OBJECT(
	     OF_SUPPLIER "," MEMBER("articles", "integer") "," MEMBER(
		 "totals", "object") "," PAGES "," ROWS "," LIST("groups",
		 MEMBER("articles", "integer") "," MEMBER("valeurs", "object")),
	     "\"articles\",\"totals\",\"total\",\"more\",\"groups\"")},
	.act = tool_aggregate},
    {.shown = {.name = "get_product",
	 .title = "Get one article",
	 .description =
	     "Return one article's row, and the suppliers that list it.",
	 READS,
	 .fields = product_fields,
	 .output_schema =
	     OBJECT(MEMBER("product", "object") ",\"suppliers\":" STRINGS
						"," TEXT_OR_NULL("data_until"),
		 "\"product\",\"suppliers\"")},
	.act = tool_product},
    {.shown = {.name = "propose_ranges",
	 .title = "Propose ranges",
	 .description =
	     "Propose a range for articles of one supplier. It changes no "
	     "range: a person decides on each proposal in the Grid screen. A "
	     "newer proposal takes the place of one that waits. Needs a key "
	     "of scope propose.",
	 .idempotent = true,
	 .fields = propose_fields,
	 .output_schema = OBJECT(
	     MEMBER("supplier", "string") "," MEMBER(
		 "asked", "integer") "," MEMBER("waiting",
		 "integer") "," MEMBER("recorded_at",
		 "string") "," MEMBER("decided",
		 "boolean") "," ROWS "," LIST("articles",
		 MEMBER("codein", "string") "," MEMBER("gamme",
		     "string") "," TEXT_OR_NULL("gammePrecedente") "," MEMBER("modifie",
		     "boolean") "," MEMBER("statut", "string")),
	     "\"asked\",\"waiting\",\"decided\",\"articles\"")},
	.act = tool_propose},
    {.shown = {.name = "proposal_status",
	 .title = "What became of proposals",
	 .description =
	     "Return what was proposed and what a person decided, the newest "
	     "first: proposee waits, validee is accepted, rejetee is refused, "
	     "modifiee is a person's own range, retiree was withdrawn, "
	     "arrivee stands in the central database.",
	 READS,
	 .fields = status_fields,
	 .output_schema = OBJECT(
	     MEMBER("more", "boolean") "," TEXT_OR_NULL(
		 "cursor") "," ROWS "," LIST("entries",
		 MEMBER("numero", "integer") "," MEMBER(
		     "etat", "string") "," MEMBER("codeFournisseur",
		     "string") "," MEMBER("codein",
		     "string") "," TEXT_OR_NULL("gamme") "," TEXT_OR_NULL("moti"
									  "f") "," TEXT_OR_NULL("decideePar")),
	     "\"more\",\"entries\"")},
	.act = tool_status},
};

const unsigned grid_tool_count = sizeof(grid_tools) / sizeof(grid_tools[0]);
