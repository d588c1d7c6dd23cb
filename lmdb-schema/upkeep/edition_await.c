/* The copies of an import that other nodes are to have before it is published. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "common/date.h"
#include "common/kv/kv.h"
#include "common/log.h"
#include "lmdb-schema/state/share.h"
#include "lmdb-schema/store/store.h"
#include "lmdb-schema/upkeep/edition_priv.h"
#include "lmdb-schema/upkeep/lacks.h"

#define SECOND_NS INT64_C(1000000000)
#define LOOK_US 50000
#define RATE ((uint64_t)1 << 20) /* bytes a second that a node gets at least */
#define WAIT_S 60
#define ALIVE_S 5

struct other {
	char name[ENGINE_NODE_NAME_MAX];
	bool has, alive;
	bool named; /* with an address, where a node gets files */
	struct lacks lacks;
};

/* All but this node. */
struct others {
	const struct edition_awaited *awaited;
	struct other list[SHARE_NODES_MAX];
	unsigned count;
	unsigned have, alive; /* of the list */
	struct buf lacks; /* what nodes have told */
	char bucket_why[LACKS_WHY_MAX]; /* this one, of the bucket; or "" */
};

/* NULL: it is this node, or there are too many. */
static struct other *
find(struct others *others, struct span name)
{
	struct other *other;

	if (span_eq(name, span_of(others->awaited->own->name)))
		return NULL;
	for (unsigned i = 0; i < others->count; i++)
		if (span_eq(name, span_of(others->list[i].name)))
			return &others->list[i];
	if (others->count == SHARE_NODES_MAX)
		return NULL;
	other = &others->list[others->count];
	memset(other, 0, sizeof(*other));
	if (!span_copy(other->name, sizeof(other->name), name))
		return NULL;
	others->count++;
	return other;
}

/* A node that has had an import is one of the cluster, also while it is down. */
static enum err
add_holder(void *context, struct span node, struct span sha)
{
	struct others *others = context;
	struct other *other = find(others, node);

	if (other != NULL &&
	    span_eq(sha, span_of(others->awaited->made->text.name))) {
		other->has = true;
		others->have++;
	}
	return ERR_OK;
}

static enum err
add_keepers(struct others *others, struct kv_txn *txn)
{
	struct share *share = malloc(sizeof(*share));
	enum err err = share == NULL ? ERR_NO_MEMORY : share_read(share, txn);

	for (unsigned i = 0; err == ERR_OK && i < share->count; i++)
		(void)find(others, span_of(share->nodes[i].name));
	free(share);
	return err;
}

/* The nodes that the state names, and which of them have the files. */
static enum err
look_at_state(struct others *others)
{
	struct kv_txn *txn;
	enum err err = kv_read(&txn, store_state(others->awaited->store));

	others->count = others->have = others->alive = 0;
	if (err != ERR_OK)
		return err;
	err = edition_holders(txn, add_holder, others);
	if (err == ERR_OK)
		err = add_keepers(others, txn);
	kv_abort(txn);
	return err;
}

static enum err
add_alive(void *context, const struct engine_node *node)
{
	struct others *others = context;
	struct lacks lacks;
	struct other *other;

	if (strcmp(node->name, others->awaited->own->name) == 0) {
		lacks_find(&lacks, &others->lacks, node);
		memcpy(others->bucket_why, lacks.bucket_why,
		    sizeof(others->bucket_why));
	}
	if (strcmp(node->run, ENGINE_RUN_JOINS) == 0 ||
	    strcmp(node->run, ENGINE_RUN_TWIN) == 0)
		return ERR_OK;
	other = find(others, span_of(node->name));
	if (other == NULL)
		return ERR_OK;
	other->alive = true;
	other->named = node->address[0] != '\0';
	others->alive += other->named;
	lacks_find(&other->lacks, &others->lacks, node);
	return ERR_OK;
}

/* ERR_AWAY. */
static enum err
look_at_engine(struct others *others)
{
	struct engine *engine = store_engine(others->awaited->store);
	enum err err;

	buf_clear(&others->lacks);
	err = lacks_read(&others->lacks, engine);
	return err == ERR_OK ? engine->nodes(engine, add_alive, others) : err;
}

/* --- telling -------------------------------------------------------------- */

#define WHY_MAX (LACKS_WHY_MAX + 64)

