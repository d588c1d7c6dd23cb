#include "fcgi/openapi/openapi_schema.h"

#include <assert.h>
#include <stdio.h>

#include "common/members.h"
#include "common/count.h"
#include "common/num.h"
#include "lmdb-schema/row.h"
#include "lmdb-schema/state/proposal.h"

#define REQUIRED 1u
#define NULLABLE 2u

/* openapi.def, line by line; a line without a type begins a schema. */
static const struct line {
	const char *name, *type;
	unsigned flags;
	const char *example, *meaning;
} lines[] = {
#define SCHEMA(name, meaning) {name, NULL, 0, NULL, meaning},
#define FIELD(...) {__VA_ARGS__},
#include "fcgi/openapi/openapi.def"
#undef SCHEMA
#undef FIELD
};

#define LINES (sizeof(lines) / sizeof(lines[0]))

/* Schemas that are plain lists of column names. */
static const struct column_list {
	const char *name;
	unsigned count; /* the first so many columns */
	const char *meaning;
} column_lists[] = {
    {"SortKey", ROW_FLATS, "A column that rows can be sorted by"},
    {"Column", ROW_COLUMNS, "A column of a row"},
};

#define COLUMN_LISTS (sizeof(column_lists) / sizeof(column_lists[0]))

/* The types that are one word. */
static const struct word {
	const char *name, *type, *format, *values; /* values: by commas */
} words[] = {
    {"string", "string", NULL, NULL},
    {"integer", "integer", NULL, NULL},
    {"number", "number", NULL, NULL},
    {"boolean", "boolean", NULL, NULL},
    {"date", "string", "date", NULL},
    {"date-time", "string", "date-time", NULL},
    {"gamme", "string", NULL, "A,B,C,Y,Z"},
    {"filtre", "string", NULL, "code1,code2,code3"},
    {"direction", "string", NULL, "up,down,flat"},
    {"etat", "string", NULL,
	"proposee,validee,rejetee,retiree,modifiee,arrivee"},
    {"statut", "string", NULL, "a_valider,inchangee"},
    {"code", "string", NULL,
	"unauthorized,forbidden,bad_request,not_found,not_ready,"
	"internal_error"},
};

/* Maps of numbers: what their keys look like. */
static const struct map {
	const char *name, *keys;
} maps[] = {
    {"months", "^[0-9]{6}$"}, {"dashed", "^[0-9]{4}-[0-9]{2}$"},
    {"stores", NULL}, /* store code, then months */
};

void
openapi_ref(struct jsonw *json, const char *name)
{
	char path[96];

	assert(name != NULL && name[0] != '\0');
	snprintf(path, sizeof(path), "#/components/schemas/%s", name);
	jsonw_object_begin(json);
	members_string(json, "$ref", path);
	jsonw_object_end(json);
}

static void
type_member(struct jsonw *json, const char *type, bool nullable)
{
	jsonw_key(json, "type");
	if (!nullable) {
		jsonw_text(json, type);
		return;
	}
	jsonw_array_begin(json);
	jsonw_text(json, type);
	jsonw_text(json, "null");
	jsonw_array_end(json);
}

/*
 * Bodies as tools show them, and send them: a body of LookupBody that had an
 * example for each member would be refused.
 */
