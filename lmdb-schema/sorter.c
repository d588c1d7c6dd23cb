/*
 * A record, in memory and in a run: u16 length of the key, u32 length of the
 * value, key, value.
 */
#include "lmdb-schema/sorter.h"

#include <assert.h>
#include <endian.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "common/buf.h"
#include "common/fs.h"
#include "common/log.h"

#define HEAD (sizeof(uint16_t) + sizeof(uint32_t))
#define CHUNK_MAX ((size_t)1 << 20)
#define CHUNK_MIN ((size_t)4096)
#define WRITE_BYTES ((size_t)256 << 10)

/* A sorter that holds less of the budget writes no run of it. */
#define SHARE_MIN 16

/* An entry, and the copy of it that sorting takes. */
#define ENTRY_BYTES (2 * sizeof(struct entry))

struct entry {
	uint64_t prefix; /* the key's first bytes, big-endian */
	uint64_t at; /* number of its chunk << 32 | place there */
};

struct chunk {
	char *bytes;
	size_t room, used;
};

struct run {
	uint64_t at, end; /* in the file */
};

/* A run being read. */
struct head {
	const char *at, *end;
	struct span key;
	uint64_t prefix;
	uint32_t run;
};

struct sorter {
	struct sorter_budget *budget;
	char dir[FS_PATH_MAX];
	struct chunk *chunks;
	size_t chunk_count, chunk_room;
	struct entry *entries;
	size_t count, room;
	size_t used; /* of the budget */
	size_t key_len; /* of all keys so far, where they are of one length */
	bool key_varies, unsorted, sealed;
	uint64_t total;
	int fd;
	uint64_t written;
	struct run *runs;
	size_t run_count, run_room;
	const char *map;
	struct head *heads; /* a heap */
	size_t head_count;
	size_t next; /* entry, without runs */
};

/* --- records -------------------------------------------------------------- */

static const char *
record_of(const struct sorter *sorter, uint64_t at)
{
	return sorter->chunks[at >> 32].bytes + (uint32_t)at;
}

static size_t
record_read(struct span *key, struct span *value, const char *at)
{
	uint16_t key_len;
	uint32_t value_len;

	memcpy(&key_len, at, sizeof(key_len));
	memcpy(&value_len, at + sizeof(key_len), sizeof(value_len));
	*key = span_make(at + HEAD, key_len);
	*value = span_make(at + HEAD + key_len, value_len);
	return HEAD + key_len + value_len;
}

static struct span
key_at(const struct sorter *sorter, uint64_t at)
{
	struct span key, value;

	record_read(&key, &value, record_of(sorter, at));
	return key;
}

static uint64_t
prefix_of(struct span key)
{
	uint64_t prefix = 0;

	memcpy(&prefix, key.ptr, key.len < 8 ? key.len : 8);
	return be64toh(prefix);
}

/* --- memory --------------------------------------------------------------- */

static size_t
chunk_bytes(const struct sorter *sorter)
{
	size_t bytes = sorter->budget->limit / 64 & ~(CHUNK_MIN - 1);

	if (bytes < CHUNK_MIN)
		return CHUNK_MIN;
	return bytes < CHUNK_MAX ? bytes : CHUNK_MAX;
}

static void
take(struct sorter *sorter, size_t bytes)
{
	sorter->used += bytes;
	atomic_fetch_add(&sorter->budget->used, bytes);
}

