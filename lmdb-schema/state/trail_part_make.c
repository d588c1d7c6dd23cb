#include <assert.h>
#include <endian.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "common/buf.h"
#include "common/date.h"
#include "common/fs.h"
#include "lmdb-schema/codemap.h"
#include "lmdb-schema/deflate.h"
#include "lmdb-schema/pack.h"
#include "lmdb-schema/sorter.h"
#include "lmdb-schema/state/trail_part_priv.h"
#include "lmdb-schema/store/sealed.h"
#include "lmdb-schema/zstd.h"

#define BUF_MAX ((size_t)1 << 32)
#define PUT_BYTES ((size_t)1 << 20)

/* Entries in memory that are sorted; the others are in a file without a name. */
#define SORT_MEMORY ((size_t)64 << 20)

/* A name that a group of blocks has. */
struct use {
	uint32_t name, group;
};

/* Big-endian: in the order of the bytes. */
struct sort_key {
	uint64_t key;
	uint32_t place;
} __attribute__((packed));

struct trail_making {
	char path[FS_PATH_MAX];
	int fd;
	struct trail_part_head head;
	uint64_t at; /* where the next bytes go, those in `packed` first */
	uint32_t count; /* entries */
	struct trail_part_block block;
	struct zstd *zstd; /* keeps its memory for the next frame */
	struct buf plain, packed;
	struct buf blocks; /* struct trail_part_block of each */
	struct sorter_budget budget;
	struct sorter *articles; /* values by struct sort_key */
	struct buf runs; /* struct trail_part_run of each */
	struct codemap *names; /* with their kinds */
	struct buf last_uses; /* by name: u32 last group that has it, + 1 */
	struct buf uses; /* struct use */
};

uint64_t
trail_part_hash(struct span code)
{
	uint64_t hash = UINT64_C(0xcbf29ce484222325);

	for (size_t i = 0; i < code.len; i++)
		hash = (hash ^ (unsigned char)code.ptr[i]) *
		    UINT64_C(0x100000001b3);
	/* The upper bits of FNV alone depend too little on the last bytes. */
	hash = (hash ^ hash >> 32) * UINT64_C(0xd6e8feb86659fd93);
	hash = (hash ^ hash >> 32) * UINT64_C(0xd6e8feb86659fd93);
	hash ^= hash >> 32;
	return hash == UINT64_MAX ? 0 : hash;
}

/* The sorter makes its file beside the part. */
static enum err
new_sorter(struct trail_making *making)
{
	char folder[FS_PATH_MAX];
	const char *end = strrchr(making->path, '/');
	enum err err = end == NULL
	    ? fs_path(folder, ".")
	    : fs_path(folder, "%.*s", (int)(end - making->path), making->path);

	return err == ERR_OK
	    ? sorter_new(&making->articles, folder, &making->budget)
	    : err;
}

enum err
trail_making_begin(struct trail_making **out, const char *path, uint64_t first)
{
	struct trail_making *making = calloc(1, sizeof(*making));
	enum err err;

	assert(first > 0);
	*out = making;
	if (making == NULL)
		return ERR_NO_MEMORY;
	making->fd = -1;
	making->head = (struct trail_part_head){
	    .version = TRAIL_PART_VERSION, .first = first};
	memcpy(making->head.magic, TRAIL_PART_MAGIC, 8);
	making->at = (sizeof(making->head) + TRAIL_PART_ALIGN - 1) /
	    TRAIL_PART_ALIGN * TRAIL_PART_ALIGN;
	making->head.section[TRAIL_PART_ENTRIES].at = making->at;
	buf_init(&making->plain, BUF_MAX);
	buf_init(&making->packed, BUF_MAX);
	buf_init(&making->blocks, BUF_MAX);
	buf_init(&making->runs, BUF_MAX);
	buf_init(&making->last_uses, BUF_MAX);
	buf_init(&making->uses, BUF_MAX);
	making->names = codemap_new();
	making->zstd = zstd_new();
	if (making->names == NULL || making->zstd == NULL)
		return ERR_NO_MEMORY;
	making->budget.limit = SORT_MEMORY;
	err = fs_path(making->path, "%s", path);
	if (err == ERR_OK)
		err = new_sorter(making);
	return err == ERR_OK ? sealed_create(&making->fd, path) : err;
}

