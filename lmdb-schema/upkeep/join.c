#include "lmdb-schema/upkeep/join.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "common/date.h"
#include "common/fs.h"
#include "common/log.h"
#include "lmdb-schema/store/cluster.h"
#include "lmdb-schema/store/engine.h"
#include "lmdb-schema/store/files.h"
#include "lmdb-schema/store/store.h"
#include "lmdb-schema/store/write_log.h"
#include "lmdb-schema/upkeep/checkpoint.h"
#include "lmdb-schema/upkeep/copy.h"
#include "lmdb-schema/upkeep/holders.h"
#include "lmdb-schema/upkeep/join_priv.h"
#include "lmdb-schema/upkeep/join_record.h"
#include "lmdb-schema/upkeep/parcel.h"
#include "lmdb-schema/upkeep/roster.h"
#include "lmdb-schema/upkeep/standing.h"

struct state_of {
	const char *dir;
	struct joining *joining;
	struct engine *engine; /* of the cluster's epoch */
	struct holders holders;
	struct buf epoch;
	struct checkpoints checkpoints;
	struct fault *fault;
};

static enum err
find_holders(struct state_of *of)
{
	enum err err = holders_begin(&of->holders, of->dir, of->fault);

	if (err != ERR_OK)
		return err;
	if (of->joining->holder != NULL)
		holders_add(&of->holders, "", of->joining->holder);
	return holders_add_alive(&of->holders, of->engine, NULL, NULL);
}

static enum err
open_cluster(struct state_of *of)
{
	enum err err = cluster_open(&of->engine, of->dir, 0, of->fault);
	uint64_t epoch, heads[STORE_ENVS];

	if (err == ERR_OK)
		err = of->engine->epoch(of->engine, &of->epoch);
	if (err != ERR_OK)
		return err;
	if (of->epoch.len == 0)
		err = of->engine->heads(of->engine, true, heads);
	if (err == ERR_OK && of->epoch.len == 0 && heads[STORE_STATE] == 0) {
		fault_set(of->fault, of->engine->title,
		    "has no cluster of this name: 'gridctl cluster init' on "
		    "the first node begins one; after the loss of its data "
		    "'gridctl cluster init --from' on the node that is "
		    "furthest");
		return ERR_NOT_FOUND;
	}
	epoch = engine_epoch_number(buf_span(&of->epoch));
	of->joining->epoch = epoch;
	if (err != ERR_OK || epoch == 0)
		return err;
	of->engine->close(of->engine);
	return cluster_open(&of->engine, of->dir, epoch, of->fault);
}

/* Gets the file, and its bytes where `out` is not NULL. */
static enum err
get(struct state_of *of, const struct files_id *id, struct buf *out)
{
	char path[FS_PATH_MAX];
	enum err err = files_fetch(of->dir, id, &of->holders.from, of->fault);

	if (err == ERR_OK)
		of->joining->bytes += id->bytes;
	if (err == ERR_OK && out != NULL)
		err = files_path(path, of->dir, id->name, "");
	if (err == ERR_OK && out != NULL)
		err = fs_read(out, path);
	return err;
}

/* Of one that the log does not go on from, as it was restored, nothing more comes. */
static enum err
check_parcel(const struct parcel *parcel, struct state_of *of)
{
	struct write_log_place place = {.number = parcel->number};
	enum err err;

	memcpy(place.chain, parcel->chain, sizeof(place.chain));
	err = standing_of(of->engine, &place);
	if (err == ERR_FORKED || err == ERR_OUTRUN)
		fault_set(of->fault, of->engine->title, "%s",
		    err == ERR_FORKED
			? "has lost entries that this checkpoint has"
			: "has trimmed the entries behind this checkpoint");
	return err;
}

