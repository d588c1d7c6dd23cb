/* Opens a facts file and the parts that it refers to. */
#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "common/fs.h"
#include "common/kv/kv.h"
#include "common/log.h"
#include "lmdb-schema/facts/source_priv.h"
#include "lmdb-schema/key.h"
#include "lmdb-schema/pack.h"
#include "lmdb-schema/store/store.h"

enum err
source_current(uint64_t *generation, struct store *store)
{
	struct kv_txn *txn;
	enum err err = kv_read(&txn, store_live(store));

	*generation = 0;
	if (err != ERR_OK)
		return err;
	err = store_number(txn, "facts", generation);
	kv_abort(txn);
	return err;
}

/* Facts of before have no checksum of their header behind it. */
static bool
header_is_sound(struct unpack *from, struct span value)
{
	struct span summed = value;

	if (unpack_done(from))
		return true;
	if (from->bad)
		return false;
	summed.len -= (size_t)(from->end - from->at);
	return unpack_unsigned(from) ==
	    source_pair_crc(0, SPAN("header"), summed) &&
	    unpack_done(from);
}

static enum err
read_header(struct source *source)
{
	struct source_header *header = &source->header;
	struct unpack from;
	struct span value;
	uint64_t version;
	enum err err = store_number(source->txn, "schema", &version);

	if (err == ERR_OK && version != SCHEMA_FACTS_VERSION &&
	    version != SCHEMA_FACTS_VERSION_BARE)
		err = ERR_VERSION;
	if (err == ERR_OK)
		err = kv_get(source->txn, FACTS_META, SPAN("header"), &value);
	if (err != ERR_OK)
		return err == ERR_NOT_FOUND ? ERR_DAMAGED : err;
	unpack_init(&from, value);
	header->newest_month = (int32_t)unpack_unsigned(&from);
	header->suppliers = unpack_unsigned(&from);
	header->stores = unpack_unsigned(&from);
	header->classes = unpack_unsigned(&from);
	header->articles = unpack_unsigned(&from);
	for (unsigned i = 0; i < SERIES_KINDS; i++)
		header->records[i] = unpack_unsigned(&from);
	header->tables_crc = (uint32_t)unpack_unsigned(&from);
	if (!header_is_sound(&from, value) ||
	    header->stores > SCHEMA_STORES_MAX ||
	    header->newest_month > SCHEMA_MONTH_MAX)
		return ERR_DAMAGED;
	return ERR_OK;
}

static enum err
read_stores(struct source *source)
{
	source->stores =
	    calloc(source->header.stores + 1, sizeof(*source->stores));
	if (source->stores == NULL)
		return ERR_NO_MEMORY;
	for (uint32_t i = 0; i < source->header.stores; i++) {
		struct key key = key_u16((uint16_t)i);
		struct unpack from;
		struct span value;
		enum err err =
		    kv_get(source->txn, FACTS_STORES, key_span(&key), &value);

		if (err != ERR_OK)
			return err == ERR_NOT_FOUND ? ERR_DAMAGED : err;
		unpack_init(&from, value);
		source->stores[i].code = unpack_text(&from);
		source->stores[i].name = unpack_text(&from);
		if (!unpack_done(&from))
			return ERR_DAMAGED;
	}
	return ERR_OK;
}

/* Opens one file, without its parts. */
static enum err
open_one(struct source **out, const char *path, uint64_t generation)
{
	struct source *source = calloc(1, sizeof(*source));
	enum err err;

	*out = NULL;
	if (source == NULL)
		return ERR_NO_MEMORY;
	pthread_mutex_init(&source->lock, NULL);
	source->generation = generation;
	source->listings = source;
	err = store_facts_open(&source->kv, path);
	if (err == ERR_OK)
		err = kv_read(&source->txn, source->kv);
	if (err == ERR_OK)
		err = read_header(source);
	if (err == ERR_OK)
		err = read_stores(source);
	if (err != ERR_OK) {
		log_error("facts file cannot be used: file=%s error=%s", path,
		    err_text(err));
		source_close(source);
		return err;
	}
	*out = source;
	return ERR_OK;
}

struct source *
source_part(struct source *source, uint64_t generation)
{
	if (generation == 0 || generation == source->generation)
		return source;
	for (unsigned i = 0; i < source->part_count; i++)
		if (source->parts[i]->generation == generation)
			return source->parts[i];
	return NULL;
}

