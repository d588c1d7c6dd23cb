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
#define MARK_BYTES ((uint64_t)256 << 10) /* between two marks of a run */

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

/* A place in a run, so that a reader may begin near a key. */
struct mark {
	uint64_t prefix; /* of the record there */
	uint64_t at; /* in the file */
};

struct run {
	uint64_t at, end; /* in the file */
	size_t first_mark, marks;
};

/* A run being read. */
struct head {
	const char *at, *end;
	struct span key;
	uint64_t prefix;
	uint32_t run;
};

struct sorter_walk {
	const struct sorter *sorter;
	struct head *heads; /* a heap */
	size_t head_count;
	size_t next; /* entry, without runs */
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
	struct mark *marks; /* of all runs */
	size_t mark_count, mark_room;
	const char *map;
	struct sorter_walk walk; /* for sorter_next() */
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
	if (err != ERR_OK)
		return failed(sorter, err);
	sorter->written += out->len;
	buf_clear(out);
	return ERR_OK;
}

static enum err
add_mark(struct sorter *sorter, uint64_t prefix, uint64_t at)
{
	if (sorter->mark_count == sorter->mark_room) {
		size_t room = sorter->mark_room * 2 + 64;
		struct mark *marks =
		    reallocarray(sorter->marks, room, sizeof(*marks));

		if (marks == NULL)
			return ERR_NO_MEMORY;
		sorter->marks = marks;
		sorter->mark_room = room;
	}
	sorter->marks[sorter->mark_count++] = (struct mark){prefix, at};
	return ERR_OK;
}

static enum err
write_entries(struct sorter *sorter)
{
	uint64_t marked = sorter->written;
	struct span key, value;
	struct buf out;
	enum err err = ERR_OK;

	buf_init(&out, (size_t)1 << 33);
	for (size_t i = 0; i < sorter->count && err == ERR_OK; i++) {
		const struct entry *entry = &sorter->entries[i];
		const char *at = record_of(sorter, entry->at);
		uint64_t place = sorter->written + out.len;

		if (place - marked >= MARK_BYTES) {
			err = add_mark(sorter, entry->prefix, place);
			marked = place;
		}
		buf_add(&out, at, record_read(&key, &value, at));
		if (err == ERR_OK && out.len >= WRITE_BYTES)
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
	struct run run = {
	    .at = sorter->written, .first_mark = sorter->mark_count};
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
	run.marks = sorter->mark_count - run.first_mark;
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
	free(sorter->marks);
	free(sorter->walk.heads);
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
sift_down(struct sorter_walk *walk, size_t at)
{
	struct head *heads = walk->heads;

	for (;;) {
		size_t least = at, child = 2 * at + 1;
		struct head swap;

		for (size_t i = child; i < child + 2 && i < walk->head_count;
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

/* The last place of a run with nothing but lower keys before it. */
static uint64_t
place_near(const struct sorter *sorter, const struct run *run, uint64_t prefix)
{
	const size_t first = run->first_mark;
	size_t low = first, high = first + run->marks;

	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (sorter->marks[middle].prefix < prefix)
			low = middle + 1;
		else
			high = middle;
	}
	return low == first ? run->at : sorter->marks[low - 1].at;
}

/* False: all keys of the run are below `from`. */
static bool
find_head(struct head *head, const struct sorter *sorter, uint32_t run,
    struct span from)
{
	struct span key, value;

	head->at = sorter->map +
	    place_near(sorter, &sorter->runs[run], prefix_of(from));
	head->end = sorter->map + sorter->runs[run].end;
	head->run = run;
	while (head->at < head->end) {
		size_t bytes = record_read(&key, &value, head->at);

		if (span_cmp(key, from) >= 0) {
			look(head);
			return true;
		}
		head->at += bytes;
	}
	return false;
}

/* The first entry in memory whose key is not below `from`. */
static size_t
find_entry(const struct sorter *sorter, struct span from)
{
	size_t low = 0, high = sorter->count;

	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (span_cmp(key_at(sorter, sorter->entries[middle].at), from) <
		    0)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

static void
begin_at(struct sorter_walk *walk, struct span from)
{
	const struct sorter *sorter = walk->sorter;

	walk->next = find_entry(sorter, from);
	walk->head_count = 0;
	for (size_t i = 0; i < sorter->run_count; i++)
		walk->head_count += find_head(
		    &walk->heads[walk->head_count], sorter, (uint32_t)i, from);
	for (size_t i = walk->head_count / 2; i-- > 0;)
		sift_down(walk, i);
}

/* The walk is zeros yet. */
static enum err
walk_init(struct sorter_walk *walk, const struct sorter *sorter)
{
	walk->sorter = sorter;
	walk->heads = calloc(sorter->run_count + 1, sizeof(*walk->heads));
	return walk->heads == NULL ? ERR_NO_MEMORY : ERR_OK;
}

void
sorter_rewind(struct sorter *sorter)
{
	assert(sorter->sealed);
	begin_at(&sorter->walk, SPAN(""));
}

static enum err
map_runs(struct sorter *sorter)
{
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
	if (err == ERR_OK)
		err = walk_init(&sorter->walk, sorter);
	if (err != ERR_OK)
		return err;
	sorter->sealed = true;
	sorter_rewind(sorter);
	return ERR_OK;
}

static bool
next_of_runs(struct sorter_walk *walk, struct span *key, struct span *value)
{
	struct head *head = walk->heads;

	if (walk->head_count == 0)
		return false;
	head->at += record_read(key, value, head->at);
	if (head->at < head->end)
		look(head);
	else
		*head = walk->heads[--walk->head_count];
	sift_down(walk, 0);
	return true;
}

bool
sorter_walk_next(struct sorter_walk *walk, struct span *key, struct span *value)
{
	const struct sorter *sorter = walk->sorter;

	if (sorter->run_count > 0)
		return next_of_runs(walk, key, value);
	if (walk->next == sorter->count)
		return false;
	record_read(
	    key, value, record_of(sorter, sorter->entries[walk->next++].at));
	return true;
}

bool
sorter_next(struct sorter *sorter, struct span *key, struct span *value)
{
	assert(sorter->sealed);
	return sorter_walk_next(&sorter->walk, key, value);
}

enum err
sorter_walk_begin(
    struct sorter_walk **out, const struct sorter *sorter, struct span from)
{
	struct sorter_walk *walk = calloc(1, sizeof(*walk));
	enum err err;

	assert(sorter->sealed);
	*out = walk;
	if (walk == NULL)
		return ERR_NO_MEMORY;
	err = walk_init(walk, sorter);
	if (err == ERR_OK)
		begin_at(walk, from);
	return err;
}

void
sorter_walk_end(struct sorter_walk *walk)
{
	if (walk == NULL)
		return;
	free(walk->heads);
	free(walk);
}

uint64_t
sorter_count(const struct sorter *sorter)
{
	return sorter->total;
}
