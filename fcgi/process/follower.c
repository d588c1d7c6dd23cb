#include "fcgi/process/follower.h"

#include <errno.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "common/date.h"
#include "common/digest.h"
#include "common/limits.h"
#include "common/log.h"
#include "fcgi/process/aside.h"
#include "fcgi/process/exchange.h"
#include "lmdb-schema/store/cluster.h"
#include "lmdb-schema/store/store.h"
#include "lmdb-schema/upkeep/edition.h"
#include "lmdb-schema/upkeep/keeping.h"
#include "lmdb-schema/upkeep/lacks.h"
#include "lmdb-schema/upkeep/log_version.h"
#include "lmdb-schema/upkeep/roster.h"

#define EACH_US 50000 /* between two looks at the log */
#define FAULT_S 5 /* after an entry that cannot be applied */
#define TELL_S 3 /* between two records of this node */
#define TELL_AGAIN_S 1
#define RECORD_S 10 /* as long as one holds */

struct follower {
	struct exchange exchange;
	struct engine_node node;
	struct engine_node other; /* the last record of another run */
	struct log_version version;
	unsigned keep; /* of cluster.conf */
	struct keeping_watching watch;
	struct lacks_telling lacks;
	int64_t roster_ns; /* when its text is put again: roster.h */
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
	if (goes_on && !follower->exchange.refused) {
		log_error("another node has this one's name, so that this one "
			  "is not ready, and takes in what others write only "
			  "with its own writes: name=%s address=%s: set "
			  "another [cluster] node in cluster.conf, and start "
			  "gridapi anew",
		    other->name,
		    other->address[0] == '\0' ? "-" : other->address);
		follower->exchange.refused = true;
	}
}

/* For 'gridctl cluster status' on any node: it says where the second one is. */
static enum err
tell_of_twin(struct follower *follower)
{
	struct engine *engine = store_engine(follower->exchange.store);
	struct engine_node twin, other;
	char host[ENGINE_NODE_NAME_MAX] = "";

	engine_node_aside(&twin, &follower->node, ENGINE_RUN_TWIN);
	gethostname(host, sizeof(host) - 1);
	snprintf(twin.program, sizeof(twin.program), "%s%s%.180s", host,
	    follower->node.address[0] == '\0' ? "" : ", ",
	    follower->node.address);
	return engine->node_put(engine, &twin, RECORD_S, &other);
}

static enum err
put_record(struct follower *follower)
{
	struct engine *engine = store_engine(follower->exchange.store);
	struct engine_node other;
	enum err err =
	    engine->node_put(engine, &follower->node, RECORD_S, &other);

	if (err == ERR_EXISTS) {
		met_other(follower, &other);
		if (follower->exchange.refused)
			(void)tell_of_twin(follower);
	} else if (err == ERR_OK && follower->exchange.refused) {
		follower->exchange.refused = false;
		log_info("no other node has this one's name any more: name=%s",
		    follower->node.name);
	}
	return err;
}

/* Whether it was put, or refused: a log that is away tells nothing of rights. */
static void
note_rights(struct follower *follower, bool put)
{
	struct engine *engine = store_engine(follower->exchange.store);
	struct engine_trouble trouble;
	char text[METRICS_REFUSAL_MAX] = "";

	if (put && engine->rights != NULL)
		(void)engine->rights(engine);
	if (engine_lacks_rights(&trouble, engine))
		snprintf(text, sizeof(text), "%s %s", engine->title,
		    trouble.refusal);
	metrics_refused(follower->exchange.metrics, text);
}

static enum err
tell(struct follower *follower)
{
	struct store *store = follower->exchange.store;
	struct engine_node *node = &follower->node;
	struct editions editions;
	enum err err = store_places(store, node->places);

	if (err == ERR_OK)
		err = edition_look(&editions, store);
	if (err != ERR_OK)
		return err;
	node->places[STORE_LIVE] = editions.shown;
	node->places[STORE_CATALOG] = follower->exchange.whole;
	node->beat++;
	err = put_record(follower);
	note_rights(follower, err == ERR_OK);
	if (err == ERR_OK)
		err = roster_tell(&follower->roster_ns, store_engine(store),
		    node->name, date_now_ms(), date_monotonic_ns());
	/* Before what writes: the disk may be full. */
	if (err == ERR_OK)
		err = lacks_tell(&follower->lacks, store, store_engine(store),
		    node, follower->exchange.whole,
		    (enum err)metrics_cluster_now(
			follower->exchange.metrics, CLUSTER_FOLLOWED),
		    date_monotonic_ns());
	if (err == ERR_OK)
		err = log_version_look(
		    &follower->version, store, date_monotonic_ns());
	if (err == ERR_OK)
		err = keeping_tell(store, node, follower->keep);
	if (err == ERR_OK)
		err = keeping_watch(&follower->watch, store,
		    store_engine(store), node->name, date_monotonic_ns());
	if (err == ERR_OK)
		metrics_nodes(follower->exchange.metrics,
		    follower->watch.changes, follower->watch.away);
	return err;
}

static void *
tell_always(void *context)
{
	for (;;)
		sleep(tell(context) == ERR_OK ? TELL_S : TELL_AGAIN_S);
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
		enum err err = follower->exchange.refused
		    ? ERR_EXISTS
		    : store_follow(follower->exchange.store);

		if (err == ERR_OK)
			metrics_current(follower->exchange.metrics, began);
		metrics_cluster(follower->exchange.metrics, CLUSTER_LOG_AWAY,
		    err == ERR_AWAY);
		metrics_cluster(
		    follower->exchange.metrics, CLUSTER_FOLLOWED, err);
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
	char text[FAULT_TEXT_MAX];
	struct fault fault;
	pthread_t thread;
	enum err err;

	fault_clear(&fault);
	follower.exchange.metrics = metrics;
	follower.exchange.node = &follower.node;
	err = cluster_node(&follower.node, dir, &fault);
	if (err == ERR_OK)
		err = cluster_sharing(&sharing, dir, &fault);
	follower.keep = sharing.keep;
	memcpy(follower.node.run, run, sizeof(follower.node.run));
	if (err == ERR_OK)
		err = store_open(&follower.exchange.store, dir, &fault);
	if (err != ERR_OK) {
		log_error("%s", fault_text(text, &fault, err));
		return;
	}
	if (pthread_create(&thread, NULL, tell_always, &follower) != 0 ||
	    !exchange_start(&follower.exchange))
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
	char why[LIMITS_TEXT_MAX];
	pid_t pid;

	if (!cluster_is_told(settings->data_dir))
		return 0;
	metrics_behind(metrics);
	if (run[0] == '\0' && digest_random_text(run, ENGINE_RUN_LEN) != ERR_OK)
		return 0;
	pid = aside_fork(listen);
	if (pid < 0)
		log_error("no process that follows other nodes: %s",
		    limits_why_no_thread(why, errno));
	if (pid != 0)
		return pid < 0 ? 0 : pid;
	work(settings->data_dir, metrics, run);
	_exit(1);
}
