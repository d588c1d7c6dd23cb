#include "fcgi/process/follower.h"

#include <errno.h>
#include <pthread.h>
#include <string.h>
#include <unistd.h>

#include "common/date.h"
#include "common/digest.h"
#include "common/log.h"
#include "fcgi/process/aside.h"
#include "lmdb-schema/snapshot/catalog.h"
#include "lmdb-schema/store/cluster.h"
#include "lmdb-schema/store/store.h"
#include "lmdb-schema/upkeep/computed.h"
#include "lmdb-schema/upkeep/edition.h"
#include "lmdb-schema/upkeep/keeping.h"
#include "lmdb-schema/upkeep/log_version.h"
#include "lmdb-schema/upkeep/prune.h"
#include "lmdb-schema/upkeep/push.h"

#define EACH_US 50000 /* between two looks at the log */
#define FAULT_S 5 /* after an entry that cannot be applied */
#define TELL_S 3 /* between two records of this node */
#define TELL_AGAIN_S 1
#define RECORD_S 10 /* as long as one holds */
#define TAKE_US 200000 /* between two looks for an import of another node */
#define TAKE_AGAIN_US 1000000
#define GRACE_S (15 * 60)
#define PUSH_S 600 /* between two looks at the bucket without a reason */
#define PUSH_AGAIN_S 30
#define PUSH_COMPUTED_S 5 /* as computations come by the hundred */
#define NOT_KNOWN UINT64_MAX

struct follower {
	struct store *store;
	struct metrics *metrics;
	struct engine_node node;
	struct engine_node other; /* the last record of another run */
	struct log_version version;
	unsigned keep; /* of cluster.conf */
	struct keeping_watching watch;
	_Atomic uint64_t whole; /* the version at which it lacked nothing */
	_Atomic bool refused; /* another node has its name */
};

/* --- its record ------------------------------------------------------------ */

/*
 * A record of another run is of this node before it was started anew, and then
 * it stays as it is until it ends; or it is of another node, and goes on.
 */
static void
met_other(struct follower *follower, const struct engine_node *other)
{
	bool goes_on = strcmp(follower->other.run, other->run) == 0 &&
	    follower->other.beat != other->beat;

	follower->other = *other;
	if (goes_on && !follower->refused) {
		log_error("another node has this one's name, so that this one "
			  "takes in nothing: name=%s address=%s: set another "
			  "[cluster] node in cluster.conf, and start gridapi "
			  "anew",
		    other->name,
		    other->address[0] == '\0' ? "-" : other->address);
		follower->refused = true;
	}
}

static enum err
tell(struct follower *follower)
{
	struct engine *engine = store_engine(follower->store);
	struct engine_node other;
	struct editions editions;
	enum err err = store_places(follower->store, follower->node.places);

	if (err == ERR_OK)
		err = edition_look(&editions, follower->store);
	if (err != ERR_OK)
		return err;
	follower->node.places[STORE_LIVE] = editions.shown;
	follower->node.places[STORE_CATALOG] = follower->whole;
	follower->node.beat++;
	err = engine->node_put(engine, &follower->node, RECORD_S, &other);
	if (err == ERR_EXISTS)
		met_other(follower, &other);
	else if (err == ERR_OK && follower->refused) {
		follower->refused = false;
		log_info("no other node has this one's name any more: name=%s",
		    follower->node.name);
	}
	if (err == ERR_OK)
		err = log_version_look(
		    &follower->version, follower->store, date_monotonic_ns());
	if (err == ERR_OK && !follower->refused)
		err = keeping_tell(
		    follower->store, &follower->node, follower->keep);
	if (err == ERR_OK && !follower->refused)
		err = keeping_watch(&follower->watch, follower->store,
		    store_engine(follower->store), follower->node.name,
		    date_monotonic_ns());
	if (err == ERR_OK)
		metrics_nodes(follower->metrics, follower->watch.changes,
		    follower->watch.away);
	return err;
}

static void *
tell_always(void *context)
{
	for (;;)
		sleep(tell(context) == ERR_OK ? TELL_S : TELL_AGAIN_S);
	return NULL;
}

/* --- what others import ----------------------------------------------------- */

