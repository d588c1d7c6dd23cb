/* The list of values of a condition: in.(A,B). */
#include <assert.h>
#include <stdlib.h>

#include "common/arena.h"
#include "fcgi/http/condition_priv.h"

/* The text in quotes, with "\\" and "\"" undone. */
static enum err
cut_quoted(const struct condition_reading *reading, struct span *out,
    struct span *rest)
{
	char *to = arena_alloc(reading->arena, rest->len);
	size_t len = 0, at = 1;

	if (to == NULL)
		return ERR_NO_MEMORY;
	while (at < rest->len && rest->ptr[at] != '"') {
		if (rest->ptr[at] == '\\' && at + 1 < rest->len)
			at++;
		to[len++] = rest->ptr[at++];
	}
	if (at == rest->len)
		return condition_refuse(
		    reading, "has a list with an open double quote");
	*out = span_make(to, len);
	*rest = span_from(*rest, at + 1);
	return ERR_OK;
}

/* The next value of a list, and whether another follows. */
static enum err
cut_value(const struct condition_reading *reading, struct span *out,
    struct span *rest, bool *more)
{
	enum err err = ERR_OK;

	if (rest->len > 0 && rest->ptr[0] == '"')
		err = cut_quoted(reading, out, rest);
	else {
		size_t comma = span_find(*rest, ',');

		*out = span_sub(*rest, 0, comma);
		*rest = span_from(*rest, comma);
	}
	if (err != ERR_OK)
		return err;
	*more = rest->len > 0;
	if (*more && rest->ptr[0] != ',')
		return condition_refuse(
		    reading, "has a list with something behind a double quote");
	*rest = span_from(*rest, 1);
	return ERR_OK;
}

static int
compare_numbers(const void *a, const void *b)
{
	const int64_t *x = a, *y = b;

	return (*x > *y) - (*x < *y);
}

static unsigned
sort_numbers(int64_t *numbers, unsigned count)
{
	unsigned kept = 0;

	qsort(numbers, count, sizeof(*numbers), compare_numbers);
	for (unsigned i = 0; i < count; i++)
		if (kept == 0 || numbers[kept - 1] != numbers[i])
			numbers[kept++] = numbers[i];
	return kept;
}

static enum err
take_values(const struct condition_reading *reading, struct span list,
    struct span *texts, int64_t *numbers)
{
	struct condition *out = reading->out;
	bool more = list.len > 0;
	unsigned code;
	enum err err = ERR_OK;

	while (more && err == ERR_OK) {
		struct span value;

		if (out->count == CONDITION_VALUES_MAX)
			return condition_refuse(
			    reading, "has a list of over 1000 values");
		err = cut_value(reading, &value, &list, &more);
		if (err != ERR_OK)
			return err;
		if (reading->type == CONDITION_TEXTS)
			texts[out->count] = value;
		else if (reading->type == CONDITION_NUMBERS)
			err = condition_read_number(
			    reading, &numbers[out->count], value);
		else if ((err = condition_read_code(reading, &code, value)) ==
		    ERR_OK)
			out->codes |= UINT32_C(1) << code;
		out->count++;
	}
	return err;
}

/* As many values as there are commas, at most, and one more. */
static unsigned
count_values(struct span list)
{
	unsigned count = 1;

	for (size_t i = 0; i < list.len && count < CONDITION_VALUES_MAX; i++)
		count += list.ptr[i] == ',';
	return count;
}

enum err
condition_read_list(const struct condition_reading *reading, struct span value)
{
	struct condition *out = reading->out;
	struct span *texts = NULL;
	int64_t *numbers = NULL;
	unsigned room = count_values(value);
	enum err err;

	assert(reading->out->op == CONDITION_IN && reading->out->count == 0);
	if (value.len < 2 || value.ptr[0] != '(' ||
	    value.ptr[value.len - 1] != ')')
		return condition_refuse(
		    reading, "needs a list in brackets, in.(A,B)");
	out->kind = reading->type == CONDITION_TEXTS ? CONDITION_TEXT_LIST
	    : reading->type == CONDITION_CODES       ? CONDITION_CODE_SET
						     : CONDITION_NUMBER_LIST;
	if (reading->type == CONDITION_TEXTS)
		texts = arena_array(reading->arena, room, sizeof(*texts));
	else
		numbers = arena_array(reading->arena, room, sizeof(*numbers));
	if (texts == NULL && numbers == NULL)
		return ERR_NO_MEMORY;
	err = take_values(
	    reading, span_sub(value, 1, value.len - 2), texts, numbers);
	if (err == ERR_OK && reading->type == CONDITION_NUMBERS)
		out->count = sort_numbers(numbers, out->count);
	out->texts = texts;
	out->numbers = numbers;
	if (err == ERR_OK && reading->type == CONDITION_TEXTS)
		err = condition_fold(reading);
	return err;
}