/* --- entries -------------------------------------------------------------- */

static enum err
put_packed(struct trail_making *making)
{
	enum err err = buf_end(&making->packed);

	if (err == ERR_OK)
		err = sealed_put(making->fd, making->packed.data,
		    making->packed.len, making->at);
	making->at += making->packed.len;
	buf_clear(&making->packed);
	return err;
}

static enum err
end_block(struct trail_making *making)
{
	struct trail_part_block *block = &making->block;
	size_t before = making->packed.len;

	block->at =
	    making->at + before - making->head.section[TRAIL_PART_ENTRIES].at;
	block->plain = (uint32_t)making->plain.len;
	zstd_pack(making->zstd, &making->packed, buf_span(&making->plain));
	block->packed = (uint32_t)(making->packed.len - before);
	buf_add(&making->blocks, block, sizeof(*block));
	buf_clear(&making->plain);
	making->head.blocks++;
	return making->packed.len >= PUT_BYTES ? put_packed(making)
					       : buf_end(&making->packed);
}

static enum err
note_name(struct trail_making *making, char kind, struct span name)
{
	char text[TRAIL_PART_NAME_MAX];
	uint32_t group = making->head.blocks / TRAIL_PART_GROUP;
	uint32_t number, *last;
	const uint32_t none = 0;
	enum err err;

	if (name.len == 0 || name.len >= sizeof(text))
		return ERR_OK;
	text[0] = kind;
	memcpy(text + 1, name.ptr, name.len);
	err =
	    codemap_add(making->names, span_make(text, name.len + 1), &number);
	if (err == ERR_OK)
		buf_add(&making->last_uses, &none, sizeof(none));
	else if (err != ERR_EXISTS)
		return err;
	err = buf_end(&making->last_uses);
	if (err != ERR_OK)
		return err;
	last = (uint32_t *)(void *)making->last_uses.data + number;
	if (*last == group + 1)
		return ERR_OK;
	*last = group + 1;
	buf_add(
	    &making->uses, &(struct use){number, group}, sizeof(struct use));
	return buf_end(&making->uses);
}

static void
note_time(int64_t *oldest_ms, int64_t *newest_ms, int64_t when_ms, bool first)
{
	if (first || when_ms < *oldest_ms)
		*oldest_ms = when_ms;
	if (first || when_ms > *newest_ms)
		*newest_ms = when_ms;
}

static enum err
note_entry(struct trail_making *making, const struct audit_entry *entry)
{
	struct trail_part_head *head = &making->head;
	struct trail_part_block *block = &making->block;
	enum err err;

	if (making->count == 0)
		head->month = (uint32_t)date_month_of_day(
		    date_day_from_ms(entry->when_ms));
	note_time(&head->oldest_ms, &head->newest_ms, entry->when_ms,
	    making->count == 0);
	if (making->plain.len == 0)
		*block = (struct trail_part_block){.place = making->count};
	note_time(&block->oldest_ms, &block->newest_ms, entry->when_ms,
	    making->plain.len == 0);
	err = note_name(making, TRAIL_PART_SUPPLIER, entry->supplier);
	if (err == ERR_OK)
		err = note_name(making, TRAIL_PART_AUTHOR, entry->actor);
	if (err == ERR_OK)
		err = note_name(making, TRAIL_PART_AUTHOR, entry->author);
	return err;
}