static const struct example {
	const char *schema, *json;
} body_examples[] = {
    {"LookupBody", "{\"codein\":[\"01000415\",\"99999999\"]}"},
    {"ProductReply",
	"{\"data\":{\"codein\":\"01000415\",\"libelle1\":\"Bière triple "
	"d'abbaye "
	"6x25 cl\",\"codeGamme\":\"B\",\"totalCa\":0},\"meta\":{"
	"\"fournisseurs\":[\"00042\",\"12345\",\"86607\",\"99633\"],"
	"\"computedAt\":\"2026-11-22T22:31:44.720Z\","
	"\"donneesAu\":\"2026-10-31\",\"ventesDepuis\":\"202411\","
	"\"computedOnDemand\":false}}"},
    {"GridReply",
	"{\"data\":[{\"codein\":\"01006576\",\"libelle1\":\"Faux-filet "
	"maturé(e) x4\",\"marque\":\"Terre d'Oc\","
	"\"gtin\":\"2400453388140\",\"codeGamme\":\"Y\","
	"\"gammeAValider\":null,\"totalCa\":698235.56,"
	"\"stockActuel\":1327.141,\"derniereVente\":\"2026-10-31\","
	"\"trend\":{\"direction\":\"up\",\"pct\":0.454082,"
	"\"label\":\"+45 %\",\"monthsUsed\":11},"
	"\"sales12m\":{\"202511\":1938.667,\"202512\":1502.447,"
	"\"202601\":1320.115,\"202602\":1467.598,\"202603\":1789.406,"
	"\"202604\":1534.264,\"202605\":1709.901,\"202606\":2287.745,"
	"\"202607\":1451.23,\"202608\":1347.837,\"202609\":2482.076,"
	"\"202610\":2042.573}}],\"pagination\":{\"page\":1,\"limit\":1,"
	"\"total\":2000,\"totalPages\":2000,\"hasMore\":true},"
	"\"meta\":{\"complet\":false,\"avertissement\":\"1 row of 2000: "
	"omit limit to get all rows in one call, or ask for the next "
	"pages.\",\"computedOnDemand\":false,"
	"\"snapshot\":\"000660e50ac4f080\","
	"\"computedAt\":\"2026-11-22T22:31:44.720Z\","
	"\"donneesAu\":\"2026-10-31\",\"ventesDepuis\":\"202411\","
	"\"codeFournisseur\":\"12345\","
	"\"nomFournisseur\":\"Moulins de l'Étang SA\"}}"},
};

void
openapi_example(struct jsonw *json, const char *schema)
{
	assert(schema != NULL);
	for (unsigned i = 0; i < COUNT(body_examples); i++)
		if (strcmp(body_examples[i].schema, schema) == 0) {
			jsonw_key(json, "example");
			jsonw_raw(json, span_of(body_examples[i].json));
		}
}

static void
enum_member(struct jsonw *json, const char *values, bool nullable)
{
	struct span value, rest = span_of(values);

	jsonw_key(json, "enum");
	jsonw_array_begin(json);
	while (span_cut(&value, &rest, ','))
		jsonw_string(json, value);
	if (nullable)
		jsonw_null(json);
	jsonw_array_end(json);
}

void
openapi_gamme_enum(struct jsonw *json, bool nullable)
{
	enum_member(json, "A,B,C,Y,Z", nullable);
}

static void
map_members(struct jsonw *json, const char *keys)
{
	if (keys != NULL) {
		jsonw_key(json, "propertyNames");
		jsonw_object_begin(json);
		members_string(json, "pattern", keys);
		jsonw_object_end(json);
	}
	jsonw_key(json, "additionalProperties");
	jsonw_object_begin(json);
	if (keys != NULL)
		type_member(json, "number", true);
	else {
		type_member(json, "object", false);
		map_members(json, maps[0].keys);
	}
	jsonw_object_end(json);
}

/* A reference that may be null too. */
static void
maybe_ref(struct jsonw *json, const char *name, bool nullable)
{
	char path[96];

	snprintf(path, sizeof(path), "#/components/schemas/%s", name);
	if (!nullable) {
		members_string(json, "$ref", path);
		return;
	}
	jsonw_key(json, "anyOf");
	jsonw_array_begin(json);
	openapi_ref(json, name);
	jsonw_object_begin(json);
	members_string(json, "type", "null");
	jsonw_object_end(json);
	jsonw_array_end(json);
}

