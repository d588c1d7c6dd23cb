/*
 * A parameter as a condition: a name, '=', a value, and behind a newline a text
 * to compare with its pattern.
 */
#include <string.h>

#include "common/arena.h"
#include "common/num.h"
#include "common/utf8.h"
#include "fcgi/http/condition.h"
#include "tests/fuzz/fuzz.h"

/* A pattern is as strict as each of its pieces. */
static void
check_pattern(const struct condition *condition, struct span text)
{
	struct span pattern = condition->texts[0], piece, rest = pattern;
	bool fits = condition_like(text, pattern);

	while (span_cut(&piece, &rest, '*'))
		if (piece.len > 0 &&
		    (text.len < piece.len ||
			memmem(text.ptr, text.len, piece.ptr, piece.len) ==
			    NULL))
			FUZZ_CHECK(!fits);
	if (span_find(pattern, '*') == pattern.len)
		FUZZ_CHECK(fits == span_eq(text, pattern));
}

static void
check_condition(const struct condition *condition, struct span text)
{
	FUZZ_CHECK(condition->count <= CONDITION_VALUES_MAX);
	FUZZ_CHECK(condition->column < ROW_COLUMNS);
	switch (condition->kind) {
	case CONDITION_PATTERN:
		check_pattern(condition, text);
		break;
	case CONDITION_NUMBER_LIST:
		for (unsigned i = 1; i < condition->count; i++)
			FUZZ_CHECK(
			    condition->numbers[i - 1] < condition->numbers[i]);
		break;
	case CONDITION_RANGE:
		/* NULL is in no range of numbers. */
		FUZZ_CHECK(condition->low == NUM_NULL ||
		    (uint64_t)NUM_NULL - (uint64_t)condition->low >
			condition->width);
		break;
	default:
		break;
	}
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t len)
{
	static struct arena *arena;
	struct span all = span_make(data, len);
	size_t line = span_find(all, '\n');
	struct span pair = span_sub(all, 0, line);
	struct span text = span_from(all, line + 1);
	size_t equals = span_find(pair, '=');
	struct span name = span_sub(pair, 0, equals);
	struct condition condition;
	struct fault fault;
	enum err err;

	if (!utf8_is_valid(all))
		return 0; /* the query's own parser refuses it */
	if (arena == NULL)
		arena = arena_new(1 << 20);
	arena_reset(arena);
	fault_clear(&fault);
	err = condition_read(
	    &condition, name, span_from(pair, equals + 1), arena, &fault);
	FUZZ_CHECK(err == ERR_OK || err == ERR_BAD_INPUT);
	FUZZ_CHECK((err == ERR_OK) != fault_is_set(&fault));
	if (!condition_is_name(name))
		FUZZ_CHECK(err == ERR_BAD_INPUT);
	if (err == ERR_OK)
		check_condition(&condition, text);
	return 0;
}
