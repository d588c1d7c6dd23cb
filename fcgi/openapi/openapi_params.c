#include "fcgi/openapi/openapi_params.h"

#include <assert.h>
#include <stdio.h>
#include <string.h>

#include "common/buf.h"
#include "common/count.h"
#include "common/members.h"
#include "fcgi/http/condition.h"
#include "fcgi/http/format.h"
#include "fcgi/openapi/openapi_schema.h"
#include "fcgi/route.h"

#define TEXT_MAX 8192

/*
 * Examples: of the demo data, whatever its size. A tool that tries an operation
 * out sends those of `shown`, which therefore fit together and give a short
 * answer; the others stand in the description.
 */
static const struct example {
	const char *name, *value;
	bool shown;
} examples[] = {
    {"codein", "01000415", true},
    {"codeCentrale", "100002000059", true},
    {"fournisseur", "12345", true},
    {"search", "bière", false},
    {"q", "biere triple", true},
    {"withData", "1", false},
    {"aValider", "1", false},
    {"niveau", "2", false},
    {"parent", "30", false},
    {"gamme", "A,B", false},
    {"code1", "30", false},
    {"code2", "3020", false},
    {"code3", "302010", false},
    {"nomenclature", "3020", false},
    {"compute", "0", false},
    {"snapshot", "00064d2b8c0ffee0", false},
    {"sort", "codeGamme,-totalCa", false},
    {"order", "asc", false},
    {"enrich", "0", false},
    {"strict", "1", false},
    {"format", "csv-fr", false},
    {"mois", "lignes", false},
    {"groups", "marque,codeGamme", false},
    {"values", "totalCa,stockActuel", false},
    {"auteur", "nightly", false},
    {"etat", "validee,rejetee", false},
    {"du", "2026-11-20", false},
    {"au", "2026-11-21T10:33:42Z", false},
    {"depuis", "1207-1795343622096", false},
};

static const struct path_param {
	const char *name, *pattern, *meaning;
} path_params[] = {
    {"codein", NULL, "Internal article identifier"},
    {"codeCentrale", "^10000[0-9]+$", "Central code: 10000 followed by digits"},
};

static const struct example *
example_of(const char *name)
{
	for (unsigned i = 0; i < COUNT(examples); i++)
		if (strcmp(examples[i].name, name) == 0)
			return &examples[i];
	return NULL;
}

static void
example_member(struct jsonw *json, const char *name)
{
	const struct example *example = example_of(name);

	if (example != NULL && example->shown)
		members_string(json, "example", example->value);
}

/* The meaning; with an example where no tool is to send it. */
static void
describe(struct jsonw *json, const struct param_info *info)
{
	/* Two parameters are called depuis: one of them is a generation. */
	const struct example *example = example_of(
	    info->type == PARAM_GENERATION ? "snapshot" : info->name);
	char text[TEXT_MAX];

	snprintf(text, sizeof(text), "%s%s%s%s", info->meaning,
	    info->type == PARAM_CLASS ? "; or a condition" : "",
	    example == NULL || example->shown ? "" : "; for example ",
	    example == NULL || example->shown ? "" : example->value);
	members_string(json, "description", text);
}

#define PATTERN_MAX 256

/* "^(not\\.)?(eq|neq|...)\\." in `pattern`, which it returns. */
static const char *
condition_pattern(char pattern[PATTERN_MAX])
{
	size_t len = (size_t)snprintf(pattern, PATTERN_MAX, "^(not\\.)?(");

	for (unsigned i = 0; i < condition_count; i++)
		len += (size_t)snprintf(pattern + len, PATTERN_MAX - len,
		    "%s%s", i == 0 ? "" : "|", condition_infos[i].name);
	snprintf(pattern + len, PATTERN_MAX - len, ")\\.");
	return pattern;
}

/* A range, or several by commas, or a condition on codeGamme. */
static void
gamme_schema(struct jsonw *json)
{
	char pattern[TEXT_MAX], condition[PATTERN_MAX];

	jsonw_key(json, "anyOf");
	jsonw_array_begin(json);
	jsonw_object_begin(json);
	members_string(json, "type", "string");
	openapi_gamme_enum(json, false);
	jsonw_object_end(json);
	jsonw_object_begin(json);
	members_string(json, "type", "string");
	snprintf(pattern, sizeof(pattern), "^[ABCYZ](,[ABCYZ])+$|%s",
	    condition_pattern(condition));
	members_string(json, "pattern", pattern);
	jsonw_object_end(json);
	jsonw_array_end(json);
}