/* A part lies in the same folder. Its series have the same stores' numbers. */
static enum err
open_part(struct source *source, const char *path, uint64_t generation)
{
	const char *slash = strrchr(path, '/');
	int folder = slash == NULL ? 0 : (int)(slash - path) + 1;
	char text[KEY_GENERATION_LEN + 1], name[FS_PATH_MAX];
	struct source *part;
	enum err err;

	if (source->part_count == SOURCE_PARTS_MAX)
		return ERR_DAMAGED;
	key_generation_text(text, generation);
	err = fs_path(name, "%.*s%s.mdb", folder, path, text);
	if (err == ERR_OK)
		err = open_one(&part, name, generation);
	if (err != ERR_OK)
		return err;
	source->parts[source->part_count++] = part;
	return part->header.stores == source->header.stores ? ERR_OK
							    : ERR_DAMAGED;
}

static enum err
open_parts(struct source *source, const char *path)
{
	uint64_t listings, count;
	struct unpack from;
	struct span value;
	enum err err =
	    kv_get(source->txn, FACTS_META, SOURCE_PARTS_KEY, &value);

	if (err != ERR_OK)
		return err == ERR_NOT_FOUND ? ERR_OK : err;
	unpack_init(&from, value);
	listings = unpack_unsigned(&from);
	count = unpack_unsigned(&from);
	for (uint64_t i = 0; i < count && err == ERR_OK; i++)
		err = from.bad
		    ? ERR_DAMAGED
		    : open_part(source, path, unpack_unsigned(&from));
	if (err != ERR_OK)
		return err;
	value.len -= (size_t)(from.end - from.at);
	if (unpack_unsigned(&from) !=
		source_pair_crc(0, SOURCE_PARTS_KEY, value) ||
	    !unpack_done(&from))
		return ERR_DAMAGED;
	source->listings = source_part(source, listings);
	return source->listings == NULL ? ERR_DAMAGED : ERR_OK;
}

enum err
source_open_file(struct source **out, const char *path, uint64_t generation)
{
	enum err err = open_one(out, path, generation);

	if (err == ERR_OK)
		err = open_parts(*out, path);
	if (err == ERR_OK || *out == NULL)
		return err;
	log_error("a part of the facts cannot be used: file=%s error=%s", path,
	    err_text(err));
	source_close(*out);
	*out = NULL;
	return err;
}

enum err
source_open(struct source **out, struct store *store)
{
	char path[FS_PATH_MAX];
	uint64_t generation;
	enum err err;

	*out = NULL;
	/*
	 * A new import may have unlinked the file that was current: look again.
	 */
	for (unsigned tries = 0; tries < 3; tries++) {
		err = source_current(&generation, store);
		if (err == ERR_OK && generation == 0)
			err = ERR_NOT_FOUND;
		if (err == ERR_OK)
			err = store_facts_path(path, store, generation, "");
		if (err != ERR_OK)
			return err;
		err = source_open_file(out, path, generation);
		if (err != ERR_NOT_FOUND)
			return err;
	}
	return ERR_DAMAGED;
}

void
source_close(struct source *source)
{
	if (source == NULL)
		return;
	for (unsigned i = 0; i < source->part_count; i++)
		source_close(source->parts[i]);
	kv_abort(source->txn);
	kv_close(source->kv);
	free(source->stores);
	pthread_mutex_destroy(&source->lock);
	free(source);
}

/*
 * The facts file that this process verified last: only one is current at a
 * time.
 */
static struct {
	pthread_mutex_t lock;
	uint64_t generation;
	struct fs_stamp stamp;
} verified = {.lock = PTHREAD_MUTEX_INITIALIZER};

static enum err
verify_once(struct source *source)
{
	struct fs_stamp stamp;
	enum err err = kv_stamp(&stamp, source->kv);

	if (err != ERR_OK)
		return err;
	pthread_mutex_lock(&verified.lock);
	if (verified.generation != source->generation ||
	    !fs_stamp_eq(&verified.stamp, &stamp)) {
		err = source_verify(source);
		if (err == ERR_OK && !fs_stamp_is_young(&stamp)) {
			verified.generation = source->generation;
			verified.stamp = stamp;
		}
	}
	pthread_mutex_unlock(&verified.lock);
	return err;
}

enum err
source_open_verified(struct source **out, struct store *store)
{
	enum err err = source_open(out, store);

	if (err == ERR_OK)
		err = verify_once(*out);
	if (err == ERR_OK || *out == NULL)
		return err;
	log_error("damage: the facts are not as they were written, import "
		  "again: generation=%llu error=%s",
	    (unsigned long long)source_generation(*out), err_text(err));
	source_close(*out);
	*out = NULL;
	return err;
}

enum err
source_touched(
    bool *touched, const struct source *source, struct fs_stamp *stamp)
{
	struct fs_stamp now;
	enum err err = kv_stamp(&now, source->kv);

	*touched = err == ERR_OK && !fs_stamp_eq(&now, stamp);
	*stamp = now;
	return err;
}