static enum err
get_parcel(struct parcel *parcel, struct state_of *of,
    const struct checkpoint *checkpoint)
{
	struct buf text;
	enum err err =
	    checkpoint->parcel.bytes > PARCEL_MAX ? ERR_BAD_INPUT : ERR_OK;

	buf_init(&text, PARCEL_MAX);
	if (err == ERR_OK)
		err = get(of, &checkpoint->parcel, &text);
	if (err == ERR_OK)
		err = parcel_read(parcel, buf_span(&text));
	buf_fini(&text);
	if (err != ERR_OK)
		return err;
	if (parcel->number != checkpoint->number ||
	    parcel->epoch != of->joining->epoch)
		err = ERR_DAMAGED;
	if (err == ERR_OK)
		err = check_parcel(parcel, of);
	for (unsigned i = 0; i < parcel->count && err == ERR_OK; i++)
		err = get(of, &parcel->parts[i].file, NULL);
	return err == ERR_OK ? get(of, &parcel->state, NULL) : err;
}

/* Whether the one before may come, or be one that the log goes on from. */
static bool
may_pass_over(enum err err)
{
	return err == ERR_AWAY || err == ERR_DAMAGED || err == ERR_BAD_INPUT ||
	    err == ERR_FORKED || err == ERR_OUTRUN;
}

static enum err
tell_none(struct fault *fault, enum err err)
{
	struct fault last = *fault;

	fault_clear(fault);
	fault_set(fault, last.place,
	    "%s: where no checkpoint can be had, 'gridctl cluster checkpoint' "
	    "on a node that is current makes one",
	    fault_is_set(&last) ? last.message : err_text(err));
	return err;
}

/* The newest one that comes whole, and that the log goes on from. */
static enum err
get_newest(struct parcel *parcel, struct state_of *of)
{
	enum err err = checkpoint_list(&of->checkpoints, of->engine);

	if (err == ERR_OK && of->checkpoints.count == 0) {
		fault_set(of->fault, of->engine->title,
		    "names no checkpoint: 'gridctl cluster checkpoint' on a "
		    "node makes one");
		return ERR_NOT_FOUND;
	}
	for (unsigned i = of->checkpoints.count; i > 0 && err == ERR_OK; i--) {
		const struct checkpoint *one = &of->checkpoints.list[i - 1];

		err = get_parcel(parcel, of, one);
		if (err == ERR_OK)
			return ERR_OK;
		parcel_fini(parcel);
		log_error("a checkpoint does not come: number=%llu error=%s",
		    (unsigned long long)one->number,
		    fault_is_set(of->fault) ? of->fault->message
					    : err_text(err));
		if (!may_pass_over(err))
			return err;
		if (i == 1)
			return tell_none(of->fault, err);
		fault_clear(of->fault);
		err = ERR_OK;
	}
	return err;
}

/* --- putting it in place -------------------------------------------------- */

static enum err
put_part(struct state_of *of, const struct parcel_part *part)
{
	char from[FS_PATH_MAX], to[FS_PATH_MAX];
	enum err err = files_path(from, of->dir, part->file.name, "");

	if (err == ERR_OK)
		err = fs_path(to, "%s/trail/%s", of->dir, part->name);
	if (err == ERR_OK)
		err = fs_unlink(to);
	if (err == ERR_OK && link(from, to) != 0)
		err = err_from_errno(errno);
	return err;
}

static enum err
put_parts(struct state_of *of, const struct parcel *parcel)
{
	char path[FS_PATH_MAX];
	enum err err = fs_path(path, "%s/trail", of->dir);

	if (err == ERR_OK)
		err = fs_mkdir(path);
	for (unsigned i = 0; i < parcel->count && err == ERR_OK; i++)
		err = put_part(of, &parcel->parts[i]);
	if (err == ERR_OK)
		err = fs_path(path, "%s/trail/x", of->dir);
	return err == ERR_OK ? fs_sync_folder(path) : err;
}

#define COPY_MODE 0640

/* A copy, as the file of that name never changes. */
static enum err
copy_state(const char *from, const char *to)
{
	int in = open(from, O_RDONLY | O_CLOEXEC);
	int out = in < 0
	    ? -1
	    : open(to, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, COPY_MODE);
	enum err err =
	    out < 0 ? err_from_errno(errno) : copy_file_bytes(in, out);

	if (err == ERR_OK && fsync(out) != 0)
		err = err_from_errno(errno);
	if (in >= 0)
		close(in);
	if (out >= 0)
		close(out);
	return err;
}