static void
digits_schema(struct jsonw *json, const struct param_info *info)
{
	char pattern[TEXT_MAX], condition[PATTERN_MAX];

	if (info->min == info->max)
		snprintf(pattern, sizeof(pattern), "^[0-9]{%lld}$",
		    (long long)info->min);
	else
		snprintf(pattern, sizeof(pattern),
		    "^[0-9]{2}([0-9]{2}([0-9]{2})?)?$");
	if (condition_is_name(span_of(info->name))) {
		size_t len = strlen(pattern);

		snprintf(pattern + len, sizeof(pattern) - len, "|%s",
		    condition_pattern(condition));
	}
	members_string(json, "type", "string");
	members_string(json, "pattern", pattern);
}

static void
text_schema(struct jsonw *json, const struct param_info *info)
{
	members_string(json, "type", "string");
	if (info->min > 0) {
		jsonw_key(json, "minLength");
		jsonw_int(json, info->min);
	}
	jsonw_key(json, "maxLength");
	jsonw_int(json, info->max);
}

static void
int_schema(struct jsonw *json, const struct param_info *info)
{
	members_string(json, "type", "integer");
	jsonw_key(json, "minimum");
	jsonw_int(json, info->min);
	if (info->max != INT64_MAX) {
		jsonw_key(json, "maximum");
		jsonw_int(json, info->max);
	}
	if (info->fallback != NULL) {
		jsonw_key(json, "default");
		jsonw_raw(json, span_of(info->fallback));
	}
}

static void
choice_schema(struct jsonw *json, const char *a, const char *b)
{
	members_string(json, "type", "string");
	jsonw_key(json, "enum");
	jsonw_array_begin(json);
	jsonw_text(json, a);
	jsonw_text(json, b);
	jsonw_array_end(json);
}

static void
fields_schema(struct jsonw *json)
{
	members_string(json, "type", "array");
	jsonw_key(json, "items");
	openapi_ref(json, "Column");
}

static void
groups_schema(struct jsonw *json)
{
	members_string(json, "type", "array");
	jsonw_key(json, "maxItems");
	jsonw_int(json, GROUPS_MAX);
	members_object(json, "items");
	members_string(json, "type", "string");
	jsonw_key(json, "enum");
	jsonw_array_begin(json);
	for (unsigned i = 0; i < GROUP_KEYS; i++)
		jsonw_text(json, group_infos[i].name);
	jsonw_array_end(json);
	jsonw_object_end(json);
}

/* The formats' meanings stand at the answers. */
static void
formats_schema(struct jsonw *json)
{
	members_string(json, "type", "string");
	jsonw_key(json, "enum");
	jsonw_array_begin(json);
	for (unsigned i = 0; i < FORMATS; i++)
		jsonw_string(json, format_infos[i].name);
	jsonw_array_end(json);
}

static bool
is_list(const struct param_info *info)
{
	return info->type == PARAM_FIELDS || info->type == PARAM_GROUPS ||
	    info->type == PARAM_VALUES || info->type == PARAM_STATES;
}

/* A column, or several of them, descending behind a sign. */
static void
sort_schema(struct jsonw *json)
{
	jsonw_key(json, "anyOf");
	jsonw_array_begin(json);
	openapi_ref(json, "SortKey");
	jsonw_object_begin(json);
	members_string(json, "type", "string");
	members_string(json, "pattern",
	    "^-?[a-zA-Z0-9]+(\\.[0-9]{6})?"
	    "(,-?[a-zA-Z0-9]+(\\.[0-9]{6})?){0,3}$");
	jsonw_object_end(json);
	jsonw_array_end(json);
}