/* Memory of its own for each chunk, so that it goes back to the kernel. */
static enum err
add_chunk(struct sorter *sorter, size_t least)
{
	struct chunk chunk = {.room = chunk_bytes(sorter)};

	if (chunk.room < least)
		chunk.room = (least + CHUNK_MIN - 1) & ~(CHUNK_MIN - 1);
	if (sorter->chunk_count == sorter->chunk_room) {
		size_t room = sorter->chunk_room * 2 + 16;
		struct chunk *chunks =
		    reallocarray(sorter->chunks, room, sizeof(*chunks));

		if (chunks == NULL)
			return ERR_NO_MEMORY;
		sorter->chunks = chunks;
		sorter->chunk_room = room;
	}
	chunk.bytes = mmap(NULL, chunk.room, PROT_READ | PROT_WRITE,
	    MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (chunk.bytes == MAP_FAILED)
		return ERR_NO_MEMORY;
	sorter->chunks[sorter->chunk_count++] = chunk;
	take(sorter, chunk.room);
	return ERR_OK;
}

static enum err
add_entry(struct sorter *sorter, struct entry entry)
{
	if (sorter->count == sorter->room) {
		size_t room = sorter->room == 0 ? 256 : sorter->room * 2;
		struct entry *entries =
		    reallocarray(sorter->entries, room, sizeof(*entries));

		if (entries == NULL)
			return ERR_NO_MEMORY;
		sorter->entries = entries;
		sorter->room = room;
	}
	sorter->entries[sorter->count++] = entry;
	take(sorter, ENTRY_BYTES);
	return ERR_OK;
}

static void
forget(struct sorter *sorter)
{
	for (size_t i = 0; i < sorter->chunk_count; i++)
		munmap(sorter->chunks[i].bytes, sorter->chunks[i].room);
	free(sorter->entries);
	sorter->entries = NULL;
	sorter->chunk_count = sorter->count = sorter->room = 0;
	sorter->unsorted = false;
	atomic_fetch_sub(&sorter->budget->used, sorter->used);
	sorter->used = 0;
}

/* --- sorting -------------------------------------------------------------- */

/* A key of up to eight bytes, of one length, is its prefix. */
static bool
prefix_decides(const struct sorter *sorter)
{
	return !sorter->key_varies && sorter->key_len <= sizeof(uint64_t);
}

static int
by_key(const void *a, const void *b, void *context)
{
	const struct sorter *sorter = context;
	const struct entry *x = a, *y = b;
	int order = 0;

	if (x->prefix != y->prefix)
		return x->prefix < y->prefix ? -1 : 1;
	if (!prefix_decides(sorter))
		order = span_cmp(key_at(sorter, x->at), key_at(sorter, y->at));
	if (order == 0)
		order = x->at < y->at ? -1 : x->at > y->at;
	return order;
}

static void
sort(struct sorter *sorter)
{
	if (sorter->unsorted)
		qsort_r(sorter->entries, sorter->count,
		    sizeof(*sorter->entries), by_key, sorter);
	sorter->unsorted = false;
}

/* --- runs ----------------------------------------------------------------- */

static enum err
failed(const struct sorter *sorter, enum err err)
{
	log_error("cannot write a temporary file: dir=%s error=%s", sorter->dir,
	    err_text(err));
	return err;
}

static enum err
open_file(struct sorter *sorter)
{
	if (sorter->fd < 0)
		sorter->fd = fs_nameless(sorter->dir);
	return sorter->fd < 0 ? failed(sorter, err_from_errno(errno)) : ERR_OK;
}

static enum err
flush(struct sorter *sorter, struct buf *out)
{
	enum err err = buf_end(out);

	if (err == ERR_OK)
		err = fs_write_all(sorter->fd, out->data, out->len);
	/* A limit on file sizes is reported like a full disk. */
	if (err == ERR_TOO_LARGE)
		err = ERR_NO_SPACE;
	if (err != ERR_OK)
		return failed(sorter, err);
	sorter->written += out->len;
	buf_clear(out);
	return ERR_OK;
}

static enum err
write_entries(struct sorter *sorter)
{
	struct span key, value;
	struct buf out;
	enum err err = ERR_OK;

	buf_init(&out, (size_t)1 << 33);
	for (size_t i = 0; i < sorter->count && err == ERR_OK; i++) {
		const char *at = record_of(sorter, sorter->entries[i].at);

		buf_add(&out, at, record_read(&key, &value, at));
		if (out.len >= WRITE_BYTES)
			err = flush(sorter, &out);
	}
	if (err == ERR_OK && out.len > 0)
		err = flush(sorter, &out);
	buf_fini(&out);
	return err;
}

static enum err
write_run(struct sorter *sorter)
{
	struct run run = {.at = sorter->written};
	enum err err = open_file(sorter);

	if (err == ERR_OK && sorter->run_count == sorter->run_room) {
		size_t room = sorter->run_room * 2 + 16;
		struct run *runs =
		    reallocarray(sorter->runs, room, sizeof(*runs));

		if (runs == NULL)
			return ERR_NO_MEMORY;
		sorter->runs = runs;
		sorter->run_room = room;
	}
	sort(sorter);
	if (err == ERR_OK)
		err = write_entries(sorter);
	run.end = sorter->written;
	forget(sorter);
	if (err == ERR_OK)
		sorter->runs[sorter->run_count++] = run;
	return err;
}

/* --- adding --------------------------------------------------------------- */

enum err
sorter_new(struct sorter **out, const char *dir, struct sorter_budget *budget)
{
	struct sorter *sorter = calloc(1, sizeof(*sorter));

	assert(dir != NULL && budget != NULL);
	*out = sorter;
	if (sorter == NULL)
		return ERR_NO_MEMORY;
	sorter->fd = -1;
	sorter->budget = budget;
	return fs_path(sorter->dir, "%s", dir);
}

void
sorter_free(struct sorter *sorter)
{
	if (sorter == NULL)
		return;
	forget(sorter);
	if (sorter->map != NULL)
		munmap((void *)(uintptr_t)sorter->map, sorter->written);
	if (sorter->fd >= 0)
		close(sorter->fd);
	free(sorter->chunks);
	free(sorter->runs);
	free(sorter->heads);
	free(sorter);
}

static bool
is_over(const struct sorter *sorter)
{
	return atomic_load(&sorter->budget->used) > sorter->budget->limit &&
	    sorter->used >= sorter->budget->limit / SHARE_MIN;
}

/* Whether all keys are of one length, and have come in order. */
static void
note_key(struct sorter *sorter, struct span key, uint64_t prefix)
{
	const struct entry *last;

	if (sorter->total == 0)
		sorter->key_len = key.len;
	sorter->key_varies |= key.len != sorter->key_len;
	if (sorter->count == 0 || sorter->unsorted)
		return;
	last = &sorter->entries[sorter->count - 1];
	sorter->unsorted = prefix < last->prefix ||
	    (prefix == last->prefix && !prefix_decides(sorter) &&
		span_cmp(key_at(sorter, last->at), key) > 0);
}

static void
put_record(char *to, struct span key, struct span value)
{
	uint16_t key_len = (uint16_t)key.len;
	uint32_t value_len = (uint32_t)value.len;

	memcpy(to, &key_len, sizeof(key_len));
	memcpy(to + sizeof(key_len), &value_len, sizeof(value_len));
	memcpy(to + HEAD, key.ptr, key.len);
	if (value.len > 0)
		memcpy(to + HEAD + key.len, value.ptr, value.len);
}

enum err
sorter_add(struct sorter *sorter, struct span key, struct span value)
{
	struct entry entry = {.prefix = prefix_of(key)};
	size_t bytes = HEAD + key.len + value.len;
	struct chunk *chunk;
	enum err err = ERR_OK;

	assert(!sorter->sealed && key.len <= SORTER_KEY_MAX);
	assert(value.len <= UINT32_MAX - HEAD - SORTER_KEY_MAX);
	if (is_over(sorter))
		err = write_run(sorter);
	chunk = sorter->chunk_count == 0
	    ? NULL
	    : &sorter->chunks[sorter->chunk_count - 1];
	if (err == ERR_OK &&
	    (chunk == NULL || chunk->room - chunk->used < bytes))
		err = add_chunk(sorter, bytes);
	if (err != ERR_OK)
		return err;
	chunk = &sorter->chunks[sorter->chunk_count - 1];
	entry.at = (uint64_t)(sorter->chunk_count - 1) << 32 | chunk->used;
	note_key(sorter, key, entry.prefix);
	put_record(chunk->bytes + chunk->used, key, value);
	err = add_entry(sorter, entry);
	if (err != ERR_OK)
		return err;
	chunk->used += bytes;
	sorter->total++;
	return ERR_OK;
}

/* --- reading -------------------------------------------------------------- */

static int
compare_heads(const struct head *a, const struct head *b)
{
	int order = 0;

	if (a->prefix != b->prefix)
		return a->prefix < b->prefix ? -1 : 1;
	order = span_cmp(a->key, b->key);
	if (order == 0)
		order = a->run < b->run ? -1 : 1;
	return order;
}

static void
sift_down(struct sorter *sorter, size_t at)
{
	struct head *heads = sorter->heads;

	for (;;) {
		size_t least = at, child = 2 * at + 1;
		struct head swap;

		for (size_t i = child; i < child + 2 && i < sorter->head_count;
		     i++)
			if (compare_heads(&heads[i], &heads[least]) < 0)
				least = i;
		if (least == at)
			return;
		swap = heads[at];
		heads[at] = heads[least];
		heads[least] = swap;
		at = least;
	}
}

/* The head's record becomes the one at its place. */
static void
look(struct head *head)
{
	struct span value;

	record_read(&head->key, &value, head->at);
	head->prefix = prefix_of(head->key);
}

void
sorter_rewind(struct sorter *sorter)
{
	assert(sorter->sealed);
	sorter->next = 0;
	sorter->head_count = sorter->run_count;
	for (size_t i = 0; i < sorter->run_count; i++) {
		sorter->heads[i] =
		    (struct head){.at = sorter->map + sorter->runs[i].at,
			.end = sorter->map + sorter->runs[i].end,
			.run = (uint32_t)i};
		look(&sorter->heads[i]);
	}
	for (size_t i = sorter->head_count / 2; i-- > 0;)
		sift_down(sorter, i);
}

static enum err
map_runs(struct sorter *sorter)
{
	sorter->heads = calloc(sorter->run_count, sizeof(*sorter->heads));
	if (sorter->heads == NULL)
		return ERR_NO_MEMORY;
	sorter->map =
	    mmap(NULL, sorter->written, PROT_READ, MAP_SHARED, sorter->fd, 0);
	if (sorter->map == MAP_FAILED) {
		sorter->map = NULL;
		return failed(sorter, err_from_errno(errno));
	}
	madvise(
	    (void *)(uintptr_t)sorter->map, sorter->written, MADV_SEQUENTIAL);
	return ERR_OK;
}

enum err
sorter_seal(struct sorter *sorter)
{
	enum err err = ERR_OK;

	assert(!sorter->sealed);
	if (sorter->run_count > 0 && sorter->count > 0)
		err = write_run(sorter);
	else
		sort(sorter);
	if (err == ERR_OK && sorter->run_count > 0)
		err = map_runs(sorter);
	if (err != ERR_OK)
		return err;
	sorter->sealed = true;
	sorter_rewind(sorter);
	return ERR_OK;
}

static bool
next_of_runs(struct sorter *sorter, struct span *key, struct span *value)
{
	struct head *head = sorter->heads;

	if (sorter->head_count == 0)
		return false;
	head->at += record_read(key, value, head->at);
	if (head->at < head->end)
		look(head);
	else
		*head = sorter->heads[--sorter->head_count];
	sift_down(sorter, 0);
	return true;
}

bool
sorter_next(struct sorter *sorter, struct span *key, struct span *value)
{
	assert(sorter->sealed);
	if (sorter->run_count > 0)
		return next_of_runs(sorter, key, value);
	if (sorter->next == sorter->count)
		return false;
	record_read(
	    key, value, record_of(sorter, sorter->entries[sorter->next++].at));
	return true;
}

uint64_t
sorter_count(const struct sorter *sorter)
{
	return sorter->total;
}
