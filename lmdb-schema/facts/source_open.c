/* Opens a facts file, and the shares or parts that it refers to. */
#include <assert.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

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

/* Of a file that an import wrote, nothing is missing. */
static enum err
get_meta(const struct source *source, struct span key, struct span *value)
{
	enum err err = kv_get(source->txn, FACTS_META, key, value);

	return err == ERR_NOT_FOUND ? ERR_DAMAGED : err;
}

static enum err
read_version(struct source *source)
{
	enum err err = store_number(source->txn, "schema", &source->version);

	if (err != ERR_OK)
		return err;
	return source->version >= SCHEMA_FACTS_VERSION_BARE &&
		source->version <= SCHEMA_FACTS_VERSION
	    ? ERR_OK
	    : ERR_VERSION;
}

static enum err
read_header(struct source *source)
{
	struct source_header *header = &source->header;
	struct unpack from;
	struct span value;
	enum err err = get_meta(source, SPAN("header"), &value);

	if (err != ERR_OK)
		return err;
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

/* The checksum behind a record's numbers. */
static bool
ends_with_sum(
    struct unpack *from, struct span key, struct span value, uint32_t *sum)
{
	if (from->bad)
		return false;
	value.len -= (size_t)(from->end - from->at);
	*sum = source_pair_crc(0, key, value);
	return unpack_unsigned(from) == *sum && unpack_done(from);
}

/* Facts of before do not tell: 0. */
static enum err
read_since(struct source *source)
{
	struct unpack from;
	struct span value;
	uint64_t month;
	uint32_t sum;
	enum err err =
	    kv_get(source->txn, FACTS_META, SOURCE_SINCE_KEY, &value);

	if (err != ERR_OK)
		return err == ERR_NOT_FOUND ? ERR_OK : err;
	unpack_init(&from, value);
	month = unpack_unsigned(&from);
	if (!ends_with_sum(&from, SOURCE_SINCE_KEY, value, &sum) ||
	    month > SCHEMA_MONTH_MAX)
		return ERR_DAMAGED;
	source->header.oldest_sales = (int32_t)month;
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

static enum err
read_share(struct source *source)
{
	struct source_share *share = &source->share;
	struct unpack from;
	struct span value;
	enum err err = get_meta(source, SOURCE_SHARE_KEY, &value);

	if (err != ERR_OK)
		return err;
	unpack_init(&from, value);
	share->number = unpack_unsigned(&from);
	share->count = unpack_unsigned(&from);
	share->stores = unpack_unsigned(&from);
	share->suppliers = unpack_unsigned(&from);
	share->articles = unpack_unsigned(&from);
	share->suppliers_crc = (uint32_t)unpack_unsigned(&from);
	share->where_crc = (uint32_t)unpack_unsigned(&from);
	return ends_with_sum(&from, SOURCE_SHARE_KEY, value, &share->sum)
	    ? ERR_OK
	    : ERR_DAMAGED;
}

static enum err
read_base(struct source *source)
{
	enum err err = read_header(source);

	if (err == ERR_OK)
		err = read_since(source);
	return err == ERR_OK ? read_stores(source) : err;
}

/* A file that is gone may belong to facts that a prune has just removed. */
static void
complain(const char *what, const char *path, enum err err)
{
	if (err == ERR_NOT_FOUND)
		log_info("facts file is not there: file=%s", path);
	else
		log_error("%s: file=%s error=%s", what, path, err_text(err));
}

/* Opens one file, without those that it refers to. */
static enum err
open_one(struct source **out, const char *path, uint64_t generation,
    enum err (*read)(struct source *source))
{
	struct source *source = calloc(1, sizeof(*source));
	enum err err;

	*out = NULL;
	if (source == NULL)
		return ERR_NO_MEMORY;
	pthread_mutex_init(&source->lock, NULL);
	source->generation = generation;
	source->listings = source;
	atomic_init(&source->compared, SOURCE_UNREAD);
	err = store_facts_open(&source->kv, path);
	if (err == ERR_OK)
		err = kv_read(&source->txn, source->kv);
	if (err == ERR_OK)
		err = read_version(source);
	if (err == ERR_OK)
		err = read(source);
	if (err != ERR_OK) {
		complain("facts file cannot be used", path, err);
		source_close(source);
		return err;
	}
	*out = source;
	return ERR_OK;
}

/* --- shares --------------------------------------------------------------- */

enum err
source_share_path(char path[FS_PATH_MAX], const char *base, uint64_t generation,
    unsigned share)
{
	const char *slash = strrchr(base, '/');
	const char *name = slash == NULL ? base : slash + 1;
	const char *end = strstr(name, ".mdb");
	char text[KEY_GENERATION_LEN + 1];

	if (end == NULL)
		return ERR_BAD_INPUT;
	if (generation == 0)
		return fs_path(
		    path, "%.*s-%02x%s", (int)(end - base), base, share, end);
	key_generation_text(text, generation);
	return fs_path(
	    path, "%.*s%s-%02x.mdb", (int)(name - base), base, text, share);
}

/* A share as the base file names it: generation 0 for its own generation. */
struct named {
	uint64_t generation;
	uint32_t sum;
};

/* The share is the one that the base file means, whole or not at all. */
static enum err
compare_share(const struct source *source, const struct source *share,
    unsigned number, const struct named *named)
{
	return share->version == source->version &&
		share->share.sum == named->sum &&
		share->share.number == number &&
		share->share.count == source->share_count &&
		share->share.stores == source->header.stores
	    ? ERR_OK
	    : ERR_DAMAGED;
}

static enum err
open_share(struct source *source, const char *path, unsigned number,
    const struct named *named)
{
	uint64_t generation = named->generation;
	char name[FS_PATH_MAX];
	enum err err = ERR_OK;

	if (generation == source->generation)
		return ERR_DAMAGED; /* its own are 0 */
	if (source->share_count == 1) {
		source->shares[0] = source;
		err = generation == 0 ? read_share(source) : ERR_DAMAGED;
	} else {
		err = source_share_path(name, path, generation, number);
		if (err == ERR_OK)
			err = open_one(&source->shares[number], name,
			    generation == 0 ? source->generation : generation,
			    read_share);
	}
	return err == ERR_OK
	    ? compare_share(source, source->shares[number], number, named)
	    : err;
}

/*
 * Behind the articles and the listings of a share: its suppliers, its record, and
 * the pages that lead to them. Opening reads these of all shares.
 */
#define SHARE_HEAD_BYTES (8 << 10)
#define SHARE_END_BYTES (256 << 10)

/* Asks for what opening a share reads, so that the disk has all at once. */
static void
expect_share(const char *path, unsigned number, uint64_t generation)
{
	char name[FS_PATH_MAX];
	struct fs_stamp stamp;
	int fd;

	if (source_share_path(name, path, generation, number) != ERR_OK)
		return;
	fd = open(name, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return;
	if (fs_stamp(&stamp, fd) == ERR_OK) {
		uint64_t bytes = (uint64_t)stamp.bytes,
			 from = bytes > SHARE_END_BYTES
		    ? bytes - SHARE_END_BYTES
		    : 0;

		fs_expect(fd, 0, SHARE_HEAD_BYTES);
		fs_expect(fd, from, bytes - from);
	}
	close(fd);
}

/* The counts of the whole are those of the shares. */
static enum err
compare_counts(const struct source *source)
{
	uint64_t suppliers = 0, articles = 0;

	for (unsigned i = 0; i < source->share_count; i++) {
		suppliers += source->shares[i]->share.suppliers;
		articles += source->shares[i]->share.articles;
	}
	return suppliers == source->header.suppliers &&
		articles == source->header.articles
	    ? ERR_OK
	    : ERR_DAMAGED;
}

static enum err
open_shares(struct source *source, const char *path)
{
	struct named named[SOURCE_SHARES_MAX];
	struct unpack from;
	struct span value;
	uint64_t count;
	uint32_t sum;
	enum err err = get_meta(source, SOURCE_SHARES_KEY, &value);

	if (err != ERR_OK)
		return err;
	unpack_init(&from, value);
	count = unpack_unsigned(&from);
	if (count == 0 || count > SOURCE_SHARES_MAX)
		return ERR_DAMAGED;
	for (uint64_t i = 0; i < count; i++) {
		named[i].generation = unpack_unsigned(&from);
		named[i].sum = (uint32_t)unpack_unsigned(&from);
	}
	if (!ends_with_sum(&from, SOURCE_SHARES_KEY, value, &sum))
		return ERR_DAMAGED;
	source->shares = calloc(count, sizeof(struct source *));
	if (source->shares == NULL)
		return ERR_NO_MEMORY;
	source->share_count = (unsigned)count;
	for (unsigned i = 0; i < count && count > 1; i++)
		expect_share(path, i, named[i].generation);
	for (unsigned i = 0; i < count && err == ERR_OK; i++)
		err = open_share(source, path, i, &named[i]);
	return err == ERR_OK ? compare_counts(source) : err;
}

/* --- parts ---------------------------------------------------------------- */

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
		err = open_one(&part, name, generation, read_base);
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
	uint32_t sum;
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
	if (!ends_with_sum(&from, SOURCE_PARTS_KEY, value, &sum))
		return ERR_DAMAGED;
	source->listings = source_part(source, listings);
	return source->listings == NULL ? ERR_DAMAGED : ERR_OK;
}

enum err
source_open_file(struct source **out, const char *path, uint64_t generation)
{
	enum err err = open_one(out, path, generation, read_base);

	if (err == ERR_OK)
		err = (*out)->version < SCHEMA_FACTS_VERSION
		    ? open_parts(*out, path)
		    : open_shares(*out, path);
	if (err == ERR_OK || *out == NULL)
		return err;
	complain(
	    "facts that consist of several files cannot be used", path, err);
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
	log_error("facts that the catalogue names are not there, or not "
		  "whole: file=%s",
	    path);
	return ERR_DAMAGED;
}

void
source_close(struct source *source)
{
	if (source == NULL)
		return;
	for (unsigned i = 0; i < source->part_count; i++)
		source_close(source->parts[i]);
	for (unsigned i = 0; i < source->share_count; i++)
		if (source->shares[i] != source)
			source_close(source->shares[i]);
	free(source->shares);
	kv_abort(source->txn);
	kv_close(source->kv);
	free(source->stores);
	pthread_mutex_destroy(&source->lock);
	free(source);
}

/* --- files ---------------------------------------------------------------- */

static enum err
tell_file(uint64_t generation, int share,
    enum err (*each)(void *context, const char *name), void *context)
{
	char text[KEY_GENERATION_LEN + 1], name[SOURCE_NAME_MAX];

	key_generation_text(text, generation);
	if (share < 0)
		snprintf(name, sizeof(name), "%s.mdb", text);
	else
		snprintf(
		    name, sizeof(name), "%s-%02x.mdb", text, (unsigned)share);
	return each(context, name);
}

enum err
source_files(const struct source *source,
    enum err (*each)(void *context, const char *name), void *context)
{
	enum err err = tell_file(source->generation, -1, each, context);

	assert(each != NULL);
	for (unsigned i = 0; i < source->part_count && err == ERR_OK; i++)
		err =
		    tell_file(source->parts[i]->generation, -1, each, context);
	for (unsigned i = 0; i < source->share_count && err == ERR_OK; i++)
		if (source->shares[i] != source)
			err = tell_file(source->shares[i]->generation, (int)i,
			    each, context);
	return err;
}

static enum err
is_name(void *context, const char *name)
{
	return strcmp(context, name) == 0 ? ERR_EXISTS : ERR_OK;
}

bool
source_uses(const struct source *source, const char *name)
{
	char copy[SOURCE_NAME_MAX];

	return snprintf(copy, sizeof(copy), "%s", name) < SOURCE_NAME_MAX &&
	    source_files(source, is_name, copy) == ERR_EXISTS;
}

/* Adds a file's stamp to that of those before. */
static enum err
add_stamp(struct fs_stamp *stamp, const struct source *file)
{
	struct fs_stamp one;
	enum err err = kv_stamp(&one, file->kv);

	if (err != ERR_OK)
		return err;
	if (one.changed_ns > stamp->changed_ns)
		stamp->changed_ns = one.changed_ns;
	if (one.written_ns > stamp->written_ns)
		stamp->written_ns = one.written_ns;
	stamp->bytes += one.bytes;
	return ERR_OK;
}

/* The latest times and all bytes: a file that is touched has the latest. */
static enum err
stamp_all(struct fs_stamp *stamp, const struct source *source)
{
	enum err err;

	memset(stamp, 0, sizeof(*stamp));
	err = add_stamp(stamp, source);
	for (unsigned i = 0; i < source->part_count && err == ERR_OK; i++)
		err = add_stamp(stamp, source->parts[i]);
	for (unsigned i = 0; i < source->share_count && err == ERR_OK; i++)
		if (source->shares[i] != source)
			err = add_stamp(stamp, source->shares[i]);
	return err;
}

enum err
source_bytes(uint64_t *bytes, const struct source *source)
{
	struct fs_stamp stamp;
	enum err err = stamp_all(&stamp, source);

	*bytes = stamp.bytes;
	return err;
}

/* --- verified once -------------------------------------------------------- */

/*
 * The facts that this process verified last: only one generation is current at
 * a time.
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
	enum err err = stamp_all(&stamp, source);

	if (err != ERR_OK)
		return err;
	pthread_mutex_lock(&verified.lock);
	if (verified.generation != source->generation ||
	    !fs_stamp_eq(&verified.stamp, &stamp)) {
		err = source_verify_tables(source);
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
	source_tell_damage(*out, err);
	source_close(*out);
	*out = NULL;
	return err;
}

enum err
source_touched(
    bool *touched, const struct source *source, struct fs_stamp *stamp)
{
	struct fs_stamp now;
	enum err err = stamp_all(&now, source);

	*touched = err == ERR_OK && !fs_stamp_eq(&now, stamp);
	*stamp = now;
	return err;
}
