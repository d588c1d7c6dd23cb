#include "lmdb-schema/upkeep/push.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "common/date.h"
#include "common/kv/kv.h"
#include "lmdb-schema/codemap.h"
#include "lmdb-schema/schema.h"
#include "lmdb-schema/store/bucket.h"
#include "lmdb-schema/store/cluster.h"
#include "lmdb-schema/store/store.h"
#include "lmdb-schema/upkeep/checkpoint.h"
#include "lmdb-schema/upkeep/computed_priv.h"
#include "lmdb-schema/upkeep/edition_priv.h"

/* --- what the bucket has -------------------------------------------------- */

#define LISTING_MAX ((size_t)512 << 20)

struct listing {
	struct buf objects; /* of struct bucket_object */
	bool sorted;
};

static const struct bucket_object *
objects_of(const struct listing *listing)
{
	return (const void *)listing->objects.data;
}

static size_t
count_of(const struct listing *listing)
{
	return listing->objects.len / sizeof(struct bucket_object);
}

static enum err
add_object(void *context, const struct bucket_object *object)
{
	struct listing *listing = context;

	buf_add(&listing->objects, object, sizeof(*object));
	listing->sorted = false;
	return buf_end(&listing->objects);
}

static int
compare(const void *a, const void *b)
{
	const struct bucket_object *one = a, *two = b;
	int order = strcmp(one->name, two->name);

	if (order != 0)
		return order;
	return one->number < two->number ? -1 : one->number > two->number;
}

static bool
has_piece(struct listing *listing, const struct bucket *bucket,
    const struct files_id *id, unsigned number)
{
	struct bucket_object wanted = {.number = number};
	const struct bucket_object *found;

	if (count_of(listing) == 0)
		return false;
	if (!listing->sorted)
		qsort(listing->objects.data, count_of(listing), sizeof(wanted),
		    compare);
	listing->sorted = true;
	memcpy(wanted.name, id->name, sizeof(wanted.name));
	found = bsearch(&wanted, listing->objects.data, count_of(listing),
	    sizeof(wanted), compare);
	return found != NULL &&
	    found->bytes == bucket_piece_bytes(bucket, id, number);
}

static bool
has_whole(struct listing *listing, const struct bucket *bucket,
    const struct files_id *id)
{
	for (unsigned i = 0; i < bucket_pieces(bucket, id); i++)
		if (!has_piece(listing, bucket, id, i))
			return false;
	return true;
}

/* --- together ------------------------------------------------------------- */

struct pushing {
	struct store *store;
	const char *dir;
	struct bucket bucket;
	struct listing listing;
	struct engine_node own;
	struct editions editions;
	struct checkpoints checkpoints;
	struct codemap *suppliers; /* whose snapshots are lacking */
	enum push_whose whose;
	int64_t looked_ns;
	bool again; /* the lists are to be made anew */
	bool lacks; /* a file of the edition or checkpoint is neither here */
	enum err damage; /* of a file here, which holds up no other */
	struct pushed pushed;
	struct fault *fault;
};

/* Reads the settings; an empty url where there is no bucket. */
static enum err
begin(struct pushing **out, struct store *store, struct fault *fault)
{
	struct pushing *pushing = calloc(1, sizeof(*pushing));
	enum err err;

	*out = pushing;
	if (pushing == NULL)
		return ERR_NO_MEMORY;
	pushing->store = store;
	pushing->dir = store_dir(store);
	pushing->fault = fault;
	buf_init(&pushing->listing.objects, LISTING_MAX);
	err = cluster_bucket(&pushing->bucket, pushing->dir, fault);
	if (err == ERR_OK && !store_is_shared(store))
		pushing->bucket.url[0] = '\0';
	return err;
}

static void
end(struct pushing *pushing)
{
	if (pushing == NULL)
		return;
	buf_fini(&pushing->listing.objects);
	codemap_free(pushing->suppliers);
	free(pushing);
}

/* The listing first: what is named behind it is newer than what it shows. */
static enum err
look(struct pushing *pushing)
{
	enum err err;

	buf_clear(&pushing->listing.objects);
	pushing->looked_ns = date_monotonic_ns();
	err = bucket_list(
	    &pushing->bucket, add_object, &pushing->listing, pushing->fault);
	if (err == ERR_OK)
		err = cluster_node(&pushing->own, pushing->dir, pushing->fault);
	if (err == ERR_OK)
		err = store_follow(pushing->store);
	if (err == ERR_OK)
		err = edition_look(&pushing->editions, pushing->store);
	return err == ERR_OK ? checkpoint_list(&pushing->checkpoints,
				   store_engine(pushing->store))
			     : err;
}

