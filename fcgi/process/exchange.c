#include "fcgi/process/exchange.h"

#include <pthread.h>
#include <string.h>
#include <unistd.h>

#include "common/date.h"
#include "common/err.h"
#include "common/fs.h"
#include "common/log.h"
#include "lmdb-schema/snapshot/catalog.h"
#include "lmdb-schema/store/store.h"
#include "lmdb-schema/upkeep/computed.h"
#include "lmdb-schema/upkeep/edition.h"
#include "lmdb-schema/upkeep/keeping.h"
#include "lmdb-schema/upkeep/lacks.h"
#include "lmdb-schema/upkeep/prune.h"
#include "lmdb-schema/upkeep/push.h"

#define TAKE_US 200000 /* between two looks for an import of another node */
#define TAKE_AGAIN_US 1000000
#define GRACE_S (15 * 60)
#define PUSH_S 600 /* between two looks at the bucket without a reason */
#define PUSH_AGAIN_S 30
#define PUSH_COMPUTED_S 5 /* as computations come by the hundred */
#define NOT_KNOWN UINT64_MAX

/* --- reasons ---------------------------------------------------------------- */

/* Why something fails, told once until it is another reason or goes well. */
struct reason {
	const char *fails, *again;
	struct fault told;
};

static void
reason_init(struct reason *reason, const char *fails, const char *again)
{
	reason->fails = fails;
	reason->again = again;
	fault_clear(&reason->told);
}

static void
reason_tell(struct reason *reason, enum err err, struct fault *fault)
{
	if (err == ERR_BUSY)
		return;
	if (err != ERR_OK && fault->message[0] == '\0')
		fault_set(fault, "-", "%s", err_text(err));
	if (err == ERR_OK && reason->told.message[0] != '\0') {
		log_info("%s", reason->again);
		fault_clear(&reason->told);
	} else if (err != ERR_OK &&
	    strcmp(reason->told.message, fault->message) != 0) {
		log_error(
		    "%s: %s: %s", reason->fails, fault->place, fault->message);
		reason->told = *fault;
	}
}

/* --- a full disk ------------------------------------------------------------ */

#define FULL_NS INT64_C(60000000000)
#define FULL_BYTES ((uint64_t)1 << 20)

/* Since a file found no room. */
struct full {
	int64_t until_ns; /* 0: it is not full */
	uint64_t free;
};

static uint64_t
free_bytes(const struct exchange *exchange)
{
	uint64_t bytes;

	return fs_free_bytes(store_dir(exchange->store), &bytes) == ERR_OK
	    ? bytes
	    : 0;
}

static void
full_note(struct full *full, const struct exchange *exchange, enum err err)
{
	full->until_ns =
	    err == ERR_NO_SPACE ? date_monotonic_ns() + FULL_NS : 0;
	full->free = err == ERR_NO_SPACE ? free_bytes(exchange) : 0;
}

/* A try that would find no room either is not made, or once a minute. */
static bool
full_waits(const struct full *full, const struct exchange *exchange)
{
	return full->until_ns != 0 && date_monotonic_ns() < full->until_ns &&
	    free_bytes(exchange) < full->free + FULL_BYTES;
}

/*
 * Replaced snapshots and facts go before their time: who pages through one begins
 * again. Files that somebody reads are there until then.
 */
static bool
make_room(struct exchange *exchange)
{
	struct pruned pruned;

	if (prune_all(exchange->store, 0, &pruned) != ERR_OK ||
	    pruned.bytes == 0)
		return false;
	log_warn("the disk is full, replaced files were removed: bytes=%llu "
		 "snapshots=%llu facts=%llu",
	    (unsigned long long)pruned.bytes,
	    (unsigned long long)pruned.snapshots,
	    (unsigned long long)pruned.facts);
	return true;
}

/* Once more where the disk was full, and there is room. */
static enum err
with_room(struct exchange *exchange, struct full *full,
    enum err (*take)(struct exchange *exchange, struct fault *fault),
    struct fault *fault)
{
	enum err err = take(exchange, fault);

	if (err == ERR_NO_SPACE && make_room(exchange)) {
		fault_clear(fault);
		err = take(exchange, fault);
	}
	full_note(full, exchange, err);
	return err;
}

/* --- what others import ----------------------------------------------------- */

