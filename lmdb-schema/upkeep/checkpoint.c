#include "lmdb-schema/upkeep/checkpoint.h"

#include <assert.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "common/date.h"
#include "common/log.h"
#include "common/num.h"
#include "lmdb-schema/key.h"
#include "lmdb-schema/state/trail_parts.h"
#include "lmdb-schema/store/engine.h"
#include "lmdb-schema/store/store.h"
#include "lmdb-schema/store/write_log.h"
#include "lmdb-schema/upkeep/computed.h"
#include "lmdb-schema/upkeep/edition.h"
#include "lmdb-schema/upkeep/parcel.h"
#include "lmdb-schema/upkeep/standing.h"

/* --- notes ---------------------------------------------------------------- */

#define PREFIX "checkpoint/"
#define NAME_MAX_LEN (sizeof(PREFIX) + KEY_GENERATION_LEN)

static struct span
note_name(char name[NAME_MAX_LEN], uint64_t number)
{
	memcpy(name, PREFIX, sizeof(PREFIX));
	key_generation_text(name + sizeof(PREFIX) - 1, number);
	return span_of(name);
}

bool
checkpoint_read(
    struct checkpoint *checkpoint, struct span name, struct span text)
{
	size_t last = text.len;

	if (!span_starts(name, SPAN(PREFIX)) ||
	    !key_generation(
		&checkpoint->number, span_from(name, sizeof(PREFIX) - 1)))
		return false;
	while (last > 0 && text.ptr[last - 1] != ' ')
		last--;
	return last > 0 &&
	    num_int(
		&checkpoint->made_ms, span_from(text, last), 0, INT64_MAX) &&
	    parcel_file(&checkpoint->parcel, span_sub(text, 0, last - 1));
}

static enum err
take_note(void *context, struct span name, struct span text)
{
	struct checkpoints *to = context;
	struct checkpoint found;

	if (!checkpoint_read(&found, name, text)) {
		log_error("a note of a checkpoint cannot be read: name=%.*s",
		    SPAN_ARG(name));
		return ERR_OK;
	}
	if (to->count == CHECKPOINTS_MAX) {
		memmove(to->list, to->list + 1,
		    (CHECKPOINTS_MAX - 1) * sizeof(to->list[0]));
		to->count--;
	}
	to->list[to->count++] = found;
	return ERR_OK;
}

enum err
checkpoint_list(struct checkpoints *out, struct engine *engine)
{
	out->count = 0;
	return engine->notes(engine, PREFIX, take_note, out);
}

static enum err
put_note(struct engine *engine, const struct checkpoint *checkpoint)
{
	char name[NAME_MAX_LEN], text[128];

	snprintf(text, sizeof(text), "%llu %s %lld",
	    (unsigned long long)checkpoint->parcel.bytes,
	    checkpoint->parcel.name, (long long)checkpoint->made_ms);
	return engine->note_put(
	    engine, note_name(name, checkpoint->number), span_of(text));
}

/* --- making --------------------------------------------------------------- */

struct making {
	struct store *store;
	const char *dir;
	struct parcel *parcel;
	struct fault *fault;
};

/* A part that is in an archive alone stays there, for the other nodes, too. */
static enum err
add_part(void *context, const struct trail_parts_row *row)
{
	struct making *making = context;
	char path[FS_PATH_MAX];
	struct files_id id = {.bytes = 0};
	enum err err =
	    trail_parts_path(path, making->store, row->month, row->first, "");

	if (err == ERR_OK && !files_find(&id, making->dir, path))
		err = files_add(&id, making->dir, path);
	if (err == ERR_NOT_FOUND && row->away)
		return ERR_OK;
	if (err == ERR_OK)
		return parcel_add_part(
		    making->parcel, span_of(strrchr(path, '/') + 1), &id);
	fault_set(making->fault, path,
	    "cannot be taken into the checkpoint: %s: 'gridctl check' says "
	    "more; another node can make one",
	    err_text(err));
	return err;
}

static enum err
fill(struct making *making, struct kv *copy)
{
	struct write_log_place place;
	struct kv_txn *txn;
	enum err err = kv_read(&txn, copy);

	if (err != ERR_OK)
		return err;
	err = write_log_place(&place, txn);
	if (err == ERR_OK)
		err = store_number(txn, "epoch", &making->parcel->epoch);
	making->parcel->number = place.number;
	memcpy(making->parcel->chain, place.chain, sizeof(place.chain));
	if (err == ERR_OK)
		err = trail_parts_each(txn, add_part, making);
	kv_abort(txn);
	return err;
}

static enum err
copy_state(struct making *making, const char *path)
{
	struct kv *copy;
	enum err err = fs_unlink(path);

	if (err == ERR_OK)
		err = kv_copy(store_state(making->store), path);
	if (err == ERR_OK)
		err = store_copy_open(&copy, path, STORE_STATE, false);
	if (err != ERR_OK)
		return err;
	err = fill(making, copy);
	kv_close(copy);
	return err == ERR_OK
	    ? files_add(&making->parcel->state, making->dir, path)
	    : err;
}

