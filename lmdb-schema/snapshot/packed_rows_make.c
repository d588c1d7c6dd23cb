/*
 * Several threads take groups of rows in turn; each appends the packed segments of
 * its group to the file. The table has the offsets, so the groups may be in any
 * order.
 */
#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "lmdb-schema/deflate.h"
#include "lmdb-schema/snapshot/catalog.h"
#include "lmdb-schema/snapshot/packed_rows_priv.h"
#include "lmdb-schema/store/sealed.h"
#include "lmdb-schema/store/store.h"
#include "lmdb-schema/zstd_pieces.h"

#define GROUP 256u /* rows */
#define PIECE_LOG \
	22 /* zstd's pieces of 4 MB at most, a segment's rows mostly */
#define THREADS_MAX 64
#define RAW_MAX ((size_t)1 << 30)

struct packing {
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
fail(struct packing *packing, enum err err)
{
	enum err none = ERR_OK;

	if (err != ERR_OK)
		atomic_compare_exchange_strong(&packing->err, &none, err);
}

/* With a comma behind it, unless it is the last or packed alone. */
static enum err
add_row(struct packing *packing, uint32_t row, struct buf *raw)
{
	bool last = row + 1 == packing->head.rows || packing->kind->rows == 1;
	struct snapshot_part flat, maps;

	if (!snapshot_flat(packing->snap, row, &flat) ||
	    !snapshot_maps(packing->snap, row, &maps))
		return ERR_DAMAGED;
	buf_add(raw, flat.json, flat.off.flat[ROW_FLATS]);
	buf_add(raw, maps.json, maps.off.maps[ROW_MAPCOUNT] + (last ? 0u : 1u));
	return buf_end(raw);
}

/* Puts a group's bytes; `at` of its segments counts from their start so far. */
static enum err
put(struct packing *packing, uint32_t from, uint32_t to, struct span bytes)
{
	uint64_t at;

	pthread_mutex_lock(&packing->lock);
	at = packing->end;
	packing->end += bytes.len;
	pthread_mutex_unlock(&packing->lock);
	for (uint32_t i = from; i < to; i++)
		packing->segments[i].at += at;
	return sealed_put(packing->fd, bytes.ptr, bytes.len, at);
}

/* The tools of one thread. */
struct bench {
	struct deflate *deflate; /* NULL: zstd */
	struct zstd_pieces *zstd;
	struct buf raw, packed;
};

static enum err
bench_begin(struct bench *bench, const struct packing *packing)
{
	int level = (int)packing->head.level;
	bool zstd = packing->options->kind == PACKED_ZSTD;

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
pack_segment(struct packing *packing, uint32_t number, struct bench *bench)
{
	struct packed_rows_segment *segment = &packing->segments[number];
	uint32_t row = number * packing->kind->rows;
	uint32_t end = row + packing->kind->rows;
	struct buf *raw = &bench->raw, *packed = &bench->packed;
	enum err err = ERR_OK;

	buf_clear(raw);
	segment->at = packed->len;
	for (; row < end && row < packing->head.rows && err == ERR_OK; row++)
		err = add_row(packing, row, raw);
	if (err == ERR_OK && packing->kind->rows == 1)
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
pack(struct packing *packing, uint32_t group, struct bench *bench)
{
	uint32_t each = GROUP / packing->kind->rows;
	uint32_t from = group * each, to = from + each;
	enum err err = ERR_OK;

	if (to > packing->head.segments)
		to = packing->head.segments;
	buf_clear(&bench->packed);
	for (uint32_t i = from; i < to && err == ERR_OK; i++)
		err = pack_segment(packing, i, bench);
	return err == ERR_OK ? put(packing, from, to, buf_span(&bench->packed))
			     : err;
}

static void
tell_progress(struct packing *packing)
{
	const struct packed_rows_options *options = packing->options;
	uint32_t rows = packing->head.rows;

	pthread_mutex_lock(&packing->lock);
	packing->rows_done += GROUP;
	if (options->at != NULL)
		options->at(options->context,
		    packing->rows_done < rows ? packing->rows_done : rows,
		    rows);
	pthread_mutex_unlock(&packing->lock);
}

static void *
work(void *context)
{
	struct packing *packing = context;
	uint32_t groups = packing->head.rows / GROUP +
	    (packing->head.rows % GROUP != 0),
		 i;
	struct bench bench;

	fail(packing, bench_begin(&bench, packing));
	while (atomic_load(&packing->err) == ERR_OK &&
	    (i = atomic_fetch_add(&packing->next, 1)) < groups) {
		fail(packing, pack(packing, i, &bench));
		tell_progress(packing);
	}
	bench_end(&bench);
	return NULL;
}

static void
run_threads(struct packing *packing)
{
	pthread_t threads[THREADS_MAX];
	unsigned started = 0, count = packing->options->threads;

	while (started + 1 < count && started < THREADS_MAX &&
	    pthread_create(&threads[started], NULL, work, packing) == 0)
		started++;
	work(packing);
	for (unsigned i = 0; i < started; i++)
		pthread_join(threads[i], NULL);
}

static enum err
finish(struct packing *packing, enum err err)
{
	size_t table = packing->head.segments * sizeof(*packing->segments);

	packing->head.bytes = packing->end;
	packing->head.crc =
	    packed_rows_head_crc(&packing->head, packing->segments);
	return err != ERR_OK
	    ? err
	    : sealed_finish(packing->fd,
		  span_make(
		      (const char *)&packing->head, sizeof(packing->head)),
		  span_make((const char *)packing->segments, table));
}

static void
fill_head(struct packing *packing)
{
	const struct snap_head *of = snapshot_head(packing->snap);
	int level = packing->options->level;
	struct packed_rows_head *head = &packing->head;

	memcpy(head->magic, packing->kind->magic, sizeof(head->magic));
	head->version = PACKED_ROWS_VERSION;
	head->snapshot = of->crc;
	head->rows = of->rows;
	head->segments =
	    (of->rows + packing->kind->rows - 1) / packing->kind->rows;
	head->level =
	    (uint32_t)(level == 0 ? packing->kind->usual_level : level);
	head->generation = of->generation;
	packing->end =
	    sizeof(*head) + head->segments * sizeof(*packing->segments);
}

static enum err
write_file(struct snapshot *snap, const char *path,
    const struct packed_rows_options *options)
{
	struct packing packing = {.kind = &packed_kinds[options->kind],
	    .snap = snap,
	    .options = options};
	enum err err = sealed_create(&packing.fd, path);

	fill_head(&packing);
	packing.segments =
	    calloc(packing.head.segments, sizeof(*packing.segments));
	pthread_mutex_init(&packing.lock, NULL);
	if (err == ERR_OK && packing.segments == NULL)
		err = ERR_NO_MEMORY;
	if (err == ERR_OK) {
		run_threads(&packing);
		err = finish(&packing, atomic_load(&packing.err));
	}
	if (packing.fd >= 0)
		close(packing.fd);
	pthread_mutex_destroy(&packing.lock);
	free(packing.segments);
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
