#include "fcgi/endpoints/feed.h"

#include "common/members.h"
#include "lmdb-schema/state/trail.h"

const struct table_column feed_columns[FEED_COLUMNS] = {
    {{"numero", 6}, ROW_INTEGER},
    {{"etat", 4}, ROW_TEXT},
    {{"codeFournisseur", 15}, ROW_TEXT},
    {{"codein", 6}, ROW_TEXT},
    {{"gamme", 5}, ROW_TEXT},
    {{"gammePrecedente", 15}, ROW_TEXT},
    {{"motif", 5}, ROW_TEXT},
    {{"proposeePar", 11}, ROW_TEXT},
    {{"proposeeLe", 10}, ROW_TEXT},
    {{"decideePar", 10}, ROW_TEXT},
    {{"decideeLe", 9}, ROW_TEXT},
    {{"remplace", 8}, ROW_OBJECT},
};

enum err
feed_write_kept(struct jsonw *json, struct state_view *view)
{
	int64_t since_ms = 0;
	enum err err = trail_since(view, &since_ms);

	if (err == ERR_NOT_FOUND)
		err = ERR_OK;
	members_time(json, "premiereLe", since_ms);
	jsonw_key(json, "conservationJours");
	jsonw_null(json);
	return err;
}