/* --- putting -------------------------------------------------------------- */

static enum err
put_piece(struct pushing *pushing, const struct files_id *id, unsigned number,
    struct fault *fault)
{
	struct bucket_object object = {.number = number,
	    .bytes = bucket_piece_bytes(&pushing->bucket, id, number),
	    .put_ms = date_now_ms()};
	char path[FS_PATH_MAX];
	enum err err = files_path(path, pushing->dir, id->name, "");

	if (err == ERR_OK)
		err = bucket_put(&pushing->bucket, id, path, number, fault);
	if (err != ERR_OK)
		return err;
	memcpy(object.name, id->name, sizeof(object.name));
	pushing->pushed.bytes += object.bytes;
	return add_object(&pushing->listing, &object);
}

/* `advice` is on a damaged file. One that is pruned meanwhile is not here. */
static enum err
push_file(
    struct pushing *pushing, const struct files_id *id, const char *advice)
{
	struct listing *listing = &pushing->listing;
	struct fault fault;
	enum err err = ERR_OK;

	fault_clear(&fault);
	if (has_whole(listing, &pushing->bucket, id))
		return ERR_OK;
	if (!files_have(pushing->dir, id)) {
		pushing->lacks = true;
		return ERR_OK;
	}
	for (unsigned i = 0;
	     i < bucket_pieces(&pushing->bucket, id) && err == ERR_OK; i++)
		if (!has_piece(listing, &pushing->bucket, id, i))
			err = put_piece(pushing, id, i, &fault);
	if (err == ERR_OK)
		pushing->pushed.files++;
	pushing->pushed.refused = err != ERR_OK && err != ERR_DAMAGED;
	pushing->lacks = pushing->lacks || err == ERR_DAMAGED;
	if (err == ERR_DAMAGED && !files_have(pushing->dir, id))
		return ERR_OK;
	if (err != ERR_OK)
		fault_set(pushing->fault, fault.place, "%s%s", fault.message,
		    err == ERR_DAMAGED ? advice : "");
	if (err != ERR_DAMAGED)
		return err;
	pushing->damage = err;
	return ERR_OK;
}

static enum err
push_one(void *context, const struct files_id *id)
{
	return push_file(
	    context, id, ": 'gridctl cluster pull --verify' gets it anew");
}

static enum err
put_record(void *context, struct kv_txn *txn)
{
	return edition_put_holder(txn, PUSH_BUCKET, context);
}

struct record {
	const char *sha;
	bool found;
};

static enum err
look_at_record(void *context, struct span node, struct span sha)
{
	struct record *record = context;

	record->found = record->found ||
	    (span_eq(node, SPAN(PUSH_BUCKET)) &&
		span_eq(sha, span_of(record->sha)));
	return ERR_OK;
}

static enum err
has_record(bool *found, struct store *store, const struct edition *edition)
{
	struct record record = {edition->text.name, false};
	struct kv_txn *txn;
	enum err err = kv_read(&txn, store_state(store));

	if (err == ERR_OK) {
		err = edition_holders(txn, look_at_record, &record);
		kv_abort(txn);
	}
	*found = record.found;
	return err;
}

/*
 * The nodes are told once it has all of them: of the offered one, as a record
 * has one text.
 */
static enum err
push_edition(struct pushing *pushing, struct edition *edition)
{
	const struct editions *editions = &pushing->editions;
	bool own = strcmp(edition->node, pushing->own.name) == 0;
	bool told = false;
	enum err err;

	if (edition->number == 0 || (!own && pushing->whose == PUSH_OWN))
		return ERR_OK;
	pushing->lacks = !files_have(pushing->dir, &edition->text);
	if (pushing->lacks)
		return ERR_OK;
	err = edition_files_of(edition, pushing->dir, push_one, pushing);
	if (err == ERR_OK)
		err = push_one(pushing, &edition->text);
	if (editions->offered.number > edition->number)
		return err;
	if (err == ERR_OK)
		err = has_record(&told, pushing->store, edition);
	return err == ERR_OK && !pushing->lacks && !told
	    ? store_write(
		  pushing->store, STORE_STATE, put_record, edition->text.name)
	    : err;
}

/*
 * The file that names the others comes last. A checkpoint of another node is put by
 * that node.
 */
static enum err
push_checkpoint(struct pushing *pushing, const struct checkpoint *checkpoint)
{
	enum err err;

	if (has_whole(
		&pushing->listing, &pushing->bucket, &checkpoint->parcel) ||
	    !files_have(pushing->dir, &checkpoint->parcel))
		return ERR_OK;
	pushing->lacks = false;
	err = checkpoint_each_file(
	    pushing->dir, &checkpoint->parcel, push_one, pushing);
	return err == ERR_OK && !pushing->lacks
	    ? push_one(pushing, &checkpoint->parcel)
	    : err;
}

