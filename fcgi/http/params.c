#include "fcgi/http/params.h"

#include <assert.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "common/jsonw.h"
#include "common/num.h"
#include "common/utf8.h"
#include "fcgi/http/french.h"
#include "fcgi/http/params_priv.h"
#include "lmdb-schema/key.h"

#define LISTS (USE_GRID | USE_SEARCH | USE_LOOKUP)
#define FILTERED (LISTS | USE_AGGREGATES)
#define SUPPLIER (USE_GRID | USE_AGGREGATES | USE_LOOKUP)
#define LABELS (USE_FOURNISSEURS | USE_NOMENCLATURES | USE_MAGASINS)
#define ROWS (LISTS | USE_PRODUCT)
#define MANY INT64_MAX
#define SEARCH_MAX 1000

#define AT(member) offsetof(struct params, member)

const struct param_info param_infos[] = {
    {"fournisseur", PARAM_CODE,
	USE_NOMENCLATURES | FILTERED | USE_PRODUCT | USE_SCREEN | USE_FEED |
	    USE_HISTORY,
	USE_NOMENCLATURES | SUPPLIER | USE_SCREEN, AT(fournisseur), 1, 64, NULL,
	"Supplier code"},
    {"search", PARAM_TEXT,
	USE_GRID | USE_AGGREGATES | USE_FOURNISSEURS | USE_MAGASINS, 0,
	AT(search), 0, SEARCH_MAX, NULL,
	"Text that must occur, case and accents aside; of several words, each"},
    {"q", PARAM_TEXT, USE_SEARCH, USE_SEARCH, AT(q), 1, 120, NULL,
	"Text to look for in label, codein, GTIN, reference and central code, "
	"case and accents aside; of several words, each must occur"},
    {"withData", PARAM_FLAG, USE_FOURNISSEURS, 0, AT(with_data), 0, 1, "0",
	"1 keeps only the suppliers with available data"},
    {"niveau", PARAM_INT, USE_NOMENCLATURES, 0, AT(niveau), 1, 3, "1",
	"Level: 1 universe, 2 family, 3 sub-family"},
    {"parent", PARAM_DIGITS, USE_NOMENCLATURES, 0, AT(parent), 2, 6, NULL,
	"Code of the entry to descend from: 2, 4 or 6 digits"},
    {"gamme", PARAM_GAMME, FILTERED, 0, AT(gamme), 0, 0, NULL,
	"Range code, as codeGamme shows it; several are separated by commas"},
    {"aValider", PARAM_FLAG, SUPPLIER, 0, AT(pending), 0, 1, "0",
	"1 keeps only the articles with a proposal to validate"},
    {"code1", PARAM_CLASS, FILTERED, 0, AT(codes[0]), 2, 2, NULL,
	"Classification code at level 1, 2 digits"},
    {"code2", PARAM_CLASS, FILTERED, 0, AT(codes[1]), 4, 4, NULL,
	"Classification code at level 2, 4 digits"},
    {"code3", PARAM_CLASS, FILTERED, 0, AT(codes[2]), 6, 6, NULL,
	"Classification code at level 3, 6 digits"},
    {"nomenclature", PARAM_CLASS, FILTERED, 0, AT(codes[3]), 2, 6, NULL,
	"Classification prefix of 2, 4 or 6 digits"},
    {"groups", PARAM_GROUPS, USE_AGGREGATES, 0, AT(groups), 0, 0, NULL,
	"What to group by, up to three separated by commas; without it all "
	"rows are one group"},
    {"values", PARAM_VALUES, USE_AGGREGATES, 0, AT(values), 0, 0, NULL,
	"Columns to sum, up to eight separated by commas: numbers, totalCa, "
	"totalQuantite and totalMarge unless said otherwise; by mois or "
	"magasin of sales12m, stock12m, receptions12m, the first unless said "
	"otherwise; by mois without magasin also of sales12mN1, which stands "
	"at the same month a year later. Groups stand in the order of the "
	"first one's sum"},
    {"compute", PARAM_FLAG, SUPPLIER, 0, AT(compute), 0, 1, "1",
	"1 computes a supplier without snapshot, 0 answers 202 at once"},
    {"snapshot", PARAM_GENERATION, SUPPLIER, 0, AT(snapshot), 0, 0, NULL,
	"Generation to keep to while paging: meta.snapshot of the first page"},
    {"sort", PARAM_SORT, LISTS, 0, AT(sorts), 0, 0, NULL,
	"Column to sort by, as rows show it, or a month: sales12m.202510; "
	"empty values come last. Up to four are separated by commas: those "
	"behind a - descend, the others ascend unless order says desc"},
    {"order", PARAM_ORDER, FILTERED | USE_FEED | USE_HISTORY, 0, AT(descending),
	0, 0, "desc",
	"asc or desc; by default the largest, or the newest, come first"},
    {"codein", PARAM_CODE, USE_FEED, 0, AT(codein), 1, 64, NULL,
	"Article code"},
    {"auteur", PARAM_TEXT, USE_FEED, 0, AT(author), 1, 64, NULL,
	"Author of the proposal, or of the one that it took the place of: a "
	"key's or a user's name"},
    {"etat", PARAM_STATES, USE_FEED, 0, AT(states), 0, 0, NULL,
	"States, separated by commas: proposee, validee, rejetee, retiree "
	"(proposed as recorded again, or recorded by an import), modifiee (a "
	"buyer's own range), arrivee (in the central database)"},
    {"du", PARAM_MOMENT, USE_FEED, 0, AT(from_ms), 0, 0, NULL,
	"Entries of that moment or later: RFC 3339, or a day, from its "
	"beginning in UTC"},
    {"au", PARAM_MOMENT, USE_FEED, 0, AT(until_ms), 0, 0, NULL,
	"Entries before that moment"},
    {"depuis", PARAM_CURSOR, USE_FEED, 0, AT(since), 0, 0, NULL,
	"Where to go on, in the order asked for: meta.suivant of the answer "
	"before"},
    {"depuis", PARAM_GENERATION, USE_GRID, 0, AT(since_generation), 0, 0, NULL,
	"Generation that the caller has: only rows that differ from its, and "
	"meta.disparus lists the codes that are gone; no filter goes with it"},
    {"fields", PARAM_FIELDS, ROWS, 0, AT(fields), 0, 0, NULL,
	"Columns to show, separated by commas; codein is always there"},
    {"enrich", PARAM_FLAG, ROWS | USE_AGGREGATES, 0, AT(enrich), 0, 1, "1",
	"1 re-reads network and codeGammeServeur, and all that follows from "
	"them, now; 0 serves all as it was computed"},
    {"page", PARAM_INT, FILTERED | LABELS | USE_HISTORY, 0, AT(page), 1, MANY,
	"1", "Page, from 1"},
    {"limit", PARAM_INT, FILTERED | LABELS | USE_FEED | USE_HISTORY, 0,
	AT(limit), 1, MANY, NULL,
	"Rows per page, no maximum; without it /grid gives all, every other "
	"list 100"},
    {"format", PARAM_FORMAT, FILTERED | USE_FEED, 0, AT(format), 0, 0, NULL,
	"Format of the answer; without it the header Accept decides. Others "
	"than json come with a file name"},
    {"mois", PARAM_MONTHS, LISTS, 0, AT(months), 0, 0, NULL,
	"What becomes of the maps by month in a format of cells: colonnes, a "
	"column for each month (sales12m.202510), or store and month "
	"(sales12mByStore.001.202510), of one supplier's rows only; lignes, a "
	"line for each article, store (empty: all) and month; without it a "
	"map is one cell of JSON"},
    {"version", PARAM_INT, USE_KEPT, 0, AT(kept_version), 1, MANY, NULL,
	"The version that the caller knows; another one is not removed"},
    {"strict", PARAM_FLAG,
	FILTERED | LABELS | USE_PRODUCT | USE_FEED | USE_HISTORY, 0, AT(strict),
	0, 1, "0",
	"1 refuses a parameter that is not known here, which otherwise "
	"meta.ignores names"},
};