static enum err
add_parcel(struct files_id *id, const struct making *making)
{
	struct buf text;
	enum err err;

	buf_init(&text, PARCEL_MAX);
	parcel_write(&text, making->parcel);
	err = buf_end(&text);
	if (err == ERR_OK)
		err = files_add_bytes(id, making->dir, buf_span(&text));
	buf_fini(&text);
	return err;
}

/* The trail's lock: rows and files of one moment. */
static enum err
make(struct making *making, struct checkpoint *out)
{
	char path[FS_PATH_MAX];
	int lock = -1;
	enum err err = fs_path(path, "%s/files", making->dir);

	if (err == ERR_OK)
		err = fs_mkdir(path);
	if (err == ERR_OK)
		err = fs_path(path, "%s/files/state.tmp", making->dir);
	if (err == ERR_OK)
		err = store_lock_trail(&lock, making->store, true);
	if (err == ERR_OK)
		err = copy_state(making, path);
	if (lock >= 0)
		close(lock);
	unlink(path);
	if (err == ERR_OK)
		err = add_parcel(&out->parcel, making);
	out->number = making->parcel->number;
	out->made_ms = making->parcel->made_ms;
	return err;
}

static enum err
lock_making(int *fd, const char *dir)
{
	char path[FS_PATH_MAX];
	enum err err = fs_path(path, "%s/locks/checkpoint", dir);

	return err == ERR_OK ? fs_lock(fd, path, false) : err;
}

enum err
checkpoint_make(
    struct checkpoint *out, struct store *store, struct fault *fault)
{
	struct engine *engine = store_engine(store);
	struct parcel parcel;
	struct making making = {store, store_dir(store), &parcel, fault};
	int lock = -1;
	enum err err;

	assert(engine != NULL);
	err = lock_making(&lock, making.dir);
	parcel_init(&parcel);
	parcel.made_ms = date_now_ms();
	if (err == ERR_BUSY)
		fault_set(fault, "checkpoint", "another process makes one");
	/* No node could go on from one that the log has not. */
	if (err == ERR_OK)
		err = standing_check(store, fault);
	if (err == ERR_OK)
		err = make(&making, out);
	if (err == ERR_OK)
		err = put_note(engine, out);
	parcel_fini(&parcel);
	if (lock >= 0)
		close(lock);
	return err;
}

/* --- trimming ------------------------------------------------------------- */

/*
 * Of checkpoints made more often than `keep_s` some must get as old: between the
 * one that covers what is trimmed and the last two, those stay without which two
 * neighbours were more than half of that apart.
 */
void
checkpoint_sort_out(bool *forget, const struct checkpoints *checkpoints,
    int64_t keep_s, int64_t now_ms, uint64_t *cover)
{
	const struct checkpoint *list = checkpoints->list;
	const int64_t keep_ms = keep_s * 1000;
	unsigned kept = 0, count = checkpoints->count;

	*cover = 0;
	for (unsigned i = 0; i + 1 < count; i++)
		if (list[i].made_ms <= now_ms - keep_ms) {
			kept = i;
			*cover = list[i].number;
		}
	for (unsigned i = 0; i < count; i++) {
		forget[i] = i < kept ||
		    (i > kept && i + 2 < count &&
			list[i + 1].made_ms - list[kept].made_ms <=
			    keep_ms / 2);
		if (!forget[i])
			kept = i > kept ? i : kept;
	}
}

static enum err
take_least(void *context, const struct engine_node *node)
{
	uint64_t *up_to = context;

	if (node->places[STORE_STATE] < *up_to)
		*up_to = node->places[STORE_STATE];
	return ERR_OK;
}

static enum err
forget_some(struct engine *engine, const struct checkpoints *checkpoints,
    const bool *forget)
{
	char name[NAME_MAX_LEN];
	enum err err = ERR_OK;

	for (unsigned i = 0; i < checkpoints->count && err == ERR_OK; i++)
		if (forget[i])
			err = engine->note_drop(engine,
			    note_name(name, checkpoints->list[i].number));
	return err;
}

enum err
checkpoint_trim(
    uint64_t *up_to, struct store *store, int64_t keep_s, int64_t now_ms)
{
	struct engine *engine = store_engine(store);
	struct checkpoints *checkpoints = calloc(1, sizeof(*checkpoints));
	bool forget[CHECKPOINTS_MAX];
	uint64_t places[STORE_ENVS];
	enum err err;

	*up_to = 0;
	if (checkpoints == NULL)
		return ERR_NO_MEMORY;
	err = checkpoint_list(checkpoints, engine);
	checkpoint_sort_out(forget, checkpoints, keep_s, now_ms, up_to);
	if (err == ERR_OK)
		err = store_places(store, places);
	if (err == ERR_OK && places[STORE_STATE] < *up_to)
		*up_to = places[STORE_STATE];
	if (err == ERR_OK)
		err = engine->nodes(engine, take_least, up_to);
	if (err == ERR_OK && *up_to > 0)
		err = engine->trim(engine, STORE_STATE, *up_to);
	if (err == ERR_OK)
		err = forget_some(engine, checkpoints, forget);
	free(checkpoints);
	return err;
}

