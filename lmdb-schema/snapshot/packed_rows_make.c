/*
 * Several threads take groups of rows in turn; each appends the packed segments of
 * its group to the file. The table has the offsets, so the groups may be in any
 * order.
 */
#include <assert.h>
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "lmdb-schema/deflate.h"
#include "lmdb-schema/snapshot/catalog.h"
#include "lmdb-schema/snapshot/packed_rows_priv.h"
#include "lmdb-schema/store/store.h"
#include "lmdb-schema/zstd_pieces.h"

#define GROUP 256u /* rows */
#define PIECE_LOG \
	22 /* zstd's pieces of 4 MB at most, a segment's rows mostly */
#define THREADS_MAX 64
#define RAW_MAX ((size_t)1 << 30)

struct zipping {
	const struct packed_kind_info *kind;
	struct snapshot *snap;
	const struct packed_rows_options *options;
	struct packed_rows_head head;
	struct packed_rows_segment *segments;
	int fd;
	pthread_mutex_t lock;
	uint64_t end; /* of the bytes put */
	uint64_t rows_done;
	atomic_uint next;
	_Atomic enum err err; /* the first failure of any thread */
};

static void
fail(struct zipping *zipping, enum err err)
{
	enum err none = ERR_OK;

	if (err != ERR_OK)
		atomic_compare_exchange_strong(&zipping->err, &none, err);
}

/* With a comma behind it, unless it is the last or packed alone. */
static enum err
add_row(struct zipping *zipping, uint32_t row, struct buf *raw)
{
	bool last = row + 1 == zipping->head.rows || zipping->kind->rows == 1;
	struct snapshot_part flat, maps;

	if (!snapshot_flat(zipping->snap, row, &flat) ||
	    !snapshot_maps(zipping->snap, row, &maps))
		return ERR_DAMAGED;
	buf_add(raw, flat.json, flat.off.flat[ROW_FLATS]);
	buf_add(raw, maps.json, maps.off.maps[ROW_MAPCOUNT] + (last ? 0u : 1u));
	return buf_end(raw);
}

/* Puts a group's bytes; `at` of its segments counts from their start so far. */
static enum err
put(struct zipping *zipping, uint32_t from, uint32_t to, struct span bytes)
{
	uint64_t at;

	pthread_mutex_lock(&zipping->lock);
	at = zipping->end;
	zipping->end += bytes.len;
	pthread_mutex_unlock(&zipping->lock);
	for (uint32_t i = from; i < to; i++)
		zipping->segments[i].at += at;
	return fs_write_at(zipping->fd, bytes.ptr, bytes.len, at);
}

/* The tools of one thread. */
struct bench {
	struct deflate *deflate; /* NULL: zstd */
	struct zstd_pieces *zstd;
	struct buf raw, packed;
};

static enum err
bench_begin(struct bench *bench, const struct zipping *zipping)
{
	int level = (int)zipping->head.level;
	bool zstd = zipping->options->kind == PACKED_ZSTD;

	*bench = (struct bench){0};
	buf_init(&bench->raw, RAW_MAX);
	buf_init(&bench->packed, RAW_MAX);
	if (zstd)
		bench->zstd = zstd_pieces_new(level, PIECE_LOG);
	else
		bench->deflate = deflate_new(level);
	return bench->zstd == NULL && bench->deflate == NULL ? ERR_NO_MEMORY
							     : ERR_OK;
}

static void
bench_end(struct bench *bench)
{
	buf_fini(&bench->raw);
	buf_fini(&bench->packed);
	deflate_free(bench->deflate);
	zstd_pieces_free(bench->zstd);
}

static enum err
pack_text(struct bench *bench)
{
	struct span raw = buf_span(&bench->raw);

	return bench->zstd != NULL
	    ? zstd_pieces_add(bench->zstd, &bench->packed, raw)
	    : deflate_add(bench->deflate, &bench->packed, raw);
}