const unsigned param_count = sizeof(param_infos) / sizeof(param_infos[0]);

void
params_wrong(struct trouble *trouble, const char *name, const char *format, ...)
{
	char text[256];
	va_list args;

	va_start(args, format);
	vsnprintf(text, sizeof(text),
	    trouble->french ? french_of(format) : format, args);
	va_end(args);
	if (trouble->count++ > 0) {
		buf_add_text(trouble->message, "; ");
		buf_add_char(trouble->issues, ',');
	}
	buf_addf(trouble->message, "%s %s", name, text);
	buf_add_text(trouble->issues, "{\"parameter\":");
	jsonw_quote(trouble->issues, span_of(name));
	buf_add_text(trouble->issues, ",\"message\":");
	jsonw_quote(trouble->issues, span_of(text));
	buf_add_char(trouble->issues, '}');
}

static void
read_text(struct trouble *trouble, const struct param_info *info,
    struct span value, void *out)
{
	size_t points = utf8_count(value);

	memcpy(out, &value, sizeof(value));
	if ((int64_t)points < info->min)
		params_wrong(trouble, info->name, "is empty, but is needed");
	else if ((int64_t)points > info->max)
		params_wrong(trouble, info->name,
		    "has %zu characters, %lld are the most", points,
		    (long long)info->max);
}