static enum err
note_article(struct trail_making *making, struct span value,
    const struct audit_entry *entry)
{
	struct sort_key key;

	if (!trail_part_is_about(entry))
		return ERR_OK;
	key.key = htobe64(trail_part_key(entry->supplier, entry->codein));
	key.place = htobe32(making->count);
	return sorter_add(
	    making->articles, span_make(&key, sizeof(key)), value);
}

enum err
trail_making_add(struct trail_making *making, struct span value,
    const struct audit_entry *entry)
{
	enum err err = note_entry(making, entry);

	assert(making->count < TRAIL_PART_ENTRIES_MAX);
	if (err == ERR_OK)
		err = note_article(making, value, entry);
	if (err != ERR_OK)
		return err;
	pack_add_text(&making->plain, value);
	making->count++;
	err = buf_end(&making->plain);
	if (err == ERR_OK && making->plain.len >= TRAIL_PART_BLOCK)
		err = end_block(making);
	return err;
}

/* --- the other sections --------------------------------------------------- */

static enum err
put_section(struct trail_making *making, unsigned section, const void *bytes,
    uint64_t len)
{
	making->at = (making->at + TRAIL_PART_ALIGN - 1) / TRAIL_PART_ALIGN *
	    TRAIL_PART_ALIGN;
	making->head.section[section].at = making->at;
	making->head.section[section].bytes = len;
	making->at += len;
	return sealed_put(
	    making->fd, bytes, len, making->head.section[section].at);
}

static enum err
end_run(struct trail_making *making, struct trail_part_run *run)
{
	size_t before = making->packed.len;

	run->at =
	    making->at + before - making->head.section[TRAIL_PART_ARTICLES].at;
	run->plain = (uint32_t)making->plain.len;
	zstd_pack(making->zstd, &making->packed, buf_span(&making->plain));
	run->packed = (uint32_t)(making->packed.len - before);
	run->frame_crc =
	    deflate_crc(0, making->packed.data + before, run->packed);
	run->crc = trail_part_run_crc(run, making->head.runs);
	buf_add(&making->runs, run, sizeof(*run));
	buf_clear(&making->plain);
	making->head.runs++;
	return making->packed.len >= PUT_BYTES ? put_packed(making)
					       : buf_end(&making->packed);
}

static enum err
put_runs(struct trail_making *making)
{
	struct trail_part_run run = {.first = 0};
	struct span sorted, value;
	enum err err = ERR_OK;

	while (
	    err == ERR_OK && sorter_next(making->articles, &sorted, &value)) {
		struct sort_key key;

		memcpy(&key, sorted.ptr, sizeof(key));
		run.last = be64toh(key.key);
		if (making->plain.len == 0)
			run.first = run.last;
		pack_add_unsigned(&making->plain, be32toh(key.place));
		pack_add_text(&making->plain, value);
		err = buf_end(&making->plain);
		if (err == ERR_OK && making->plain.len >= TRAIL_PART_RUN)
			err = end_run(making, &run);
	}
	if (err == ERR_OK && making->plain.len > 0)
		err = end_run(making, &run);
	return err;
}

/* The runs, and their rows behind them, where the alignment of u64 allows. */
static enum err
put_articles(struct trail_making *making)
{
	enum err err = sorter_seal(making->articles);

	making->at = (making->at + TRAIL_PART_ALIGN - 1) / TRAIL_PART_ALIGN *
	    TRAIL_PART_ALIGN;
	making->head.section[TRAIL_PART_ARTICLES].at = making->at;
	if (err == ERR_OK)
		err = put_runs(making);
	while ((making->at + making->packed.len) % sizeof(uint64_t) != 0)
		buf_add_char(&making->packed, '\0');
	buf_add_span(&making->packed, buf_span(&making->runs));
	if (err == ERR_OK)
		err = put_packed(making);
	making->head.section[TRAIL_PART_ARTICLES].bytes =
	    making->at - making->head.section[TRAIL_PART_ARTICLES].at;
	return err;
}

