/* gridctl doctor: the nodes of a cluster, their log, and what this one lacks. */
#include <assert.h>
#include <string.h>

#include "lmdb-schema/store/cluster.h"
#include "lmdb-schema/store/store.h"
#include "tools/gridctl/cluster_look.h"
#include "tools/gridctl/doctor.h"

struct saying {
	struct doctor *doctor;
	unsigned said;
};

static void
say(void *context, bool here, const char *todo, const char *text)
{
	struct saying *saying = context;

	saying->said++;
	doctor_say(saying->doctor, here ? DOCTOR_WRONG : DOCTOR_LOOK, "cluster",
	    todo, "%s", text);
}

/* Of what comes just now it is as it should be, unless it does not come. */
static void
say_lacking(struct doctor *doctor, const struct lacks *lacks)
{
	static const char todo[] = "gridapi gets it; where it does not come, "
				   "'gridctl cluster pull' says why";

	if (lacks->import != 0)
		doctor_say(doctor, DOCTOR_LOOK, "cluster", todo,
		    "this node does not show the last import yet, which is %s",
		    cmd_count(lacks->import));
	if (lacks->snapshots != 0)
		doctor_say(doctor, DOCTOR_LOOK, "cluster", todo,
		    "snapshots of other nodes that are not here yet: %s",
		    cmd_count(lacks->snapshots));
}

void
doctor_nodes(struct doctor *doctor, struct store *store)
{
	struct saying saying = {.doctor = doctor};
	const struct cluster_look_options options = {
	    .behind = CLUSTER_LOOK_BEHIND, .unwell = say, .context = &saying};
	struct cluster_looked looked;
	struct fault fault;
	struct buf text;
	enum err err;

	assert(doctor != NULL && store != NULL);
	if (store_is_cut_off(store))
		doctor_say(doctor, DOCTOR_WRONG, "cluster",
		    CLUSTER_CUT_OFF_TODO,
		    "%s/cluster.conf is missing, and the state is of a node of "
		    "several: nothing is stored here",
		    store_dir(store));
	if (!store_is_shared(store))
		return;
	fault_clear(&fault);
	buf_init(&text, CLUSTER_LOOK_MAX);
	err = cluster_look(&looked, &text, store, &options, &fault);
	buf_fini(&text);
	if (err != ERR_OK)
		doctor_say(doctor, DOCTOR_WRONG, "cluster",
		    "'gridctl cluster status'", "%s",
		    fault.message[0] != '\0' ? fault.message : err_text(err));
	say_lacking(doctor, &looked.lacks);
	if (err == ERR_OK && saying.said == 0)
		doctor_say(doctor, DOCTOR_FINE, "cluster", NULL,
		    "nodes that are alive: %u; this one lacks %s of %s entries "
		    "of the log",
		    looked.alive, cmd_count(looked.behind),
		    cmd_count(looked.entries));
}