static void
tell_new(struct exchange *exchange, uint64_t *shown)
{
	struct editions editions;
	struct pruned pruned;

	if (edition_look(&editions, exchange->store) != ERR_OK)
		return;
	metrics_cluster(
	    exchange->metrics, CLUSTER_IMPORT_SHOWN, (int64_t)editions.shown);
	metrics_cluster(exchange->metrics, CLUSTER_IMPORT_LAST,
	    (int64_t)editions.now.number);
	if (editions.shown == *shown)
		return;
	if (*shown != NOT_KNOWN && editions.is_current) {
		log_info("this node shows import %llu of node %s",
		    (unsigned long long)editions.now.number, editions.now.node);
		/* As an import does at its end. */
		prune_all(exchange->store, GRACE_S, &pruned);
	}
	*shown = editions.shown;
}

static enum err
take_import(struct exchange *exchange, struct fault *fault)
{
	return edition_take(exchange->store, false, fault);
}

static void *
take_always(void *context)
{
	struct exchange *exchange = context;
	struct full full = {.until_ns = 0};
	struct lacks_note note = {.known = false};
	struct reason reason;
	struct fault fault;
	uint64_t shown = NOT_KNOWN;

	reason_init(&reason, "what another node has imported does not come",
	    "imports of other nodes come again");
	tell_new(exchange, &shown);
	for (;;) {
		enum err err = ERR_OK;

		if (full_waits(&full, exchange)) {
			tell_new(exchange, &shown);
			usleep(TAKE_AGAIN_US);
			continue;
		}
		fault_clear(&fault);
		if (!exchange->refused)
			err = with_room(exchange, &full, take_import, &fault);
		if (err != ERR_BUSY)
			metrics_pulled(exchange->metrics, err != ERR_OK,
			    date_monotonic_ns());
		reason_tell(&reason, err, &fault);
		if (!exchange->refused)
			(void)lacks_tell_import(&note,
			    store_engine(exchange->store), exchange->node,
			    &reason.told);
		tell_new(exchange, &shown);
		usleep(
		    err == ERR_OK || err == ERR_BUSY ? TAKE_US : TAKE_AGAIN_US);
	}
	return NULL;
}

/* --- what others compute ---------------------------------------------------- */

/* A failure is looked at again after a while, as a change is at once. */
#define COMPUTED_AGAIN_NS INT64_C(5000000000)
#define COMPUTED_BUSY_NS INT64_C(1000000000)

struct computed_seen {
	uint64_t version, shown, catalog; /* NOT_KNOWN: look */
	int64_t again_ns; /* 0: only when one of these changes */
};

static uint64_t
catalog_version(struct store *store)
{
	struct catalog_view *view;
	uint64_t version = NOT_KNOWN;

	if (catalog_view_open(&view, store) == ERR_OK)
		version = catalog_view_version(view);
	catalog_view_close(view);
	return version;
}

static bool
is_new(struct exchange *exchange, struct computed_seen *seen)
{
	struct editions editions;
	struct computed_seen now = {
	    .catalog = catalog_version(exchange->store)};
	bool is;

	if (edition_look(&editions, exchange->store) != ERR_OK ||
	    keeping_version(&now.version, exchange->store) != ERR_OK)
		return false;
	now.shown = editions.shown;
	is = now.version != seen->version || now.shown != seen->shown ||
	    now.catalog != seen->catalog ||
	    (seen->again_ns != 0 && date_monotonic_ns() >= seen->again_ns);
	if (is)
		*seen = now;
	return is;
}

/* Snapshots that other nodes keep go from here once these have them. */
static enum err
give_up(struct exchange *exchange)
{
	uint64_t given, left;
	enum err err = keeping_give_up(&given, &left, exchange->store);

	if (given > 0)
		log_info("snapshots are kept by other nodes alone: count=%llu",
		    (unsigned long long)given);
	return (err == ERR_OK && left > 0) || err == ERR_AWAY ? ERR_BUSY : err;
}

static enum err
exchange_computed(struct exchange *exchange, struct fault *fault)
{
	struct computed_taken taken;
	enum err err = computed_take(&taken, exchange->store, fault);

	if (taken.count > 0)
		log_info("snapshots came that other nodes have computed: "
			 "count=%llu",
		    (unsigned long long)taken.count);
	if (taken.version > 0)
		exchange->whole = taken.version;
	if (err == ERR_OK)
		err = computed_offer(exchange->store, fault);
	return err == ERR_OK ? give_up(exchange) : err;
}