/* "[1..10000]…" */
static bool
array_bounds(int64_t *least, int64_t *most, const char *type)
{
	const char *end = strchr(type, ']');
	struct span text = span_make(type + 1, (size_t)(end - type) - 1);
	size_t dot = span_find(text, '.');

	return num_int(least, span_sub(text, 0, dot), 0, INT64_MAX) &&
	    num_int(most, span_from(text, dot + 2), 0, INT64_MAX);
}

/* The members that say which type it is; the object is open. */
static void
type_members(struct jsonw *json, const char *type, bool nullable)
{
	if (type[0] == '#') {
		maybe_ref(json, type + 1, nullable);
		return;
	}
	if (type[0] == '{') {
		type_member(json, "object", nullable);
		jsonw_key(json, "additionalProperties");
		jsonw_object_begin(json);
		type_members(json, strchr(type, '}') + 1, false);
		jsonw_object_end(json);
		return;
	}
	if (type[0] == '[') {
		int64_t least, most;
		bool bounded = array_bounds(&least, &most, type);

		type_member(json, "array", nullable);
		if (bounded) {
			jsonw_key(json, "minItems");
			jsonw_int(json, least);
			jsonw_key(json, "maxItems");
			jsonw_int(json, most);
		}
		jsonw_key(json, "items");
		jsonw_object_begin(json);
		type_members(json, strchr(type, ']') + 1, false);
		jsonw_object_end(json);
		return;
	}
	if (strcmp(type, "motif") == 0) {
		type_member(json, "string", nullable);
		members_int(json, "maxLength", PROPOSAL_MOTIF_MAX);
		return;
	}
	for (unsigned i = 0; i < sizeof(words) / sizeof(words[0]); i++)
		if (strcmp(type, words[i].name) == 0) {
			type_member(json, words[i].type, nullable);
			if (words[i].format != NULL)
				members_string(json, "format", words[i].format);
			if (words[i].values != NULL)
				enum_member(json, words[i].values, nullable);
		}
	for (unsigned i = 0; i < sizeof(maps) / sizeof(maps[0]); i++)
		if (strcmp(type, maps[i].name) == 0) {
			type_member(json, "object", nullable);
			map_members(json, maps[i].keys);
		}
}

static void
write_field(struct jsonw *json, const struct line *line)
{
	jsonw_key(json, line->name);
	jsonw_object_begin(json);
	type_members(json, line->type, (line->flags & NULLABLE) != 0);
	if (line->meaning != NULL)
		members_string(json, "description", line->meaning);
	if (line->example != NULL) {
		jsonw_key(json, "examples");
		jsonw_array_begin(json);
		jsonw_raw(json, span_of(line->example));
		jsonw_array_end(json);
	}
	jsonw_object_end(json);
}

static void
write_required(struct jsonw *json, const struct line *line)
{
	jsonw_key(json, "required");
	jsonw_array_begin(json);
	for (; line < lines + LINES && line->type != NULL; line++)
		if ((line->flags & REQUIRED) != 0)
			jsonw_text(json, line->name);
	jsonw_array_end(json);
}

/* --- the row -------------------------------------------------------------- */

static const char *
column_type(unsigned column)
{
	static const char *const types[] = {[ROW_TEXT] = "string",
	    [ROW_GAMME] = "gamme",
	    [ROW_DECIMAL] = "number",
	    [ROW_INTEGER] = "integer",
	    [ROW_DATE] = "date"};
	static const char *const objects[ROW_COLUMNS] = {
	    [COL_network] = "#NetworkMetrics",
	    [COL_trend] = "#Trend",
	    [COL_qteReseauByMonth] = "dashed",
	    [COL_sales12mByStore] = "stores",
	    [COL_stock12mByStore] = "stores",
	    [COL_receptions12mByStore] = "stores"};

	if (row_info[column].type != ROW_OBJECT)
		return types[row_info[column].type];
	return objects[column] == NULL ? "months" : objects[column];
}

