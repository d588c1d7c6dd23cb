#include "lmdb-schema/facts/spool.h"

#include <assert.h>
#include <endian.h>
#include <stdlib.h>

#include "lmdb-schema/key.h"
#include "lmdb-schema/sorter.h"

/* A series is as long as its article has records: as long as a block may be. */
#define PART_MAX ((size_t)256 << 20)

struct spool {
	enum series_kind kind;
	uint64_t records;
	struct sorter *sorter;
	struct buf pending; /* the current series */
	struct series_writer writer;
	uint32_t article; /* of the current series */
	bool open, sealed;
};

struct spool_reader {
	struct sorter_walk *walk;
	bool left; /* the walk has a further record: */
	uint32_t next; /* of this article */
	struct span series;
	uint32_t asked;
	struct span *parts; /* of the article that was asked for */
	unsigned count, room;
};

enum err
spool_new(struct spool **out, enum series_kind kind, const char *dir,
    struct sorter_budget *budget)
{
	struct spool *spool = calloc(1, sizeof(*spool));

	assert(kind < SERIES_KINDS);
	*out = spool;
	if (spool == NULL)
		return ERR_NO_MEMORY;
	spool->kind = kind;
	buf_init(&spool->pending, PART_MAX);
	return sorter_new(&spool->sorter, dir, budget);
}

void
spool_free(struct spool *spool)
{
	if (spool == NULL)
		return;
	sorter_free(spool->sorter);
	buf_fini(&spool->pending);
	series_fini(&spool->writer);
	free(spool);
}

/* Ends the current series, if there is one. */
static enum err
close_part(struct spool *spool)
{
	uint32_t article = htobe32(spool->article);
	enum err err;

	if (!spool->open)
		return ERR_OK;
	series_end(&spool->writer);
	spool->open = false;
	err = buf_end(&spool->pending);
	if (err == ERR_OK)
		err = sorter_add(spool->sorter,
		    span_make(&article, sizeof(article)),
		    buf_span(&spool->pending));
	buf_clear(&spool->pending);
	return err;
}

static enum err
open_part(struct spool *spool, uint32_t article)
{
	enum err err = close_part(spool);

	if (err != ERR_OK)
		return err;
	spool->article = article;
	spool->open = true;
	series_begin(&spool->writer, spool->kind, &spool->pending);
	return ERR_OK;
}

enum err
spool_put(
    struct spool *spool, uint32_t article, const struct series_record *record)
{
	enum err err = ERR_OK;

	assert(!spool->sealed);
	spool->records++;
	if (!spool->open || spool->article != article)
		err = open_part(spool, article);
	if (err == ERR_OK && !series_put(&spool->writer, record)) {
		err = open_part(spool, article);
		if (err == ERR_OK)
			series_put(&spool->writer, record);
	}
	return err;
}

uint64_t
spool_records(const struct spool *spool)
{
	return spool->records;
}

enum err
spool_seal(struct spool *spool)
{
	enum err err = close_part(spool);

	assert(!spool->sealed);
	if (err == ERR_OK)
		err = sorter_seal(spool->sorter);
	spool->sealed = err == ERR_OK;
	return err;
}

/* --- reading -------------------------------------------------------------- */

static void
step(struct spool_reader *reader)
{
	struct span key;

	reader->left = sorter_walk_next(reader->walk, &key, &reader->series);
	if (reader->left)
		reader->next = key_read_u32(key);
}

enum err
spool_read_begin(
    struct spool_reader **out, const struct spool *spool, uint32_t first)
{
	struct spool_reader *reader = calloc(1, sizeof(*reader));
	uint32_t from = htobe32(first);
	enum err err;

	assert(spool->sealed);
	*out = reader;
	if (reader == NULL)
		return ERR_NO_MEMORY;
	reader->asked = first;
	err = sorter_walk_begin(&reader->walk, spool->sorter,
	    span_make((const char *)&from, sizeof(from)));
	if (err == ERR_OK)
		step(reader);
	return err;
}

static enum err
add_part(struct spool_reader *reader)
{
	if (reader->count == reader->room) {
		unsigned room = reader->room * 2 + 16;
		struct span *parts =
		    reallocarray(reader->parts, room, sizeof(*parts));

		if (parts == NULL)
			return ERR_NO_MEMORY;
		reader->parts = parts;
		reader->room = room;
	}
	reader->parts[reader->count++] = reader->series;
	return ERR_OK;
}

enum err
spool_read(struct spool_reader *reader, uint32_t article,
    const struct span **parts, unsigned *count)
{
	enum err err = ERR_OK;

	assert(article >= reader->asked);
	if (article != reader->asked)
		reader->count = 0;
	reader->asked = article;
	while (reader->left && reader->next < article)
		step(reader);
	while (reader->left && reader->next == article && err == ERR_OK) {
		err = add_part(reader);
		step(reader);
	}
	*parts = reader->parts;
	*count = reader->count;
	return err;
}

void
spool_read_end(struct spool_reader *reader)
{
	if (reader == NULL)
		return;
	sorter_walk_end(reader->walk);
	free(reader->parts);
	free(reader);
}
