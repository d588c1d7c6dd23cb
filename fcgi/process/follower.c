#include "fcgi/process/follower.h"

#include <errno.h>
#include <string.h>
#include <unistd.h>

#include "common/date.h"
#include "common/log.h"
#include "fcgi/process/aside.h"
#include "lmdb-schema/store/cluster.h"
#include "lmdb-schema/store/store.h"

#define EACH_US 50000 /* between two looks at the log */
#define FAULT_S 5 /* after an entry that cannot be applied */

/*
 * Looks at the log for as long as the supervisor lives. A look that comes to its
 * end shows that nothing was missing when it began.
 */
static void
follow(struct store *store, struct metrics *metrics)
{
	for (;;) {
		int64_t began = date_monotonic_ns();
		enum err err = store_follow(store);

		if (err == ERR_OK)
			metrics_current(metrics, began);
		if (err == ERR_OK || err == ERR_AWAY)
			usleep(EACH_US);
		else
			sleep(FAULT_S);
	}
}

pid_t
follower_start(const struct api_settings *settings, const struct listen *listen,
    struct metrics *metrics)
{
	struct store *store = NULL;
	struct fault fault;
	pid_t pid;

	if (!cluster_is_told(settings->data_dir))
		return 0;
	metrics_behind(metrics);
	pid = aside_fork(listen);
	if (pid < 0)
		log_error(
		    "no process that follows other nodes: %s", strerror(errno));
	if (pid != 0)
		return pid < 0 ? 0 : pid;
	fault_clear(&fault);
	if (store_open(&store, settings->data_dir, &fault) == ERR_OK)
		follow(store, metrics);
	log_error("%s: %s", fault.place, fault.message);
	_exit(1);
}
