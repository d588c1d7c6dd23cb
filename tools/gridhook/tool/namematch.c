#include "tools/gridhook/tool/namematch.h"

#include <assert.h>
#include <fnmatch.h>

#include "common/fold.h"

#define QUERY_MAX 4096
#define NAME_MAX_BYTES 16384

enum err
namematch_init(struct namematch *match, struct span query)
{
	enum err err;

	buf_init(&match->query, QUERY_MAX);
	buf_init(&match->name, NAME_MAX_BYTES);
	match->glob = span_find(query, '*') < query.len ||
	    span_find(query, '?') < query.len;
	fold_add(&match->query, query);
	err = buf_end(&match->query);
	if (err == ERR_OK && match->query.len == 0)
		err = ERR_BAD_INPUT;
	buf_add_char(&match->query, '\0');
	return err != ERR_OK ? err : buf_end(&match->query);
}

void
namematch_fini(struct namematch *match)
{
	buf_fini(&match->query);
	buf_fini(&match->name);
}

bool
namematch_fits(struct namematch *match, const char *name)
{
	const char *query = match->query.data;

	assert(match->query.len > 0);
	buf_clear(&match->name);
	fold_add(&match->name, span_of(name));
	buf_add_char(&match->name, '\0');
	if (buf_end(&match->name) == ERR_OK)
		name = match->name.data;
	if (match->glob)
		return fnmatch(query, name, FNM_CASEFOLD) == 0;
	return strcasestr(name, query) != NULL;
}
