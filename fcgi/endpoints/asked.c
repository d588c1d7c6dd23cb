#include "fcgi/endpoints/asked.h"

#include <assert.h>
#include <string.h>

#include "common/fold.h"

enum err
asked_rows(struct rowset_query *query, struct call *call, struct span text)
{
	const struct params *params = &call->params;

	assert(params->sorts.count <= PARAMS_SORTS_MAX);
	*query = (struct rowset_query){.gamme = params->gamme,
	    .pending = params->pending,
	    .raw = !params->enrich,
	    .live = call->serving->views.live,
	    .codes = params->codes,
	    .code_count = 4,
	    .conditions = params->conditions,
	    .condition_count = params->condition_count,
	    .condition_key = params->condition_key,
	    .sort = params->sort,
	    .month = params->sorts.keys[0].month,
	    .descending = params->descending,
	    .more = params->sorts.keys + 1,
	    .more_count =
		params->sorts.count > 1 ? params->sorts.count - 1 : 0};
	return call_fold(&query->words, call, text);
}

bool
asked_named(
    struct buf *folded, struct span words, struct span code, struct span name)
{
	struct span word, text;

	if (words.len == 0)
		return true;
	buf_clear(folded);
	fold_add(folded, code);
	buf_add_char(folded, '\n');
	fold_add(folded, name);
	if (buf_end(folded) != ERR_OK)
		return false;
	text = buf_span(folded);
	while (span_cut(&word, &words, ' '))
		if (memmem(text.ptr, text.len, word.ptr, word.len) == NULL)
			return false;
	return true;
}
