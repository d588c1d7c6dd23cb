/* A node that goes. */
#include "common/fs.h"
#include "lmdb-schema/state/share.h"
#include "lmdb-schema/store/cluster.h"
#include "lmdb-schema/store/store.h"
#include "lmdb-schema/upkeep/join.h"
#include "lmdb-schema/upkeep/join_priv.h"
#include "lmdb-schema/upkeep/roster.h"

/* The other nodes cannot be told. */
static enum err
leave_cut_off(const char *dir, struct fault *fault)
{
	struct store *store = NULL;
	enum err err = join_check_unused(dir, fault);

	if (err == ERR_OK)
		err = store_open(&store, dir, fault);
	if (err == ERR_OK)
		err = store_leave_log(store);
	return join_end_with(store, err, fault);
}

enum err
join_leave(bool *told, const char *dir, struct fault *fault)
{
	char conf[FS_PATH_MAX], left[FS_PATH_MAX];
	struct engine_node node;
	struct store *store = NULL;
	enum err err = join_check_told(dir, fault);

	*told = err == ERR_OK;
	if (err == ERR_CUT_OFF) {
		fault_clear(fault);
		return leave_cut_off(dir, fault);
	}
	if (err == ERR_OK)
		err = join_check_unused(dir, fault);
	if (err == ERR_OK)
		err = cluster_node(&node, dir, fault);
	if (err == ERR_OK)
		err = store_open(&store, dir, fault);
	if (err == ERR_OK)
		err = share_drop(store, node.name);
	/* The other nodes drop the record of a node that is gone. */
	if (err == ERR_OUTRUN)
		err = ERR_OK;
	if (err == ERR_OK)
		err = roster_drop(store_engine(store), node.name);
	/* From now on this node writes to no log. */
	if (err == ERR_OK)
		err = store_leave_log(store);
	err = join_end_with(store, err, fault);
	if (err == ERR_OK)
		err = fs_path(conf, "%s/cluster.conf", dir);
	if (err == ERR_OK)
		err = fs_path(left, "%s/cluster.conf.left", dir);
	return err == ERR_OK ? fs_publish(conf, left) : err;
}
