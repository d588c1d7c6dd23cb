#include "fcgi/process/follower.h"

#include <errno.h>
#include <pthread.h>
#include <string.h>
#include <unistd.h>

#include "common/date.h"
#include "common/digest.h"
#include "common/log.h"
#include "fcgi/process/aside.h"
#include "lmdb-schema/store/cluster.h"
#include "lmdb-schema/store/store.h"

#define EACH_US 50000 /* between two looks at the log */
#define FAULT_S 5 /* after an entry that cannot be applied */
#define TELL_S 3 /* between two records of this node */
#define TELL_AGAIN_S 1
#define RECORD_S 10 /* as long as one holds */

struct follower {
	struct store *store;
	struct metrics *metrics;
	struct engine_node node;
	struct engine_node other; /* the last record of another run */
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
	enum err err = store_places(follower->store, follower->node.places);

	if (err != ERR_OK)
		return err;
	follower->node.beat++;
	err = engine->node_put(engine, &follower->node, RECORD_S, &other);
	if (err == ERR_EXISTS)
		met_other(follower, &other);
	else if (err == ERR_OK && follower->refused) {
		follower->refused = false;
		log_info("no other node has this one's name any more: name=%s",
		    follower->node.name);
	}
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
		enum err err = follower->refused
		    ? ERR_EXISTS
		    : store_follow(follower->store);

		if (err == ERR_OK)
			metrics_current(follower->metrics, began);
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
	struct fault fault;
	pthread_t thread;
	enum err err;

	fault_clear(&fault);
	follower.metrics = metrics;
	err = cluster_node(&follower.node, dir, &fault);
	memcpy(follower.node.run, run, sizeof(follower.node.run));
	if (err == ERR_OK)
		err = store_open(&follower.store, dir, &fault);
	if (err != ERR_OK) {
		log_error("%s: %s", fault.place, fault.message);
		return;
	}
	if (pthread_create(&thread, NULL, tell_always, &follower) != 0)
		log_error("no thread that tells other nodes of this one");
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