static void
tell_other(const struct other *other)
{
	char why[WHY_MAX];

	if (other->has)
		return;
	if (!other->alive)
		snprintf(why, sizeof(why),
		    "is not heard of: is its gridapi up, and does it reach the "
		    "log?");
	else if (!other->named)
		snprintf(why, sizeof(why),
		    "has no [cluster] address, and so gets no files");
	else if (other->lacks.stands[0] != '\0')
		snprintf(why, sizeof(why), "does not take in the log: %s",
		    other->lacks.stands);
	else if (other->lacks.import_why[0] != '\0')
		snprintf(why, sizeof(why), "does not get them: %s",
		    other->lacks.import_why);
	else
		snprintf(why, sizeof(why),
		    "does not have them yet, and tells no reason: see the log "
		    "of its gridapi");
	log_warn("the import's files: node %s %s", other->name, why);
}

/* gridapi of this node puts them there, and tells the reason. */
static void
tell_bucket(const struct others *others)
{
	if (others->bucket_why[0] != '\0')
		log_warn("the import's files: the bucket does not get them: %s",
		    others->bucket_why);
	else
		log_warn("the import's files: the bucket does not have them: "
			 "'gridctl cluster push' says why");
}

/* A line for each that has not all of them. */
static void
tell_all(struct others *others)
{
	enum err err = look_at_state(others);

	if (err == ERR_OK)
		err = look_at_engine(others);
	if (err != ERR_OK)
		log_warn("the import's files: why the other nodes lack them is "
			 "not known, as the log does not tell now");
	for (unsigned i = 0; err == ERR_OK && i < others->count; i++)
		tell_other(&others->list[i]);
	if (err == ERR_OK && others->count == 0)
		log_warn("the import's files: no other node has ever been "
			 "heard of");
	if (others->awaited->bucket)
		tell_bucket(others);
}

static void
say_refused(struct others *others, struct fault *fault)
{
	tell_all(others);
	fault_set(fault, store_dir(others->awaited->store),
	    "nothing was changed: %u of %u nodes have the import's files, and "
	    "the lines above say why the others have not. Mend that and import "
	    "again, or import with a lower [cluster] copies in cluster.conf",
	    others->have + 1, others->awaited->copies);
}

static void
say_waiting(struct others *others, int64_t seconds)
{
	log_warn("the import waits for other nodes to get its files: have=%u "
		 "copies=%u at_most_seconds=%lld",
	    others->have + 1, others->awaited->copies, (long long)seconds);
	tell_all(others);
}

/* --- waiting -------------------------------------------------------------- */

/* Whether those that are alive can be so many. */
static bool
can_suffice(struct others *others)
{
	const struct edition_awaited *awaited = others->awaited;

	return look_at_engine(others) != ERR_OK ||
	    others->alive + (awaited->bucket ? 2u : 1u) >= awaited->copies;
}

static enum err
await(struct others *others, uint64_t bytes)
{
	const struct edition_awaited *awaited = others->awaited;
	int64_t wait_s = (int64_t)(WAIT_S + bytes / RATE);
	int64_t begin = date_monotonic_ns(), now = begin;
	bool told = false;
	enum err err = look_at_state(others);

	while (err == ERR_OK && others->have + 1 < awaited->copies &&
	    now - begin < wait_s * SECOND_NS) {
		if (now - begin > ALIVE_S * SECOND_NS) {
			if (!can_suffice(others))
				break;
			if (!told)
				say_waiting(others, wait_s);
			told = true;
		}
		usleep(LOOK_US);
		(void)store_follow(awaited->store);
		err = look_at_state(others);
		now = date_monotonic_ns();
	}
	return err;
}

enum err
edition_await(
    const struct edition_awaited *awaited, uint64_t bytes, struct fault *fault)
{
	struct others *others = calloc(1, sizeof(*others));
	enum err err;

	if (others == NULL)
		return ERR_NO_MEMORY;
	others->awaited = awaited;
	buf_init(&others->lacks, LACKS_TEXT_MAX);
	err = await(others, bytes);
	if (err == ERR_OK && others->have + 1 < awaited->copies) {
		say_refused(others, fault);
		err = ERR_TIMED_OUT;
	}
	buf_fini(&others->lacks);
	free(others);
	return err;
}