/* Of another node's that node has had the time. */
#define LEFT_MS INT64_C(600000)

static enum err
note_snapshot(
    void *context, struct span supplier, const struct computed *computed)
{
	struct pushing *pushing = context;
	int64_t age_ms = date_now_ms() - computed->entry.computed_ms;
	uint32_t number;

	if (pushing->whose != PUSH_ALL && age_ms < LEFT_MS &&
	    strcmp(computed->node, pushing->own.name) != 0)
		return ERR_OK;
	return files_have(pushing->dir, &computed->file) &&
		!has_whole(&pushing->listing, &pushing->bucket, &computed->file)
	    ? codemap_add(pushing->suppliers, supplier, &number)
	    : ERR_OK;
}

static enum err
push_snapshot(struct pushing *pushing, struct span supplier)
{
	char advice[SCHEMA_CODE_MAX + 64];
	struct computed computed;
	enum err err = computed_read(&computed, pushing->store, supplier);

	snprintf(advice, sizeof(advice),
	    ": 'gridctl compute %.*s' gets it anew", SPAN_ARG(supplier));
	return err == ERR_OK && computed.edition > 0
	    ? push_file(pushing, &computed.file, advice)
	    : err;
}

#define LOOK_AGAIN_NS INT64_C(600000000000)

/*
 * All snapshots may take hours, and an import waits for its files, a checkpoint for
 * minutes.
 */
static bool
is_outrun(const struct pushing *pushing)
{
	const struct editions *before = &pushing->editions;
	struct editions editions;

	if (date_monotonic_ns() - pushing->looked_ns > LOOK_AGAIN_NS)
		return true;
	return edition_look(&editions, pushing->store) == ERR_OK &&
	    (strcmp(editions.now.text.name, before->now.text.name) != 0 ||
		strcmp(editions.offered.text.name, before->offered.text.name) !=
		    0);
}

static enum err
push_snapshots(struct pushing *pushing)
{
	enum err err = ERR_OK;

	codemap_free(pushing->suppliers);
	pushing->suppliers = codemap_new();
	if (pushing->suppliers == NULL)
		return ERR_NO_MEMORY;
	err = computed_each(pushing->store, note_snapshot, pushing);
	for (uint32_t i = 0; i < codemap_count(pushing->suppliers) &&
	     err == ERR_OK && !pushing->again;
	     i++) {
		err =
		    push_snapshot(pushing, codemap_code(pushing->suppliers, i));
		pushing->again = is_outrun(pushing);
	}
	return err;
}

static enum err
push_all(struct pushing *pushing)
{
	const struct checkpoints *checkpoints = &pushing->checkpoints;
	struct editions *editions = &pushing->editions;
	enum err err = look(pushing);

	pushing->again = false;
	/* An import waits for it. */
	if (err == ERR_OK)
		err = push_edition(pushing, &editions->offered);
	if (err == ERR_OK)
		err = push_edition(pushing, &editions->now);
	for (unsigned i = checkpoints->count; i > 0 && err == ERR_OK; i--)
		err = push_checkpoint(pushing, &checkpoints->list[i - 1]);
	return err == ERR_OK ? push_snapshots(pushing) : err;
}

static enum err
lock_pushing(int *fd, const char *dir)
{
	char path[FS_PATH_MAX];
	enum err err = fs_path(path, "%s/locks/push", dir);

	return err == ERR_OK ? fs_lock(fd, path, true) : err;
}

enum err
push_files(struct pushed *out, struct store *store, enum push_whose whose,
    struct fault *fault)
{
	struct pushing *pushing;
	int lock = -1;
	enum err err = begin(&pushing, store, fault);

	memset(out, 0, sizeof(*out));
	if (err == ERR_OK && pushing->bucket.url[0] != '\0') {
		pushing->whose = whose;
		pushing->again = true;
		err = lock_pushing(&lock, pushing->dir);
		while (err == ERR_OK && pushing->again)
			err = push_all(pushing);
		if (err == ERR_OK)
			err = pushing->damage;
		*out = pushing->pushed;
	}
	if (lock >= 0)
		close(lock);
	end(pushing);
	return err;
}

/* --- removing ------------------------------------------------------------- */

