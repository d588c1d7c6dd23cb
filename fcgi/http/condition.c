#include "fcgi/http/condition_priv.h"

#include <assert.h>
#include <string.h>

#include "common/arena.h"
#include "common/buf.h"
#include "common/date.h"
#include "common/fold.h"
#include "common/num.h"
#include "lmdb-schema/key.h"

#define ANY (CONDITION_TEXTS | CONDITION_NUMBERS | CONDITION_CODES)
#define FOLDED_MAX (1u << 16)

const struct condition_info condition_infos[] = {
    {"eq", CONDITION_EQ, ANY, "VALUE", "equal; of texts, byte by byte", "eq"},
    {"neq", CONDITION_NEQ, ANY, "VALUE", "not equal", "neq"},
    {"gt", CONDITION_GT, ANY, "VALUE", "greater; texts in the order of sorts",
	"gt"},
    {"gte", CONDITION_GTE, ANY, "VALUE", "greater or equal", "gte"},
    {"lt", CONDITION_LT, ANY, "VALUE", "less", "lt"},
    {"lte", CONDITION_LTE, ANY, "VALUE", "less or equal", "lte"},
    {"in", CONDITION_IN, ANY, "(A,B)",
	"equal to one of a list; a value with a comma stands in double quotes",
	"in"},
    {"like", CONDITION_LIKE, CONDITION_TEXTS, "PATTERN",
	"like a pattern, where * is any text; case and accents folded as in "
	"searches",
	"ilike"},
    {"ilike", CONDITION_LIKE, CONDITION_TEXTS, "PATTERN", "as like", "ilike"},
    {"is", CONDITION_IS, ANY, "null", "is.null: no value; is.not_null: one",
	"is"},
};

const unsigned condition_count =
    sizeof(condition_infos) / sizeof(condition_infos[0]);

const char *const condition_trends[CONDITION_TRENDS + 1] = {
    "", "up", "down", "flat"};

/* --- names ---------------------------------------------------------------- */

bool
condition_has_months(unsigned column)
{
	return column == COL_sales12m || column == COL_stock12m ||
	    column == COL_receptions12m || column == COL_sales12mN1;
}

bool
condition_has_stores(unsigned column)
{
	return column == COL_sales12mByStore || column == COL_stock12mByStore ||
	    column == COL_receptions12mByStore;
}

enum condition_type
condition_type_of(unsigned column)
{
	assert(column < ROW_FLATS);
	if (row_is_gamme(column))
		return CONDITION_CODES;
	return row_is_number(column) ? CONDITION_NUMBERS : CONDITION_TEXTS;
}

/* Reads the target of a name; its month is read apart. False: no target. */
static bool
read_name(struct condition *out, struct span name)
{
	size_t dot = span_find(name, '.');
	int column = row_column(span_sub(name, 0, dot));

	if (column < 0)
		return false;
	out->column = (unsigned)column;
	out->store = span_from(name, dot + 1);
	if (out->column < ROW_FLATS)
		out->target = CONDITION_COLUMN;
	else if (out->column == COL_trend)
		out->target = CONDITION_TREND;
	else if (condition_has_months(out->column))
		out->target = CONDITION_MONTH;
	else if (condition_has_stores(out->column))
		out->target = CONDITION_STORE;
	else
		return false;
	return (dot < name.len) ==
	    (out->target == CONDITION_MONTH || out->target == CONDITION_STORE);
}

bool
condition_is_name(struct span name)
{
	struct condition ignored;

	return read_name(&ignored, name);
}

static enum condition_type
type_of(const struct condition *condition)
{
	if (condition->target == CONDITION_TREND)
		return CONDITION_CODES;
	return condition->target == CONDITION_COLUMN
	    ? condition_type_of(condition->column)
	    : CONDITION_NUMBERS;
}

/* --- values --------------------------------------------------------------- */

enum err
condition_refuse(const struct condition_reading *reading, const char *wrong)
{
	fault_set(reading->fault, "value", "%s", wrong);
	return ERR_BAD_INPUT;
}

static enum row_type
number_type(const struct condition *condition)
{
	return condition->target == CONDITION_COLUMN
	    ? row_info[condition->column].type
	    : ROW_DECIMAL;
}