/* Compares the state with the parcel that names it. */
static enum err
verify(const char *path, const struct parcel *parcel)
{
	struct write_log_place place;
	struct kv_txn *txn;
	uint64_t epoch = 0;
	struct kv *copy;
	enum err err = store_copy_open(&copy, path, STORE_STATE, false);

	if (err != ERR_OK)
		return err;
	err = kv_read(&txn, copy);
	if (err == ERR_OK) {
		err = write_log_place(&place, txn);
		if (err == ERR_OK)
			err = store_number(txn, "epoch", &epoch);
		kv_abort(txn);
	}
	kv_close(copy);
	if (err == ERR_OK &&
	    (place.number != parcel->number || epoch != parcel->epoch ||
		memcmp(place.chain, parcel->chain, sizeof(place.chain)) != 0))
		err = ERR_DAMAGED;
	return err;
}

/*
 * The one that was there stays under another name, and as a link until then.
 * LMDB keeps the number of the last commit beside the file: no program may have
 * it open, or open it meanwhile.
 */
static enum err
replace_state(const char *dir, const char *path, struct fault *fault)
{
	char state[FS_PATH_MAX], before[FS_PATH_MAX];
	int use = -1;
	enum err err = store_lock_use(&use, dir, true);

	if (err == ERR_BUSY)
		join_refuse_used(dir, fault);
	if (err == ERR_OK)
		err = join_check_unused(dir, fault);
	if (err == ERR_OK)
		err = fs_path(state, "%s/state.mdb", dir);

	if (err == ERR_OK)
		err = fs_path(before, "%s/state.mdb.before", dir);
	if (err == ERR_OK)
		err = fs_unlink(before);
	if (err == ERR_OK && link(state, before) != 0 && errno != ENOENT)
		err = err_from_errno(errno);
	if (err == ERR_OK)
		err = fs_publish(path, state);
	if (use >= 0)
		close(use);
	return err;
}

static enum err
put_in_place(struct state_of *of, const struct parcel *parcel)
{
	char from[FS_PATH_MAX], path[FS_PATH_MAX];
	enum err err = files_path(from, of->dir, parcel->state.name, "");

	if (err == ERR_OK)
		err = fs_path(path, "%s/state.mdb.join", of->dir);
	if (err == ERR_OK)
		err = copy_state(from, path);
	if (err == ERR_OK)
		err = verify(path, parcel);
	if (err == ERR_OK)
		err = put_parts(of, parcel);
	if (err == ERR_OK)
		err = replace_state(of->dir, path, of->fault);
	return err;
}

static bool
ends_where_it_begins(
    const struct state_of *of, const struct write_log_place *place)
{
	struct buf text;
	bool does;

	buf_init(&text, ENGINE_EPOCH_TEXT_MAX);
	standing_epoch_text(&text, of->joining->epoch, place);
	does =
	    place->number > 0 && span_eq(buf_span(&text), buf_span(&of->epoch));
	buf_fini(&text);
	return does;
}

/*
 * A state that ends where the epoch begins is of it; and so is one of the epoch
 * that can follow its log, as a kill may have come when all was in place.
 */
static enum err
adopt(struct state_of *of)
{
	struct write_log_place place;
	struct store *store = NULL;
	uint64_t epoch;
	enum err err =
	    join_open_place(&store, &epoch, &place, of->dir, of->fault);

	if (err == ERR_OK && epoch < of->joining->epoch &&
	    ends_where_it_begins(of, &place)) {
		of->joining->adopted = true;
		err = store_set_epoch(store, of->joining->epoch);
	} else if (err == ERR_OK && epoch == of->joining->epoch && epoch > 0 &&
	    !of->joining->anew) {
		err = standing_of(of->engine, &place);
		if (err == ERR_OK)
			err = store_follow(store);
		of->joining->adopted = err == ERR_OK;
		if (err == ERR_OUTRUN || err == ERR_FORKED ||
		    err == ERR_DAMAGED)
			err = ERR_OK;
	}
	store_close(store);
	return err;
}

