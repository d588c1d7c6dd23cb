#include "lmdb-schema/upkeep/giving.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "common/date.h"
#include "common/kv/kv.h"
#include "common/web/pull.h"
#include "lmdb-schema/store/cluster.h"
#include "lmdb-schema/store/store.h"
#include "lmdb-schema/upkeep/edition_priv.h"
#include "lmdb-schema/upkeep/holders.h"

#define STALL_S 2
#define ALL_NS INT64_C(5000000000)

struct giving {
	struct store *store;
	struct editions editions;
	struct holders holders; /* what this node shows the others */
	struct giving_refusal nodes[FILES_HOLDERS_MAX]; /* with the files */
	unsigned count;
};

/* --- who has the files ----------------------------------------------------- */

static enum err
add_node(void *context, struct span node, struct span sha)
{
	struct giving *giving = context;
	struct giving_refusal *one = &giving->nodes[giving->count];

	if (giving->count == FILES_HOLDERS_MAX ||
	    !span_eq(sha, span_of(giving->editions.now.text.name)))
		return ERR_OK;
	memset(one, 0, sizeof(*one));
	if (span_copy(one->node, sizeof(one->node), node))
		giving->count++;
	return ERR_OK;
}

static enum err
list_nodes(struct giving *giving)
{
	struct kv_txn *txn;
	enum err err = edition_look(&giving->editions, giving->store);

	giving->count = 0;
	if (err != ERR_OK || giving->editions.now.number == 0)
		return err;
	err = kv_read(&txn, store_state(giving->store));
	if (err != ERR_OK)
		return err;
	err = edition_holders(txn, add_node, giving);
	kv_abort(txn);
	return err;
}

static enum err
add_address(void *context, const struct engine_node *node)
{
	struct giving *giving = context;

	for (unsigned i = 0; i < giving->count; i++) {
		struct giving_refusal *one = &giving->nodes[i];

		if (strcmp(one->node, node->name) != 0)
			continue;
		memcpy(one->address, node->address, sizeof(one->address));
		one->own = strcmp(node->name, giving->holders.own.name) == 0;
	}
	return ERR_OK;
}

/* --- asking ----------------------------------------------------------------- */

static enum err
pass_over(void *context, struct span bytes)
{
	(void)context;
	(void)bytes;
	return ERR_OK;
}

/* Fills the answer; it stays "" where the file comes, or nothing does. */
static void
ask_node(const struct giving *giving, struct giving_refusal *one)
{
	static const char answered[] = "it answered ";
	const struct files_id *text = &giving->editions.now.text;
	const struct files_from *from = &giving->holders.from;
	char url[FS_PATH_MAX];
	struct pull_request request = {.url = url,
	    .token = from->token,
	    .trust = &from->trust,
	    .from = text->bytes - 1,
	    .most = text->bytes,
	    .stall_s = STALL_S,
	    .each = pass_over};
	enum err err =
	    fs_path(url, "%s/cluster/files/%s", one->address, text->name);

	if (err == ERR_OK)
		(void)pull(&request, one->answer);
	if (strncmp(one->answer, answered, sizeof(answered) - 1) != 0)
		one->answer[0] = '\0';
}

/* A node that shows the next import by now lacks the text rightly. */
static bool
is_past(const struct giving *giving)
{
	struct editions now;

	return edition_look(&now, giving->store) != ERR_OK ||
	    strcmp(now.now.text.name, giving->editions.now.text.name) != 0;
}

static enum err
look(struct giving *giving,
    enum err (*each)(void *context, const struct giving_refusal *refusal),
    void *context)
{
	struct engine *engine = store_engine(giving->store);
	int64_t end_ns = date_monotonic_ns() + ALL_NS;
	enum err err = list_nodes(giving);

	if (err == ERR_OK && giving->count > 0)
		err = engine->nodes(engine, add_address, giving);
	for (unsigned i = 0; i < giving->count && err == ERR_OK; i++) {
		struct giving_refusal *one = &giving->nodes[i];

		if (one->address[0] == '\0' || date_monotonic_ns() >= end_ns)
			continue;
		ask_node(giving, one);
		if (one->answer[0] != '\0' && !is_past(giving))
			err = each(context, one);
	}
	return err;
}

enum err
giving_look(struct store *store,
    enum err (*each)(void *context, const struct giving_refusal *refusal),
    void *context)
{
	struct giving *giving;
	struct cluster_sharing sharing;
	enum err err = cluster_sharing(&sharing, store_dir(store), NULL);

	assert(each != NULL);
	if (err != ERR_OK || !sharing.files)
		return err;
	giving = calloc(1, sizeof(*giving));
	if (giving == NULL)
		return ERR_NO_MEMORY;
	giving->store = store;
	/* Without its secret this node cannot ask: it says so elsewhere. */
	if (holders_begin(&giving->holders, store_dir(store), NULL) == ERR_OK)
		err = look(giving, each, context);
	free(giving);
	return err;
}