static enum err
pack_segment(struct zipping *zipping, uint32_t number, struct bench *bench)
{
	struct packed_rows_segment *segment = &zipping->segments[number];
	uint32_t row = number * zipping->kind->rows;
	uint32_t end = row + zipping->kind->rows;
	struct buf *raw = &bench->raw, *packed = &bench->packed;
	enum err err = ERR_OK;

	buf_clear(raw);
	segment->at = packed->len;
	for (; row < end && row < zipping->head.rows && err == ERR_OK; row++)
		err = add_row(zipping, row, raw);
	if (err == ERR_OK && zipping->kind->rows == 1)
		buf_add(packed, PACKED_ROWS_COMMA, PACKED_ROWS_COMMA_LEN);
	if (err == ERR_OK)
		err = pack_text(bench);
	if (err != ERR_OK)
		return err;
	segment->raw_len = (uint32_t)raw->len;
	segment->crc = deflate_crc(0, raw->data, raw->len);
	segment->len = (uint32_t)(packed->len - segment->at);
	segment->packed_crc =
	    deflate_crc(0, packed->data + segment->at, segment->len);
	return ERR_OK;
}

static enum err
pack(struct zipping *zipping, uint32_t group, struct bench *bench)
{
	uint32_t each = GROUP / zipping->kind->rows;
	uint32_t from = group * each, to = from + each;
	enum err err = ERR_OK;

	if (to > zipping->head.segments)
		to = zipping->head.segments;
	buf_clear(&bench->packed);
	for (uint32_t i = from; i < to && err == ERR_OK; i++)
		err = pack_segment(zipping, i, bench);
	return err == ERR_OK ? put(zipping, from, to, buf_span(&bench->packed))
			     : err;
}

static void
tell_progress(struct zipping *zipping)
{
	const struct packed_rows_options *options = zipping->options;
	uint32_t rows = zipping->head.rows;

	pthread_mutex_lock(&zipping->lock);
	zipping->rows_done += GROUP;
	if (options->at != NULL)
		options->at(options->context,
		    zipping->rows_done < rows ? zipping->rows_done : rows,
		    rows);
	pthread_mutex_unlock(&zipping->lock);
}

static void *
work(void *context)
{
	struct zipping *zipping = context;
	uint32_t groups = zipping->head.rows / GROUP +
	    (zipping->head.rows % GROUP != 0),
		 i;
	struct bench bench;

	fail(zipping, bench_begin(&bench, zipping));
	while (atomic_load(&zipping->err) == ERR_OK &&
	    (i = atomic_fetch_add(&zipping->next, 1)) < groups) {
		fail(zipping, pack(zipping, i, &bench));
		tell_progress(zipping);
	}
	bench_end(&bench);
	return NULL;
}

static void
run_threads(struct zipping *zipping)
{
	pthread_t threads[THREADS_MAX];
	unsigned started = 0, count = zipping->options->threads;

	while (started + 1 < count && started < THREADS_MAX &&
	    pthread_create(&threads[started], NULL, work, zipping) == 0)
		started++;
	work(zipping);
	for (unsigned i = 0; i < started; i++)
		pthread_join(threads[i], NULL);
}

/* The head is written last: without it the file is not valid. */
static enum err
finish(struct zipping *zipping, enum err err)
{
	size_t table = zipping->head.segments * sizeof(*zipping->segments);

	zipping->head.bytes = zipping->end;
	zipping->head.crc =
	    packed_rows_head_crc(&zipping->head, zipping->segments);
	if (err == ERR_OK && lseek(zipping->fd, 0, SEEK_SET) != 0)
		err = err_from_errno(errno);
	if (err == ERR_OK)
		err = fs_write_all(
		    zipping->fd, &zipping->head, sizeof(zipping->head));
	if (err == ERR_OK)
		err = fs_write_all(zipping->fd, zipping->segments, table);
	if (err == ERR_OK && fsync(zipping->fd) != 0)
		err = err_from_errno(errno);
	return err;
}