static enum err
put_names(struct trail_making *making)
{
	uint32_t names = codemap_count(making->names);
	uint64_t words = trail_part_words(&making->head);
	uint64_t maps = (uint64_t)names * sizeof(struct trail_part_name);
	uint64_t texts = maps + names * words * sizeof(uint64_t), bytes = texts;
	const struct use *uses = (const void *)making->uses.data;
	char *section;
	enum err err;

	making->head.names = names;
	for (uint32_t i = 0; i < names; i++)
		bytes += codemap_code(making->names, i).len;
	section = calloc(1, bytes + 1);
	if (section == NULL)
		return ERR_NO_MEMORY;
	for (uint32_t i = 0; i < names; i++) {
		struct span text = codemap_code(making->names, i);

		((struct trail_part_name *)(void *)section)[i] =
		    (struct trail_part_name){
			(uint32_t)texts, (uint32_t)text.len};
		memcpy(section + texts, text.ptr, text.len);
		texts += text.len;
	}
	for (size_t i = 0; i < making->uses.len / sizeof(*uses); i++)
		((uint64_t *)(void *)(section +
		    maps))[uses[i].name * words + uses[i].group / 64] |=
		    UINT64_C(1) << uses[i].group % 64;
	err = bytes > UINT32_MAX
	    ? ERR_TOO_LARGE
	    : put_section(making, TRAIL_PART_NAMES, section, bytes);
	free(section);
	return err;
}

static enum err
put_rest(struct trail_making *making)
{
	enum err err = making->plain.len > 0 ? end_block(making) : ERR_OK;

	if (err == ERR_OK)
		err = put_packed(making);
	making->head.section[TRAIL_PART_ENTRIES].bytes =
	    making->at - making->head.section[TRAIL_PART_ENTRIES].at;
	if (err == ERR_OK)
		err = buf_end(&making->blocks);
	if (err == ERR_OK)
		err = put_section(making, TRAIL_PART_BLOCKS,
		    making->blocks.data, making->blocks.len);
	if (err == ERR_OK)
		err = put_articles(making);
	return err == ERR_OK ? put_names(making) : err;
}

/* The head comes last: a file without it was never finished. */
static enum err
finish(struct trail_making *making)
{
	struct trail_part_head *head = &making->head;
	struct buf sums;
	enum err err = put_rest(making);

	buf_init(&sums, BUF_MAX);
	for (unsigned i = 0; i < TRAIL_PART_SUMMED && err == ERR_OK; i++)
		err = blocks_sum_file(&sums, making->fd, head->section[i].at,
		    head->section[i].bytes);
	if (err == ERR_OK)
		err = put_section(making, TRAIL_PART_SUMS, sums.data, sums.len);
	head->last = head->first + making->count - 1;
	head->bytes = making->at;
	if (err == ERR_OK) {
		head->sums_crc = deflate_crc(0, sums.data, sums.len);
		head->crc = sealed_head_crc(span_make(head, sizeof(*head)),
		    offsetof(struct trail_part_head, crc), SPAN(""));
		err = sealed_finish(
		    making->fd, span_make(head, sizeof(*head)), SPAN(""));
	}
	buf_fini(&sums);
	return err;
}

enum err
trail_making_end(struct trail_making *making, enum err err)
{
	if (making == NULL)
		return err;
	if (err == ERR_OK) {
		assert(making->count > 0);
		err = finish(making);
	}
	if (making->fd >= 0) {
		close(making->fd);
		if (err != ERR_OK)
			(void)fs_unlink(making->path);
	}
	buf_fini(&making->plain);
	buf_fini(&making->packed);
	buf_fini(&making->blocks);
	buf_fini(&making->runs);
	sorter_free(making->articles);
	zstd_free(making->zstd);
	buf_fini(&making->last_uses);
	buf_fini(&making->uses);
	codemap_free(making->names);
	free(making);
	return err;
}