enum err
condition_read_number(
    const struct condition_reading *reading, int64_t *out, struct span text)
{
	int32_t day;

	assert(reading->type == CONDITION_NUMBERS);
	switch (number_type(reading->out)) {
	case ROW_DATE:
		if (!date_day(&day, text))
			return condition_refuse(
			    reading, "needs a date, YYYY-MM-DD");
		*out = day;
		return ERR_OK;
	case ROW_INTEGER:
		if (!num_decimal(out, text) || *out % NUM_MICRO != 0)
			return condition_refuse(
			    reading, "needs a whole number");
		*out /= NUM_MICRO;
		return ERR_OK;
	default:
		if (!num_decimal(out, text))
			return condition_refuse(reading,
			    "needs a number with a decimal point and at most "
			    "six decimals");
		return ERR_OK;
	}
}

static enum err
read_trend(
    const struct condition_reading *reading, unsigned *out, struct span text)
{
	for (*out = 1; *out <= CONDITION_TRENDS; (*out)++)
		if (span_eq(text, span_of(condition_trends[*out])))
			return ERR_OK;
	return condition_refuse(reading, "needs one of up, down, flat");
}

enum err
condition_read_code(
    const struct condition_reading *reading, unsigned *out, struct span text)
{
	uint8_t gamme;

	assert(reading->type == CONDITION_CODES);
	if (reading->out->target == CONDITION_TREND)
		return read_trend(reading, out, text);
	gamme = row_gamme(text);
	if (gamme == ROW_GAMME_NONE || gamme == ROW_GAMME_BAD)
		return condition_refuse(reading, "needs one of A, B, C, Y, Z");
	*out = gamme;
	return ERR_OK;
}

static enum err
fold_into(
    const struct condition_reading *reading, struct span *out, struct span text)
{
	struct buf buf;
	enum err err;

	buf_init(&buf, FOLDED_MAX);
	fold_add(&buf, text);
	err = buf_end(&buf);
	if (err == ERR_OK) {
		*out = arena_copy(reading->arena, buf_span(&buf));
		if (out->ptr == NULL)
			err = ERR_NO_MEMORY;
	}
	buf_fini(&buf);
	return err == ERR_TOO_LARGE ? condition_refuse(reading, "is too long")
				    : err;
}

/* --- one value ------------------------------------------------------------ */

/* No number is in it: values are compared with NULL apart. */
static void
range_of_none(struct condition *out)
{
	out->low = NUM_NULL;
	out->width = 0;
}

static void
range(struct condition *out, int64_t low, int64_t high)
{
	out->low = low;
	out->width = (uint64_t)high - (uint64_t)low;
}

static void
range_of(struct condition *out, int64_t value)
{
	out->kind = CONDITION_RANGE;
	switch (out->op) {
	case CONDITION_GT:
		if (value == INT64_MAX)
			range_of_none(out);
		else
			range(out, value + 1, INT64_MAX);
		break;
	case CONDITION_GTE:
		range(out, value, INT64_MAX);
		break;
	case CONDITION_LT:
		if (value == -INT64_MAX)
			range_of_none(out);
		else
			range(out, -INT64_MAX, value - 1);
		break;
	case CONDITION_LTE:
		range(out, -INT64_MAX, value);
		break;
	default:
		range(out, value, value);
	}
}

/* The codes 1..31 that stand in that relation to `code`, as bits. */
static uint32_t
codes_of(enum condition_op op, unsigned code)
{
	uint32_t here = UINT32_C(1) << code;

	switch (op) {
	case CONDITION_GT:
		return ~(here | (here - 1));
	case CONDITION_GTE:
		return ~(here - 1);
	case CONDITION_LT:
		return (here - 1) & ~UINT32_C(1);
	case CONDITION_LTE:
		return (here | (here - 1)) & ~UINT32_C(1);
	default:
		return here;
	}
}

enum err
condition_fold(const struct condition_reading *reading)
{
	struct condition *out = reading->out;
	struct span *folded =
	    arena_array(reading->arena, out->count + 1u, sizeof(*folded));
	enum err err = folded == NULL ? ERR_NO_MEMORY : ERR_OK;

	for (unsigned i = 0; i < out->count && err == ERR_OK; i++)
		err = fold_into(reading, &folded[i], out->texts[i]);
	out->folded = folded;
	return err;
}

static enum err
read_text(const struct condition_reading *reading, struct span value)
{
	struct condition *out = reading->out;
	struct span *text = arena_alloc(reading->arena, sizeof(*text));

	if (text == NULL)
		return ERR_NO_MEMORY;
	out->texts = text;
	out->count = 1;
	*text = value;
	if (out->op == CONDITION_EQ || out->op == CONDITION_NEQ) {
		out->kind = CONDITION_TEXT_LIST;
		return condition_fold(reading);
	}
	out->kind = out->op == CONDITION_LIKE ? CONDITION_PATTERN
					      : CONDITION_TEXT_RANGE;
	return fold_into(reading, text, value);
}