static enum err
follow(struct state_of *of)
{
	struct write_log_place place;
	struct store *store = NULL;
	uint64_t epoch;
	enum err err =
	    join_open_place(&store, &epoch, &place, of->dir, of->fault);

	if (err == ERR_OK)
		err = store_follow(store);
	if (err == ERR_OK)
		err = write_log_place_of(&place, store_state(store));
	of->joining->number = place.number;
	store_close(store);
	return err;
}

static enum err
take_checkpoint(struct state_of *of)
{
	struct parcel parcel;
	enum err err;

	parcel_init(&parcel);
	err = find_holders(of);
	if (err == ERR_OK)
		err = get_newest(&parcel, of);
	if (err == ERR_OK)
		err = put_in_place(of, &parcel);
	parcel_fini(&parcel);
	return err;
}

/* So that others miss it where its gridapi never starts; where it does, that tells. */
static void
enter_roster(const struct state_of *of)
{
	struct engine_node node;

	if (cluster_node(&node, of->dir, NULL) == ERR_OK)
		(void)roster_put(of->engine, node.name, date_now_ms());
}

static enum err
join_all(struct state_of *of, bool there)
{
	struct join_record record = {.runs = false};
	enum err err = open_cluster(of);

	/* Of a state that cannot be opened there is nothing to go on with. */
	if (err == ERR_OK && there &&
	    !(of->joining->anew && store_lost_state(of->dir)))
		err = adopt(of);
	if (err == ERR_OK && !of->joining->adopted && there &&
	    !of->joining->anew) {
		fault_set(of->fault, of->dir,
		    "has a state: --anew replaces its keys, users, sessions "
		    "and proposals by the cluster's");
		return ERR_EXISTS;
	}
	/* Before the list of checkpoints: what is trimmed now is behind it. */
	if (err == ERR_OK && !of->joining->adopted)
		err =
		    join_record_begin(&record, of->engine, of->dir, of->fault);
	if (err == ERR_OK && !of->joining->adopted)
		err = take_checkpoint(of);
	/* The state comes first: a kill leaves no empty one. */
	if (err == ERR_OK && !there)
		err = store_create(of->dir, of->fault);
	if (err == ERR_OK)
		err = follow(of);
	join_record_end(&record);
	if (err == ERR_OK)
		enter_roster(of);
	return err;
}

/* Two that join at once would write one copy. */
static enum err
lock_joining(int *fd, const char *dir, struct fault *fault)
{
	char path[FS_PATH_MAX];
	enum err err = fs_path(path, "%s/locks", dir);

	if (err == ERR_OK)
		err = fs_mkdir(path);
	if (err == ERR_OK)
		err = fs_path(path, "%s/locks/join", dir);
	if (err == ERR_OK)
		err = fs_lock(fd, path, false);
	if (err == ERR_BUSY)
		fault_set(fault, dir, "is joining already, by another process");
	return err;
}

enum err
join(const char *dir, struct joining *joining, struct fault *fault)
{
	struct state_of *of = calloc(1, sizeof(*of));
	bool there = false;
	int lock = -1;
	enum err err = of == NULL ? ERR_NO_MEMORY : join_check_told(dir, fault);

	joining->adopted = false;
	joining->number = joining->epoch = joining->bytes = 0;
	if (err == ERR_OK)
		err = lock_joining(&lock, dir, fault);
	there = err == ERR_OK && store_is_there(dir);
	if (there)
		err = join_check_unused(dir, fault);
	if (err == ERR_OK) {
		of->dir = dir;
		of->joining = joining;
		of->fault = fault;
		buf_init(&of->epoch, ENGINE_EPOCH_TEXT_MAX);
		err = join_all(of, there);
		buf_fini(&of->epoch);
		join_away(err, of->engine, fault);
		if (of->engine != NULL)
			of->engine->close(of->engine);
	}
	if (lock >= 0)
		close(lock);
	free(of);
	return err;
}