static void
states_schema(struct jsonw *json)
{
	members_string(json, "type", "array");
	members_object(json, "items");
	members_string(json, "type", "string");
	jsonw_key(json, "enum");
	jsonw_array_begin(json);
	for (unsigned i = 0; i < FEED_STATES; i++)
		jsonw_string(json, feed_state_names[i]);
	jsonw_array_end(json);
	jsonw_object_end(json);
}

static void
param_schema(struct jsonw *json, const struct param_info *info)
{
	if (info->type == PARAM_SORT) {
		sort_schema(json);
		return;
	}
	if (info->type == PARAM_INT) {
		int_schema(json, info);
		return;
	}
	if (info->type == PARAM_FIELDS || info->type == PARAM_VALUES)
		fields_schema(json);
	else if (info->type == PARAM_GROUPS)
		groups_schema(json);
	else if (info->type == PARAM_FLAG)
		choice_schema(json, "0", "1");
	else if (info->type == PARAM_FORMAT)
		formats_schema(json);
	else if (info->type == PARAM_MONTHS)
		choice_schema(json, FORMAT_COLUMNS_NAME, FORMAT_LINES_NAME);
	else if (info->type == PARAM_ORDER)
		choice_schema(json, "asc", "desc");
	else if (info->type == PARAM_DIGITS || info->type == PARAM_CLASS)
		digits_schema(json, info);
	else if (info->type == PARAM_GAMME) {
		gamme_schema(json);
	} else if (info->type == PARAM_STATES) {
		states_schema(json);
	} else if (info->type == PARAM_CURSOR) {
		members_string(json, "type", "string");
		members_string(json, "pattern", "^[0-9]+-[0-9]+$");
	} else if (info->type == PARAM_MOMENT) {
		members_string(json, "type", "string");
		members_string(
		    json, "pattern", "^[0-9]{4}-[0-9]{2}-[0-9]{2}(T.*)?$");
	} else if (info->type == PARAM_GENERATION) {
		members_string(json, "type", "string");
		members_string(json, "pattern", "^[0-9a-f]{16}$");
	} else
		text_schema(json, info);
	if (info->fallback != NULL)
		members_string(json, "default", info->fallback);
}

static void
write_param(struct jsonw *json, const struct param_info *info, bool required)
{
	jsonw_object_begin(json);
	members_string(json, "name", info->name);
	members_string(json, "in", "query");
	describe(json, info);
	if (required) {
		jsonw_key(json, "required");
		jsonw_bool(json, true);
	}
	if (is_list(info)) {
		members_string(json, "style", "form");
		jsonw_key(json, "explode");
		jsonw_bool(json, false);
	}
	members_object(json, "schema");
	param_schema(json, info);
	jsonw_object_end(json);
	if (info->type == PARAM_FIELDS) {
		jsonw_key(json, "example");
		jsonw_raw(json, SPAN("[\"libelle1\",\"totalCa\"]"));
	} else if (info->type == PARAM_INT && info->fallback != NULL) {
		jsonw_key(json, "example");
		jsonw_raw(json, span_of(info->fallback));
	} else if (info->type == PARAM_INT) {
		jsonw_key(json, "example");
		jsonw_int(json, 100);
	} else if (info->uses != USE_FEED)
		example_member(json, info->name);
	jsonw_object_end(json);
}

static void
write_path_param(struct jsonw *json, const struct path_param *param)
{
	jsonw_object_begin(json);
	members_string(json, "name", param->name);
	members_string(json, "in", "path");
	members_string(json, "description", param->meaning);
	jsonw_key(json, "required");
	jsonw_bool(json, true);
	members_object(json, "schema");
	members_string(json, "type", "string");
	if (param->pattern != NULL)
		members_string(json, "pattern", param->pattern);
	jsonw_object_end(json);
	example_member(json, param->name);
	jsonw_object_end(json);
}

/* --- conditions ----------------------------------------------------------- */

/*
 * A parameter beside conditions has that name: its own schema says the rest.
 */
static bool
is_parameter(struct span name)
{
	for (unsigned i = 0; i < param_count; i++)
		if ((param_infos[i].uses & ~(unsigned)USE_FEED) != 0 &&
		    span_eq(name, span_of(param_infos[i].name)))
			return true;
	return false;
}

