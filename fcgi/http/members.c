#include "fcgi/http/members.h"

#include <assert.h>

#include "lmdb-schema/row.h"

void
members_gamme(struct jsonw *json, const char *name, uint8_t gamme)
{
	assert(gamme <= ROW_GAMMES);
	jsonw_key(json, name);
	jsonw_raw(json, row_gamme_json(gamme));
}

void
members_codes(struct jsonw *json, const char *name, struct span codes)
{
	struct span code;

	assert(name != NULL);
	jsonw_key(json, name);
	if (codes.len == 0) {
		jsonw_null(json);
		return;
	}
	jsonw_array_begin(json);
	while (span_cut(&code, &codes, '\n'))
		if (code.len > 0)
			jsonw_string(json, code);
	jsonw_array_end(json);
}