/* --- what is named -------------------------------------------------------- */

static enum err
read_parcel(struct parcel *parcel, const char *dir, const struct files_id *id)
{
	char path[FS_PATH_MAX];
	struct buf text;
	enum err err = files_path(path, dir, id->name, "");

	buf_init(&text, PARCEL_MAX);
	if (err == ERR_OK)
		err = fs_read(&text, path);
	if (err == ERR_OK)
		err = parcel_read(parcel, buf_span(&text));
	if (err == ERR_BAD_INPUT)
		log_error("a checkpoint's file is damaged: path=%s", path);
	buf_fini(&text);
	return err;
}

enum err
checkpoint_each_file(const char *dir, const struct files_id *id,
    enum err (*each)(void *context, const struct files_id *id), void *context)
{
	struct parcel parcel;
	enum err err = read_parcel(&parcel, dir, id);

	if (err != ERR_OK)
		return err;
	err = each(context, &parcel.state);
	for (unsigned i = 0; i < parcel.count && err == ERR_OK; i++)
		err = each(context, &parcel.parts[i].file);
	parcel_fini(&parcel);
	return err;
}

static enum err
name_file(void *context, const struct files_id *id)
{
	struct buf *named = context;

	buf_add_span(named, span_of(id->name));
	return buf_end(named);
}

/*
 * A parcel of another node's checkpoint is not here, nor are its files; those of
 * one that cannot be read help nobody.
 */
static enum err
name_parcel(struct buf *named, const char *dir, const struct files_id *id)
{
	enum err err = name_file(named, id);

	if (err == ERR_OK)
		err = checkpoint_each_file(dir, id, name_file, named);
	return err == ERR_NOT_FOUND || err == ERR_BAD_INPUT ? ERR_OK : err;
}

static int
compare_names(const void *a, const void *b)
{
	return memcmp(a, b, FILES_NAME_LEN);
}

enum err
checkpoint_named(struct buf *named, struct store *store)
{
	struct checkpoints *checkpoints = calloc(1, sizeof(*checkpoints));
	enum err err;

	if (checkpoints == NULL)
		return ERR_NO_MEMORY;
	err = checkpoint_list(checkpoints, store_engine(store));
	for (unsigned i = 0; i < checkpoints->count && err == ERR_OK; i++)
		err = name_parcel(
		    named, store_dir(store), &checkpoints->list[i].parcel);
	if (err == ERR_OK)
		err = edition_each_file(store, name_file, named);
	if (err == ERR_OK)
		err = computed_each_file(store, name_file, named);
	if (err == ERR_OK && named->len > 0)
		qsort(named->data, named->len / FILES_NAME_LEN, FILES_NAME_LEN,
		    compare_names);
	free(checkpoints);
	return err;
}

bool
checkpoint_is_named(const struct buf *named, const char *name)
{
	return named->len > 0 &&
	    bsearch(name, named->data, named->len / FILES_NAME_LEN,
		FILES_NAME_LEN, compare_names) != NULL;
}

/* --- sweeping ------------------------------------------------------------- */

struct sweeping {
	const char *dir;
	struct buf named; /* names, one behind the other */
	int64_t older_than_ms;
	uint64_t removed;
};

/* The last change, as a link made now counts, however old the file is. */
static enum err
sweep_file(void *context, const char *name)
{
	struct sweeping *sweeping = context;
	char path[FS_PATH_MAX];
	struct stat st;

	if (strlen(name) < FILES_NAME_LEN ||
	    checkpoint_is_named(&sweeping->named, name) ||
	    !files_is_name(span_make(name, FILES_NAME_LEN)) ||
	    files_path(path, sweeping->dir, name, "") != ERR_OK ||
	    lstat(path, &st) != 0 ||
	    (int64_t)st.st_ctim.tv_sec * 1000 > sweeping->older_than_ms)
		return ERR_OK;
	sweeping->removed++;
	return fs_unlink(path);
}

enum err
checkpoint_sweep(uint64_t *removed, struct store *store, int64_t keep_s)
{
	struct sweeping sweeping = {.dir = store_dir(store),
	    .older_than_ms = date_now_ms() - keep_s * 1000};
	char path[FS_PATH_MAX];
	enum err err;

	buf_init(&sweeping.named, CHECKPOINT_NAMED_MAX);
	err = checkpoint_named(&sweeping.named, store);
	if (err == ERR_OK)
		err = fs_path(path, "%s/files", sweeping.dir);
	if (err == ERR_OK)
		err = fs_list(path, sweep_file, &sweeping);
	*removed = sweeping.removed;
	buf_fini(&sweeping.named);
	return err;
}