static void
fill_head(struct zipping *zipping)
{
	const struct snap_head *of = snapshot_head(zipping->snap);
	int level = zipping->options->level;
	struct packed_rows_head *head = &zipping->head;

	memcpy(head->magic, zipping->kind->magic, sizeof(head->magic));
	head->version = PACKED_ROWS_VERSION;
	head->snapshot = of->crc;
	head->rows = of->rows;
	head->segments =
	    (of->rows + zipping->kind->rows - 1) / zipping->kind->rows;
	head->level =
	    (uint32_t)(level == 0 ? zipping->kind->usual_level : level);
	head->generation = of->generation;
	zipping->end =
	    sizeof(*head) + head->segments * sizeof(*zipping->segments);
}

static enum err
write_file(struct snapshot *snap, const char *path,
    const struct packed_rows_options *options)
{
	struct zipping zipping = {.kind = &packed_kinds[options->kind],
	    .snap = snap,
	    .options = options};
	enum err err = ERR_NO_MEMORY;

	fill_head(&zipping);
	zipping.segments =
	    calloc(zipping.head.segments, sizeof(*zipping.segments));
	zipping.fd = open(path, O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC, 0640);
	pthread_mutex_init(&zipping.lock, NULL);
	if (zipping.fd < 0)
		err = err_from_errno(errno);
	else if (zipping.segments != NULL) {
		run_threads(&zipping);
		err = finish(&zipping, atomic_load(&zipping.err));
	}
	if (zipping.fd >= 0)
		close(zipping.fd);
	pthread_mutex_destroy(&zipping.lock);
	free(zipping.segments);
	return err;
}

/* True when a file of this or a higher level exists already. */
static bool
is_there(struct store *store, struct snapshot *snap,
    const struct packed_rows_options *options)
{
	struct packed_rows *packed;
	bool there;

	if (packed_rows_open(&packed, store, snap, options->kind) != ERR_OK)
		return false;
	there = packed_rows_head(packed)->level >= (uint32_t)options->level &&
	    packed_rows_verify(packed) == ERR_OK;
	packed_rows_close(packed);
	return there;
}

static enum err
make_of(struct packed_rows_result *result, struct store *store,
    struct snapshot *snap, const struct packed_rows_options *options)
{
	char path[FS_PATH_MAX], temporary[FS_PATH_MAX];
	uint64_t on_disk;
	struct span supplier = snapshot_supplier(snap);
	uint64_t generation = snapshot_head(snap)->generation;
	enum err err = packed_rows_path(
	    path, store, supplier, generation, options->kind, "");

	if (err == ERR_OK)
		err = packed_rows_path(temporary, store, supplier, generation,
		    options->kind, ".tmp");
	if (err != ERR_OK || snapshot_rows(snap) < PACKED_ROWS_ROWS_MIN)
		return err;
	result->rows = snapshot_rows(snap);
	result->raw_bytes = (uint64_t)snapshot_rows_bytes(snap) - 1;
	if (!is_there(store, snap, options)) {
		err = write_file(snap, temporary, options);
		if (err == ERR_OK)
			err = fs_publish(temporary, path);
		if (err != ERR_OK)
			fs_unlink(temporary);
		result->made = err == ERR_OK;
	}
	return err == ERR_OK ? fs_size(path, &result->bytes, &on_disk) : err;
}

enum err
packed_rows_make(struct packed_rows_result *result, struct store *store,
    struct span supplier, const struct packed_rows_options *options)
{
	struct catalog_entry entry;
	struct snapshot *snap = NULL;
	int lock = -1;
	enum err err = store_lock_packing(&lock, store, true);

	assert(options->kind < PACKED_KINDS);
	assert(options->level >= 0 &&
	    options->level <= packed_kinds[options->kind].most_level);
	memset(result, 0, sizeof(*result));
	/*
	 * Look the snapshot up after waiting: it may have been replaced
	 * meanwhile.
	 */
	if (err == ERR_OK)
		err = catalog_current(store, supplier, &entry);
	if (err == ERR_OK)
		err = snapshot_open(&snap, store, supplier, entry.generation);
	if (err == ERR_OK)
		err = make_of(result, store, snap, options);
	snapshot_close(snap);
	if (lock >= 0)
		close(lock);
	return err;
}
