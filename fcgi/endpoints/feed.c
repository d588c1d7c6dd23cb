#include "fcgi/endpoints/feed.h"

#include "common/date.h"
#include "common/members.h"
#include "fcgi/call.h"
#include "fcgi/metrics.h"
#include "lmdb-schema/state/trail.h"
#include "lmdb-schema/state/trail_archive.h"
#include "lmdb-schema/state/trail_lost.h"

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

/* The fewest that the months before the present one have. */
static int64_t
days_of(int64_t months)
{
	int64_t now_ms = date_now_ms();

	return (trail_archive_before(now_ms, 0) -
		   trail_archive_before(now_ms, months)) /
	    86400000;
}

enum err
feed_write_kept(struct jsonw *json, struct state_view *view, int64_t months)
{
	int64_t since_ms = 0;
	enum err err = trail_since(view, &since_ms);

	if (err == ERR_NOT_FOUND)
		err = ERR_OK;
	members_time(json, "premiereLe", since_ms);
	jsonw_key(json, "conservationJours");
	if (months == 0)
		jsonw_null(json);
	else
		jsonw_int(json, days_of(months));
	return err;
}

enum err
feed_count(struct call *call, enum err err)
{
	if (trail_is_lost(err))
		call->server->metrics->damages++;
	return err;
}