static void
read_code(struct trouble *trouble, const struct param_info *info,
    struct span value, void *out)
{
	memcpy(out, &value, sizeof(value));
	if (!key_code_ok(value))
		params_wrong(trouble, info->name,
		    "must be a supplier code of 1 to 64 bytes");
}

/* Digits alone: a number, though none that fits. */
static bool
is_long(struct span value)
{
	for (size_t i = 0; i < value.len; i++)
		if (value.ptr[i] < '0' || value.ptr[i] > '9')
			return false;
	return value.len > 0;
}

static void
read_int(struct trouble *trouble, const struct param_info *info,
    struct span value, void *out)
{
	if (num_int(out, value, info->min, info->max))
		return;
	if (info->max == MANY && is_long(value) && value.ptr[0] != '0')
		params_wrong(trouble, info->name,
		    "is greater than %lld, the greatest number that is read",
		    (long long)MANY);
	else if (info->max == MANY)
		params_wrong(trouble, info->name,
		    "must be a whole number from %lld", (long long)info->min);
	else
		params_wrong(trouble, info->name,
		    "must be a whole number from %lld to %lld",
		    (long long)info->min, (long long)info->max);
}

static void
read_flag(struct trouble *trouble, const struct param_info *info,
    struct span value, void *out)
{
	if (span_eq(value, SPAN("0")) || span_eq(value, SPAN("1")))
		*(bool *)out = value.ptr[0] == '1';
	else
		params_wrong(trouble, info->name, "must be 0 or 1");
}

static void
read_order(struct trouble *trouble, const struct param_info *info,
    struct span value, void *out)
{
	if (span_eq(value, SPAN("asc")) || span_eq(value, SPAN("desc")))
		*(bool *)out = value.len == 4;
	else
		params_wrong(trouble, info->name, "must be asc or desc");
}

static void
read_gamme(struct trouble *trouble, const struct param_info *info,
    struct span value, void *out)
{
	uint8_t gamme = row_gamme(value);

	if (gamme == ROW_GAMME_NONE || gamme == ROW_GAMME_BAD)
		params_wrong(
		    trouble, info->name, "must be one of A, B, C, Y, Z");
	*(uint8_t *)out = gamme;
}

/* An empty list is as though it were not given: all columns. */
static void
read_fields(struct trouble *trouble, const struct param_info *info,
    struct span value, void *out)
{
	struct columns *columns = out;
	struct span name, rest = value;

	(void)info;
	if (value.len == 0)
		return;
	columns_add(columns, COL_codein);
	while (span_cut(&name, &rest, ',')) {
		int column;

		name = span_trim(name);
		column = row_column(name);
		if (column >= 0) {
			columns_add(columns, (unsigned)column);
			continue;
		}
		if (trouble->unknown.len > 0)
			buf_add_char(&trouble->unknown, ',');
		jsonw_quote(&trouble->unknown, name);
	}
}

