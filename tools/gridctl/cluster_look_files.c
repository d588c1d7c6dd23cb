/* cluster_look: nodes whose nginx does not give their files to the others. */
#include <stdio.h>

#include "lmdb-schema/store/files_refusal.h"
#include "lmdb-schema/upkeep/giving.h"
#include "tools/gridctl/cluster_look_priv.h"

static enum err
tell_refusal(void *context, const struct giving_refusal *refusal)
{
	struct cluster_looking *status = context;
	const struct files_refusal *known = files_refusal_of(refusal->answer);

	if (known != NULL)
		cluster_look_unwell(status, refusal->own, known->todo,
		    "node %s does not give its files to the others: %s: %s %s",
		    refusal->node, refusal->answer, known->text,
		    refusal->address);
	else
		cluster_look_unwell(status, refusal->own,
		    "the error log of nginx on that node says why",
		    "node %s does not give its files to the others: %s: asked "
		    "at %s",
		    refusal->node, refusal->answer, refusal->address);
	return ERR_OK;
}

/* The state of a node that lacks entries names an import of before. */
enum err
cluster_look_at_files(struct cluster_looking *status, struct store *store)
{
	return status->own_place < status->head
	    ? ERR_OK
	    : giving_look(store, tell_refusal, status);
}