static bool
is_listed(unsigned column)
{
	return (column < ROW_FLATS || column == COL_trend) &&
	    !is_parameter(row_info[column].name);
}

static void
write_condition(struct jsonw *json, unsigned column)
{
	const struct row_info *info = &row_info[column];
	char text[TEXT_MAX];

	snprintf(text, sizeof(text), "Condition on %.*s, %s: %s",
	    SPAN_ARG(info->name),
	    column == COL_trend ? "by its direction" : info->label_en,
	    info->meaning);
	jsonw_key_span(json, info->name);
	jsonw_object_begin(json);
	jsonw_key(json, "name");
	jsonw_string(json, info->name);
	members_string(json, "in", "query");
	members_string(json, "description", text);
	members_string(json, "style", "form");
	jsonw_key(json, "explode");
	jsonw_bool(json, true);
	members_object(json, "schema");
	members_string(json, "type", "array");
	jsonw_key(json, "items");
	openapi_ref(json, "Condition");
	jsonw_object_end(json);
	jsonw_object_end(json);
}

void
openapi_write_conditions(struct jsonw *json)
{
	members_object(json, "parameters");
	for (unsigned i = 0; i < ROW_COLUMNS; i++)
		if (is_listed(i))
			write_condition(json, i);
	jsonw_object_end(json);
}

static void
refer_to_conditions(struct jsonw *json)
{
	for (unsigned i = 0; i < ROW_COLUMNS; i++) {
		char path[96];

		if (!is_listed(i))
			continue;
		snprintf(path, sizeof(path), "#/components/parameters/%.*s",
		    SPAN_ARG(row_info[i].name));
		jsonw_object_begin(json);
		members_string(json, "$ref", path);
		jsonw_object_end(json);
	}
}

static const char *
types_text(unsigned types)
{
	return types == CONDITION_TEXTS ? " (texts)" : "";
}

void
openapi_condition_schema(struct jsonw *json)
{
	char pattern[PATTERN_MAX];
	struct buf text;

	buf_init(&text, TEXT_MAX);
	buf_add_text(&text,
	    "OPERATOR.VALUE, or not.OPERATOR.VALUE; a row without a value "
	    "meets "
	    "is.null alone. Several conditions must all be met: repeat a "
	    "parameter for a range. Operators:");
	for (unsigned i = 0; i < condition_count; i++)
		buf_addf(&text, "%s %s.%s%s %s", i == 0 ? "" : ";",
		    condition_infos[i].name, condition_infos[i].value,
		    types_text(condition_infos[i].types),
		    condition_infos[i].meaning);
	buf_add_text(&text,
	    ". Beside the scalar columns: a month of a monthly map, "
	    "sales12m.202510, stock12m.202510, receptions12m.202510, "
	    "sales12mN1.202410; a store's total, sales12mByStore.001, "
	    "receptions12mByStore.001, and its "
	    "newest stock, stock12mByStore.001.");
	members_object(json, "Condition");
	members_string(json, "type", "string");
	jsonw_key(json, "description");
	jsonw_string(json, buf_span(&text));
	members_string(json, "pattern", condition_pattern(pattern));
	jsonw_key(json, "examples");
	jsonw_raw(json,
	    SPAN("[\"gt.0\",\"in.(A,B)\",\"not.like.*bière*\",\"is.null\"]"));
	jsonw_object_end(json);
	buf_fini(&text);
}

/* --- an operation's ------------------------------------------------------- */

void
openapi_params(struct jsonw *json, const struct route *route)
{
	assert(route->doc.tag != NULL);
	jsonw_key(json, "parameters");
	jsonw_array_begin(json);
	for (unsigned i = 0; i < COUNT(path_params); i++) {
		char braced[64];

		snprintf(braced, sizeof(braced), "{%s}", path_params[i].name);
		if (strstr(route->path, braced) != NULL)
			write_path_param(json, &path_params[i]);
	}
	for (unsigned i = 0; i < param_count; i++)
		if ((param_infos[i].uses & route->use) != 0)
			write_param(json, &param_infos[i],
			    (param_infos[i].required & route->use) != 0);
	if ((route->use & USE_CONDITIONS) != 0)
		refer_to_conditions(json);
	jsonw_array_end(json);
}