static enum err
read_one(const struct condition_reading *reading, struct span value)
{
	struct condition *out = reading->out;
	int64_t number;
	unsigned code;
	enum err err;

	if (out->op == CONDITION_NEQ)
		out->negated = !out->negated;
	if (reading->type == CONDITION_TEXTS)
		return read_text(reading, value);
	if (reading->type == CONDITION_CODES) {
		out->kind = CONDITION_CODE_SET;
		err = condition_read_code(reading, &code, value);
		if (err == ERR_OK)
			out->codes = codes_of(out->op, code);
		return err;
	}
	err = condition_read_number(reading, &number, value);
	if (err == ERR_OK)
		range_of(out, number);
	return err;
}

static enum err
read_null(const struct condition_reading *reading, struct span value)
{
	struct condition *out = reading->out;

	out->kind = CONDITION_NULL;
	if (span_eq(value, SPAN("not_null")))
		out->negated = !out->negated;
	else if (!span_eq(value, SPAN("null")))
		return condition_refuse(
		    reading, "knows is.null and is.not_null");
	return ERR_OK;
}

/* --- operators ------------------------------------------------------------ */

static const struct condition_info *
find_operator(struct span name)
{
	for (unsigned i = 0; i < condition_count; i++)
		if (span_eq(name, span_of(condition_infos[i].name)))
			return &condition_infos[i];
	return NULL;
}

static enum err
refuse_operator(const struct condition_reading *reading)
{
	char names[128] = "";

	for (unsigned i = 0; i < condition_count; i++)
		if ((condition_infos[i].types & reading->type) != 0) {
			strncat(names, ", ", sizeof(names) - strlen(names) - 1);
			strncat(names, condition_infos[i].name,
			    sizeof(names) - strlen(names) - 1);
		}
	fault_set(reading->fault, "value",
	    "must be OPERATOR.VALUE, and the operators are%s, each also behind "
	    "not.",
	    names + 1);
	return ERR_BAD_INPUT;
}

static enum err
read_value(const struct condition_reading *reading, struct span value)
{
	const struct condition_info *info;
	struct span op, rest = value;

	if (span_starts(rest, SPAN("not."))) {
		reading->out->negated = true;
		rest = span_from(rest, 4);
	}
	op = span_sub(rest, 0, span_find(rest, '.'));
	info = find_operator(op);
	if (op.len == rest.len || info == NULL ||
	    (info->types & reading->type) == 0)
		return refuse_operator(reading);
	rest = span_from(rest, op.len + 1);
	reading->out->op = info->op;
	switch (info->op) {
	case CONDITION_IN:
		return condition_read_list(reading, rest);
	case CONDITION_IS:
		return read_null(reading, rest);
	default:
		return read_one(reading, rest);
	}
}

enum err
condition_read(struct condition *out, struct span name, struct span value,
    struct arena *arena, struct fault *fault)
{
	struct condition_reading reading = {out, arena, fault, CONDITION_TEXTS};

	assert(arena != NULL && fault != NULL);
	memset(out, 0, sizeof(*out));
	if (!read_name(out, name))
		return condition_refuse(&reading, "is no column");
	if (out->target == CONDITION_MONTH &&
	    !date_month(&out->month, out->store))
		return condition_refuse(
		    &reading, "needs a month behind the point, YYYYMM");
	if (out->target == CONDITION_STORE && !key_code_ok(out->store))
		return condition_refuse(
		    &reading, "needs a store's code behind the point");
	reading.type = type_of(out);
	return read_value(&reading, value);
}

/* --- patterns ------------------------------------------------------------- */

/* Where `piece` first stands in the text, or NULL. */
static const char *
find_piece(struct span text, struct span piece)
{
	if (piece.len == 0)
		return text.ptr;
	return memmem(text.ptr, text.len, piece.ptr, piece.len);
}

bool
condition_like(struct span folded, struct span pattern)
{
	struct span piece, rest = pattern, text = folded;
	bool first = true;

	while (span_cut(&piece, &rest, '*')) {
		const char *at;

		if (first && !span_starts(text, piece))
			return false;
		if (first && rest.ptr == NULL)
			return text.len == piece.len;
		if (!first && rest.ptr == NULL)
			return span_ends(text, piece);
		at = first ? text.ptr : find_piece(text, piece);
		if (at == NULL && text.len + piece.len > 0)
			return false;
		text = span_from(text, (size_t)(at - text.ptr) + piece.len);
		first = false;
	}
	return true;
}
