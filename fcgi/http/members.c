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
