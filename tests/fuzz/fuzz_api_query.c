/* A raw request target, to the typed parameters of each endpoint. */
#include <string.h>

#include "common/arena.h"
#include "fcgi/http/params.h"
#include "tests/fuzz/fuzz.h"

static void
read_all(const struct query *query, struct arena *arena)
{
	static const enum params_use uses[] = {USE_FOURNISSEURS,
	    USE_NOMENCLATURES, USE_GRID | USE_CONDITIONS,
	    USE_SEARCH | USE_CONDITIONS, USE_PRODUCT, USE_SCREEN, USE_FEED,
	    USE_HISTORY, USE_LOOKUP | USE_CONDITIONS};
	struct params params;
	struct buf message, details;

	buf_init(&message, 1 << 16);
	buf_init(&details, 1 << 20);
	for (unsigned i = 0; i < sizeof(uses) / sizeof(uses[0]); i++) {
		enum err err;

		buf_clear(&message);
		buf_clear(&details);
		err = params_read(
		    &params, query, uses[i], false, arena, &message, &details);
		FUZZ_CHECK(err == ERR_OK || err == ERR_BAD_INPUT);
		/* Each refusal gives a reason. */
		FUZZ_CHECK((err == ERR_OK) == (message.len == 0));
		FUZZ_CHECK((err == ERR_OK) == (details.len == 0));
		if (err == ERR_OK)
			FUZZ_CHECK(params.page >= 0 && params.limit >= 0 &&
			    params.condition_count <= PARAMS_CONDITIONS_MAX &&
			    params.ignored_count <= query->pair_count);
	}
	buf_fini(&message);
	buf_fini(&details);
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t len)
{
	static struct arena *arena;
	struct query query;
	struct fault fault;
	enum err err;

	if (arena == NULL)
		arena = arena_new(1 << 20);
	arena_reset(arena);
	fault_clear(&fault);
	err = query_parse(&query, span_make(data, len), arena, &fault);
	if (err != ERR_OK) {
		FUZZ_CHECK(fault_is_set(&fault));
		return 0;
	}
	FUZZ_CHECK(query.pair_count <= QUERY_PAIRS_MAX);
	FUZZ_CHECK(query.segment_count <= QUERY_SEGMENTS_MAX);
	for (unsigned i = 0; i < query.segment_count; i++)
		FUZZ_CHECK(memchr(query.segments[i].ptr, '\0',
			       query.segments[i].len) == NULL);
	read_all(&query, arena);
	return 0;
}