static void
read_digits(struct trouble *trouble, const struct param_info *info,
    struct span value, void *out)
{
	bool fits = (int64_t)value.len >= info->min &&
	    (int64_t)value.len <= info->max && value.len % 2 == 0;

	for (size_t i = 0; i < value.len && fits; i++)
		fits = value.ptr[i] >= '0' && value.ptr[i] <= '9';
	memcpy(out, &value, sizeof(value));
	if (!fits && info->min == info->max)
		params_wrong(trouble, info->name, "must be %lld digits",
		    (long long)info->min);
	else if (!fits)
		params_wrong(trouble, info->name, "must be 2, 4 or 6 digits");
}

/* A filter on the classification: digits as a number, and what to divide by. */
static void
read_class(struct trouble *trouble, const struct param_info *info,
    struct span value, void *out)
{
	static const uint32_t divisors[] = {0, 0, 10000, 0, 100, 0, 1};
	struct code_filter *filter = out;
	struct span digits;
	unsigned before = trouble->count;

	read_digits(trouble, info, value, &digits);
	if (trouble->count > before)
		return;
	filter->code = 0;
	for (size_t i = 0; i < digits.len; i++)
		filter->code =
		    filter->code * 10 + (uint32_t)(digits.ptr[i] - '0');
	filter->divisor = divisors[digits.len];
}

static void
read_generation(struct trouble *trouble, const struct param_info *info,
    struct span value, void *out)
{
	if (!key_generation(out, value) || *(uint64_t *)out == 0)
		params_wrong(trouble, info->name,
		    "must be a generation as meta.snapshot gives it, 16 "
		    "hexadecimal digits");
}

/* A name that is not known is no 400: steps.c lists the formats. */
static void
read_format(struct trouble *trouble, const struct param_info *info,
    struct span value, void *out)
{
	(void)trouble;
	(void)info;
	*(enum format *)out = format_find(value);
}

static void
read_months(struct trouble *trouble, const struct param_info *info,
    struct span value, void *out)
{
	enum format_months *months = out;

	if (span_eq(value, SPAN(FORMAT_COLUMNS_NAME)))
		*months = MONTHS_COLUMNS;
	else if (span_eq(value, SPAN(FORMAT_LINES_NAME)))
		*months = MONTHS_LINES;
	else
		params_wrong(trouble, info->name, "must be %s or %s",
		    FORMAT_COLUMNS_NAME, FORMAT_LINES_NAME);
}

/* By type: each reads a value to its place in struct params. */
static void (*const readers[])(struct trouble *trouble,
    const struct param_info *info, struct span value, void *out) = {
    [PARAM_TEXT] = read_text,
    [PARAM_CODE] = read_code,
    [PARAM_INT] = read_int,
    [PARAM_FLAG] = read_flag,
    [PARAM_ORDER] = read_order,
    [PARAM_GAMME] = read_gamme,
    [PARAM_SORT] = params_read_sort,
    [PARAM_FIELDS] = read_fields,
    [PARAM_GROUPS] = params_read_groups,
    [PARAM_VALUES] = params_read_values,
    [PARAM_DIGITS] = read_digits,
    [PARAM_CLASS] = read_class,
    [PARAM_GENERATION] = read_generation,
    [PARAM_FORMAT] = read_format,
    [PARAM_MONTHS] = read_months,
    [PARAM_STATES] = params_read_states,
    [PARAM_CURSOR] = params_read_cursor,
    [PARAM_MOMENT] = params_read_moment,
};

/* The first letter tells most of them apart, without their length. */
static bool
is_named(const struct param_info *info, struct span name)
{
	return name.len > 0 && name.ptr[0] == info->name[0] &&
	    span_eq(name, span_of(info->name));
}

static const struct param_info *
find(struct span name, enum params_use use)
{
	for (unsigned i = 0; i < param_count; i++)
		if ((param_infos[i].uses & use) != 0 &&
		    is_named(&param_infos[i], name))
			return &param_infos[i];
	return NULL;
}