static void
write_column(struct jsonw *json, unsigned column)
{
	const struct row_info *info = &row_info[column];

	jsonw_key_span(json, info->name);
	jsonw_object_begin(json);
	type_members(
	    json, column_type(column), (info->flags & ROW_NEVER_NULL) == 0);
	members_string(json, "description", info->meaning);
	members_string(json, "x-label-fr", info->label_fr);
	members_string(json, "x-label-en", info->label_en);
	jsonw_key(json, "x-sortable");
	jsonw_bool(json, row_sortable(column));
	jsonw_object_end(json);
}

static void
write_columns(struct jsonw *json)
{
	jsonw_key(json, "required");
	jsonw_array_begin(json);
	jsonw_text(json, "codein");
	jsonw_array_end(json);
	jsonw_key(json, "properties");
	jsonw_object_begin(json);
	for (unsigned i = 0; i < ROW_COLUMNS; i++)
		write_column(json, i);
	jsonw_object_end(json);
}

/* --- which, and all of them ----------------------------------------------- */

static bool
is_row(const struct line *schema)
{
	return strcmp(schema->name, "Product") == 0;
}

/* Calls with each schema that `schema` refers to. */
static void
need_members(struct openapi_schemas *set, const struct line *schema)
{
	const struct line *line = schema + 1;

	if (is_row(schema)) {
		openapi_need(set, "NetworkMetrics");
		openapi_need(set, "Trend");
	}
	for (; line < lines + LINES && line->type != NULL; line++) {
		const char *mark = strchr(line->type, '#');

		if (mark != NULL)
			openapi_need(set, mark + 1);
	}
}

void
openapi_need(struct openapi_schemas *set, const char *name)
{
	unsigned place = COLUMN_LISTS;

	assert(name != NULL);
	for (unsigned i = 0; i < COLUMN_LISTS; i++)
		if (strcmp(name, column_lists[i].name) == 0)
			set->bits |= UINT64_C(1) << i;
	for (const struct line *line = lines; line < lines + LINES; line++) {
		if (line->type != NULL)
			continue;
		assert(place < 64); /* a bit each: see openapi_schemas */
		if (strcmp(name, line->name) == 0 &&
		    (set->bits >> place & 1) == 0) {
			set->bits |= UINT64_C(1) << place;
			need_members(set, line);
		}
		place++;
	}
}

static void
write_column_list(struct jsonw *json, const struct column_list *list)
{
	jsonw_key(json, list->name);
	jsonw_object_begin(json);
	members_string(json, "type", "string");
	members_string(json, "description", list->meaning);
	jsonw_key(json, "enum");
	jsonw_array_begin(json);
	for (unsigned i = 0; i < list->count; i++)
		jsonw_string(json, row_info[i].name);
	jsonw_array_end(json);
	jsonw_object_end(json);
}

static void
write_schema(struct jsonw *json, const struct line *schema)
{
	const struct line *line = schema + 1;

	jsonw_key(json, schema->name);
	jsonw_object_begin(json);
	members_string(json, "type", "object");
	members_string(json, "description", schema->meaning);
	if (is_row(schema))
		write_columns(json);
	else {
		write_required(json, line);
		jsonw_key(json, "properties");
		jsonw_object_begin(json);
		for (; line < lines + LINES && line->type != NULL; line++)
			write_field(json, line);
		jsonw_object_end(json);
	}
	jsonw_object_end(json);
}

void
openapi_write_schemas(struct jsonw *json, struct openapi_schemas set)
{
	unsigned place = COLUMN_LISTS;

	for (unsigned i = 0; i < COLUMN_LISTS; i++)
		if ((set.bits >> i & 1) != 0)
			write_column_list(json, &column_lists[i]);
	for (const struct line *line = lines; line < lines + LINES; line++)
		if (line->type == NULL && (set.bits >> place++ & 1) != 0)
			write_schema(json, line);
}