static void
tell_new(struct follower *follower, uint64_t *shown)
{
	struct editions editions;
	struct pruned pruned;

	if (edition_look(&editions, follower->store) != ERR_OK)
		return;
	metrics_cluster(
	    follower->metrics, CLUSTER_IMPORT_SHOWN, (int64_t)editions.shown);
	metrics_cluster(follower->metrics, CLUSTER_IMPORT_LAST,
	    (int64_t)editions.now.number);
	if (editions.shown == *shown)
		return;
	if (*shown != NOT_KNOWN && editions.is_current) {
		log_info("this node shows import %llu of node %s",
		    (unsigned long long)editions.now.number, editions.now.node);
		/* As an import does at its end. */
		prune_all(follower->store, GRACE_S, &pruned);
	}
	*shown = editions.shown;
}

/* A reason is told once, until it is another. */
static void *
take_always(void *context)
{
	struct follower *follower = context;
	struct fault told, fault;
	uint64_t shown = NOT_KNOWN;

	fault_clear(&told);
	tell_new(follower, &shown);
	for (;;) {
		enum err err = ERR_OK;

		fault_clear(&fault);
		if (!follower->refused)
			err = edition_take(follower->store, false, &fault);
		if (err != ERR_BUSY)
			metrics_cluster(follower->metrics, CLUSTER_PULL_FAILS,
			    err != ERR_OK);
		if (err == ERR_OK)
			fault_clear(&told);
		else if (err != ERR_BUSY &&
		    strcmp(told.message, fault.message) != 0) {
			log_error("what another node has imported does not "
				  "come: %s: %s: %s",
			    err_text(err), fault.place, fault.message);
			told = fault;
		}
		tell_new(follower, &shown);
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
is_new(struct follower *follower, struct computed_seen *seen)
{
	struct editions editions;
	struct computed_seen now = {
	    .catalog = catalog_version(follower->store)};
	bool is;

	if (edition_look(&editions, follower->store) != ERR_OK ||
	    keeping_version(&now.version, follower->store) != ERR_OK)
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
give_up(struct follower *follower)
{
	uint64_t given, left;
	enum err err = keeping_give_up(&given, &left, follower->store);

	if (given > 0)
		log_info("snapshots are kept by other nodes alone: count=%llu",
		    (unsigned long long)given);
	return (err == ERR_OK && left > 0) || err == ERR_AWAY ? ERR_BUSY : err;
}

static enum err
exchange_computed(struct follower *follower, struct fault *fault)
{
	struct computed_taken taken;
	enum err err = computed_take(&taken, follower->store, fault);

	if (taken.count > 0)
		log_info("snapshots came from other nodes: count=%llu",
		    (unsigned long long)taken.count);
	if (taken.version > 0)
		follower->whole = taken.version;
	if (err == ERR_OK)
		err = computed_offer(follower->store, fault);
	return err == ERR_OK ? give_up(follower) : err;
}

static void *
exchange_always(void *context)
{
	struct follower *follower = context;
	struct computed_seen seen = {NOT_KNOWN, NOT_KNOWN, NOT_KNOWN, 0};
	struct fault told, fault;

	fault_clear(&told);
	for (;; usleep(TAKE_US)) {
		enum err err;

		if (follower->refused || !is_new(follower, &seen))
			continue;
		fault_clear(&fault);
		err = exchange_computed(follower, &fault);
		if (err != ERR_OK)
			seen.again_ns = date_monotonic_ns() +
			    (err == ERR_BUSY ? COMPUTED_BUSY_NS
					     : COMPUTED_AGAIN_NS);
		if (err == ERR_OK)
			fault_clear(&told);
		else if (err != ERR_BUSY &&
		    strcmp(told.message, fault.message) != 0) {
			log_error("what another node has computed does not "
				  "come: %s: %s: %s",
			    err_text(err), fault.place, fault.message);
			told = fault;
		}
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

/* A reason is told once, until it is another. */
static void
tell_pushed(enum err err, struct fault *told, const struct fault *fault)
{
	if (err == ERR_OK && told->message[0] != '\0') {
		log_info("the bucket takes files again");
		fault_clear(told);
	} else if (err != ERR_OK &&
	    (told->message[0] == '\0' ||
		strcmp(told->message, fault->message) != 0)) {
		log_error("files are not put into the bucket, and the nodes "
			  "do without it: %s: %s",
		    fault->place, fault->message);
		*told = *fault;
	}
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

/* The node that made the files puts them, unless it has gone meanwhile. */
static void *
push_always(void *context)
{
	const struct follower *follower = context;
	struct wanted before = {"", ""}, wanted;
	struct fault told, fault;
	struct pushed pushed;
	int64_t wait_s = 0, alike_s = 0;
	uint64_t published = NOT_KNOWN;

	fault_clear(&told);
	for (;; sleep(1)) {
		bool changed = look_at_wanted(&wanted, follower->store) &&
		    memcmp(&wanted, &before, sizeof(wanted)) != 0;
		enum err err;

		alike_s = changed ? 0 : alike_s + 1;
		wait_s = sooner(wait_s, &published, follower->store);
		if (follower->refused || (!changed && wait_s-- > 0))
			continue;
		fault_clear(&fault);
		err = push_files(&pushed, follower->store,
		    alike_s >= PUSH_S ? PUSH_LEFT : PUSH_OWN, &fault);
		if (err != ERR_OK)
			fault_set(&fault, "bucket", "%s", err_text(err));
		metrics_cluster(
		    follower->metrics, CLUSTER_PUSH_FAILS, err != ERR_OK);
		tell_pushed(err, &told, &fault);
		before = wanted;
		wait_s = err == ERR_OK ? PUSH_S : PUSH_AGAIN_S;
	}
	return NULL;
}

/* --- the log -------------------------------------------------------------- */

/*
 * Looks at the log for as long as the supervisor lives. A look that comes to its
 * end shows that nothing was missing when it began.
 */
static void
follow(struct follower *follower)
{
	for (;;) {
		int64_t began = date_monotonic_ns();
		enum err err = follower->refused
		    ? ERR_EXISTS
		    : store_follow(follower->store);

		if (err == ERR_OK)
			metrics_current(follower->metrics, began);
		metrics_cluster(
		    follower->metrics, CLUSTER_LOG_AWAY, err == ERR_AWAY);
		if (err == ERR_OK || err == ERR_AWAY || err == ERR_EXISTS)
			usleep(EACH_US);
		else
			sleep(FAULT_S);
	}
}

static void
work(const char *dir, struct metrics *metrics, const char *run)
{
	static struct follower follower;
	struct cluster_sharing sharing = {.keep = 0};
	struct fault fault;
	pthread_t thread;
	enum err err;

	fault_clear(&fault);
	follower.metrics = metrics;
	err = cluster_node(&follower.node, dir, &fault);
	if (err == ERR_OK)
		err = cluster_sharing(&sharing, dir, &fault);
	follower.keep = sharing.keep;
	memcpy(follower.node.run, run, sizeof(follower.node.run));
	if (err == ERR_OK)
		err = store_open(&follower.store, dir, &fault);
	if (err != ERR_OK) {
		log_error("%s: %s", fault.place, fault.message);
		return;
	}
	if (pthread_create(&thread, NULL, tell_always, &follower) != 0 ||
	    pthread_create(&thread, NULL, take_always, &follower) != 0 ||
	    pthread_create(&thread, NULL, exchange_always, &follower) != 0 ||
	    pthread_create(&thread, NULL, push_always, &follower) != 0)
		log_error("no thread for what the nodes tell each other");
	else
		follow(&follower);
}

pid_t
follower_start(const struct api_settings *settings, const struct listen *listen,
    struct metrics *metrics)
{
	/* The same for each process of this supervisor. */
	static char run[ENGINE_RUN_LEN + 1];
	pid_t pid;

	if (!cluster_is_told(settings->data_dir))
		return 0;
	metrics_behind(metrics);
	if (run[0] == '\0' && digest_random_text(run, ENGINE_RUN_LEN) != ERR_OK)
		return 0;
	pid = aside_fork(listen);
	if (pid < 0)
		log_error(
		    "no process that follows other nodes: %s", strerror(errno));
	if (pid != 0)
		return pid < 0 ? 0 : pid;
	work(settings->data_dir, metrics, run);
	_exit(1);
}