static void *
exchange_always(void *context)
{
	struct exchange *exchange = context;
	struct computed_seen seen = {NOT_KNOWN, NOT_KNOWN, NOT_KNOWN, 0};
	struct full full = {.until_ns = 0};
	struct reason reason;
	struct fault fault;

	reason_init(&reason, "what another node has computed does not come",
	    "computations of other nodes come again");
	for (;; usleep(TAKE_US)) {
		enum err err;

		if (exchange->refused || full_waits(&full, exchange) ||
		    !is_new(exchange, &seen))
			continue;
		fault_clear(&fault);
		err = with_room(exchange, &full, exchange_computed, &fault);
		if (err != ERR_BUSY)
			metrics_cluster(exchange->metrics,
			    CLUSTER_COMPUTED_FAILS, err != ERR_OK);
		if (err != ERR_OK)
			seen.again_ns = date_monotonic_ns() +
			    (err == ERR_BUSY ? COMPUTED_BUSY_NS
					     : COMPUTED_AGAIN_NS);
		reason_tell(&reason, err, &fault);
	}
	return NULL;
}

/* --- the bucket ------------------------------------------------------------- */

/* Of what the bucket is to have: editions by their texts. */
struct wanted {
	char now[FILES_NAME_LEN + 1], offered[FILES_NAME_LEN + 1];
};

static bool
look_at_wanted(struct wanted *wanted, struct store *store)
{
	struct editions editions;

	memset(wanted, 0, sizeof(*wanted));
	if (edition_look(&editions, store) != ERR_OK)
		return false;
	memcpy(wanted->now, editions.now.text.name, sizeof(wanted->now));
	memcpy(wanted->offered, editions.offered.text.name,
	    sizeof(wanted->offered));
	return true;
}

/* Looks sooner where a supplier was computed. */
static int64_t
sooner(int64_t wait_s, uint64_t *published, struct store *store)
{
	uint64_t now;

	if (computed_published(&now, store) != ERR_OK || now == *published)
		return wait_s;
	*published = now;
	return wait_s < PUSH_COMPUTED_S ? wait_s : PUSH_COMPUTED_S;
}

struct push {
	struct wanted before;
	struct reason reason;
	int64_t wait_s, alike_s;
	uint64_t published;
	bool refused; /* a file, and the bucket has taken none since */
};

/*
 * An import that was refused for want of the bucket has no files that are to be put:
 * that nothing fails then does not say that the bucket takes files again.
 */
static enum err
push_now(struct push *push, const struct exchange *exchange)
{
	struct pushed pushed;
	struct fault fault;
	enum err err;

	fault_clear(&fault);
	err = push_files(&pushed, exchange->store,
	    push->alike_s >= PUSH_S ? PUSH_LEFT : PUSH_OWN, &fault);
	metrics_cluster(exchange->metrics, CLUSTER_PUSH_FAILS, err != ERR_OK);
	push->refused = pushed.refused || (push->refused && pushed.files == 0);
	if (err != ERR_OK || !push->refused)
		reason_tell(&push->reason, err, &fault);
	return err;
}

static void
push_where_due(struct push *push, const struct exchange *exchange)
{
	struct wanted wanted;
	bool changed = look_at_wanted(&wanted, exchange->store) &&
	    memcmp(&wanted, &push->before, sizeof(wanted)) != 0;

	push->alike_s = changed ? 0 : push->alike_s + 1;
	push->wait_s = sooner(push->wait_s, &push->published, exchange->store);
	if (!changed && push->wait_s-- > 0)
		return;
	push->wait_s =
	    push_now(push, exchange) == ERR_OK ? PUSH_S : PUSH_AGAIN_S;
	push->before = wanted;
}

/* The node that made the files puts them, unless it has gone meanwhile. */
static void *
push_always(void *context)
{
	const struct exchange *exchange = context;
	struct push push = {.published = NOT_KNOWN};
	struct lacks_note note = {.known = false};

	reason_init(&push.reason,
	    "files are not put into the bucket, and the nodes do without it",
	    "the bucket takes files again");
	for (;; sleep(1)) {
		if (exchange->refused)
			continue;
		push_where_due(&push, exchange);
		(void)lacks_tell_bucket(&note, store_engine(exchange->store),
		    exchange->node, &push.reason.told);
	}
	return NULL;
}

bool
exchange_start(struct exchange *exchange)
{
	void *(*const works[])(void *) = {
	    take_always, exchange_always, push_always};
	pthread_t thread;

	for (size_t i = 0; i < sizeof(works) / sizeof(works[0]); i++)
		if (pthread_create(&thread, NULL, works[i], exchange) != 0)
			return false;
	return true;
}