static void
defaults(struct params *params)
{
	memset(params, 0, sizeof(*params));
	params->page = 1;
	params->niveau = 1;
	params->sort = -1;
	params->descending = true;
	params->enrich = true;
	params->compute = true;
	params->format = FORMAT_OMITTED;
	for (unsigned i = 0; i < 4; i++)
		params->codes[i].code = PARAMS_NO_CODE;
}

/* A pair that is no parameter. */
static void
read_other(struct trouble *trouble, struct params *params,
    const struct query_pair *pair, enum params_use use)
{
	if ((use & USE_CONDITIONS) != 0 && condition_is_name(pair->name))
		params_condition(trouble, params, pair->name, pair);
	else
		params_ignore(trouble, params, pair->name);
}

static void
read_all(struct trouble *trouble, struct params *params,
    const struct query *query, enum params_use use)
{
	uint64_t seen = 0;

	for (unsigned i = 0; i < query->pair_count; i++) {
		const struct query_pair *pair = &query->pairs[i];
		const struct param_info *info = find(pair->name, use);
		uint64_t bit;

		if (info == NULL) {
			read_other(trouble, params, pair, use);
			continue;
		}
		if ((use & USE_CONDITIONS) != 0 &&
		    params_is_condition(trouble, params, info, pair))
			continue;
		bit = UINT64_C(1) << (info - param_infos);
		if ((seen & bit) != 0)
			params_wrong(trouble, info->name, "is given twice");
		else
			readers[info->type](trouble, info, pair->value,
			    (char *)params + info->offset);
		params->ordered |= info->type == PARAM_ORDER;
		seen |= bit;
	}
	params_finish(trouble, params, use);
	for (unsigned i = 0; i < param_count; i++)
		if ((param_infos[i].required & use) != 0 &&
		    (seen >> i & 1) == 0)
			params_needed(trouble, param_infos[i].name, use);
	params_end(trouble, params);
}

static void
write_details(
    struct buf *details, const struct trouble *trouble, struct buf *issues)
{
	buf_add_text(details, "{\"issues\":[");
	buf_add_span(details, buf_span(issues));
	buf_add_char(details, ']');
	if (trouble->unknown.len > 0) {
		buf_add_text(details, ",\"unknown\":[");
		buf_add_span(details, buf_span(&trouble->unknown));
		buf_add_char(details, ']');
	}
	if (trouble->bad_sort || trouble->unknown.len > 0) {
		unsigned most =
		    trouble->unknown.len > 0 ? ROW_COLUMNS : ROW_FLATS;

		buf_add_text(details, ",\"allowed\":[");
		for (unsigned i = 0; i < most; i++) {
			if (i > 0)
				buf_add_char(details, ',');
			jsonw_quote(details, row_info[i].name);
		}
		buf_add_char(details, ']');
	}
	buf_add_char(details, '}');
}

/* Half a list of issues would be no JSON: then it is memory that failed. */
static enum err
first_failure(const struct trouble *trouble, const struct buf *details)
{
	const struct buf *const bufs[] = {
	    trouble->message, trouble->issues, &trouble->unknown, details};

	for (unsigned i = 0; i < 4; i++)
		if (buf_end(bufs[i]) != ERR_OK)
			return buf_end(bufs[i]);
	return ERR_BAD_INPUT;
}

enum err
params_read(struct params *params, const struct query *query,
    enum params_use use, bool french, struct arena *arena, struct buf *message,
    struct buf *details)
{
	struct trouble trouble = {
	    .message = message, .french = french, .arena = arena};
	struct buf issues;
	enum err err = ERR_OK;

	assert(message != NULL && details != NULL);
	defaults(params);
	buf_init(&issues, 1 << 20);
	buf_init(&trouble.unknown, 1 << 20);
	trouble.issues = &issues;
	read_all(&trouble, params, query, use);
	if (trouble.unknown.len > 0)
		params_wrong(&trouble, "fields",
		    "names what is no column: see details.unknown");
	err = trouble.err;
	if (err == ERR_OK && trouble.count > 0) {
		write_details(details, &trouble, &issues);
		err = first_failure(&trouble, details);
	}
	buf_fini(&issues);
	buf_fini(&trouble.unknown);
	return err;
}