/* Gets from the bucket what this node has not, where the bucket has it. */
static enum err
get_list(struct pushing *pushing, const struct files_id *id)
{
	struct files_from from = {.bucket = &pushing->bucket};

	if (files_have(pushing->dir, id) ||
	    !has_whole(&pushing->listing, &pushing->bucket, id))
		return ERR_OK;
	return files_fetch(pushing->dir, id, &from, pushing->fault);
}

static enum err
pass_over(void *context, const struct files_id *id)
{
	(void)context, (void)id;
	return ERR_OK;
}

/*
 * The text may be in neither place, or of a later version: then its files are
 * not known.
 */
static enum err
get_text(struct pushing *pushing, const struct edition *edition)
{
	enum err err =
	    edition->number == 0 ? ERR_OK : get_list(pushing, &edition->text);

	if (err != ERR_OK || edition->number == 0 ||
	    edition_files_of(edition, pushing->dir, pass_over, NULL) == ERR_OK)
		return err;
	fault_set(pushing->fault, pushing->bucket.url,
	    "the files of import %llu are not known here yet: nothing is "
	    "removed from the bucket",
	    (unsigned long long)edition->number);
	return ERR_NOT_READY;
}

/* A checkpoint whose parcel is in neither place is being put there. */
static enum err
get_lists(struct pushing *pushing)
{
	const struct checkpoints *checkpoints = &pushing->checkpoints;
	enum err err = get_text(pushing, &pushing->editions.now);

	if (err == ERR_OK)
		err = get_text(pushing, &pushing->editions.offered);
	for (unsigned i = 0; i < checkpoints->count && err == ERR_OK; i++)
		err = get_list(pushing, &checkpoints->list[i].parcel);
	return err;
}

static enum err
drop_others(struct pushing *pushing, const struct buf *named, int64_t before_ms,
    uint64_t *removed)
{
	const struct bucket_object *objects = objects_of(&pushing->listing);
	enum err err = ERR_OK;

	for (size_t i = 0; i < count_of(&pushing->listing) && err == ERR_OK;
	     i++) {
		if (objects[i].put_ms > before_ms ||
		    checkpoint_is_named(named, objects[i].name))
			continue;
		err =
		    bucket_drop(&pushing->bucket, &objects[i], pushing->fault);
		if (err == ERR_OK)
			(*removed)++;
	}
	return err;
}

enum err
push_sweep(
    uint64_t *removed, struct store *store, int64_t keep_s, struct fault *fault)
{
	int64_t before_ms = date_now_ms() - keep_s * 1000;
	struct pushing *pushing;
	struct buf named;
	enum err err = begin(&pushing, store, fault);

	*removed = 0;
	buf_init(&named, CHECKPOINT_NAMED_MAX);
	if (err == ERR_OK && pushing->bucket.url[0] != '\0') {
		err = look(pushing);
		if (err == ERR_OK)
			err = get_lists(pushing);
		if (err == ERR_OK)
			err = checkpoint_named(&named, store);
		if (err == ERR_OK)
			err = drop_others(pushing, &named, before_ms, removed);
	}
	buf_fini(&named);
	end(pushing);
	return err;
}

/* --- looking -------------------------------------------------------------- */

static enum err
count_snapshot(
    void *context, struct span supplier, const struct computed *computed)
{
	struct pushing *pushing = context;

	(void)supplier;
	if (has_whole(&pushing->listing, &pushing->bucket, &computed->file))
		pushing->pushed.files++;
	return ERR_OK;
}

static enum err
count_all(struct push_look *out, struct pushing *pushing)
{
	enum err err = bucket_list(
	    &pushing->bucket, add_object, &pushing->listing, pushing->fault);

	if (err == ERR_OK)
		err = computed_each(pushing->store, count_snapshot, pushing);
	out->snapshots = pushing->pushed.files;
	out->objects = count_of(&pushing->listing);
	for (size_t i = 0; i < out->objects; i++)
		out->bytes += objects_of(&pushing->listing)[i].bytes;
	return err;
}

enum err
push_look(struct push_look *out, struct store *store, struct fault *fault)
{
	static char url[BUCKET_TEXT_MAX];
	struct pushing *pushing;
	struct editions editions;
	bool told = false;
	enum err err = begin(&pushing, store, fault);

	memset(out, 0, sizeof(*out));
	out->url = url;
	url[0] = '\0';
	if (err == ERR_OK && pushing->bucket.url[0] != '\0') {
		memcpy(url, pushing->bucket.url, sizeof(url));
		err = edition_look(&editions, store);
		if (err == ERR_OK && editions.now.number > 0)
			err = has_record(&told, store, &editions.now);
		out->edition = told ? editions.now.number : 0;
		if (err == ERR_OK)
			err = count_all(out, pushing);
	}
	end(pushing);
	return err;
}
