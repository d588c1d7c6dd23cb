/*
 * Writes sections, then the checksums of their blocks, and the head last: without
 * a head the file is not valid.
 */
#include <assert.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "common/buf.h"
#include "common/date.h"
#include "lmdb-schema/search/word_index_priv.h"

#define BUFFER 65536u
#define SUMS_MAX ((size_t)1 << 32)

uint32_t
word_index_head_crc(const struct word_index_head *head, struct span sums)
{
	return sealed_head_crc(span_make((const char *)head, sizeof(*head)),
	    offsetof(struct word_index_head, crc), sums);
}

/* The bytes, and then up to the next section. */
static uint64_t
with_rest(uint64_t bytes)
{
	return (bytes + WORD_INDEX_ALIGN - 1) / WORD_INDEX_ALIGN *
	    WORD_INDEX_ALIGN;
}

/* --- files ------------------------------------------------------------------ */

enum err
word_index_file_begin(struct word_index_file *file, const char *path)
{
	struct word_index_head *head = &file->head;

	memcpy(head->magic, WORD_INDEX_MAGIC, sizeof(head->magic));
	head->version = WORD_INDEX_VERSION;
	file->end = with_rest(sizeof(*head));
	return sealed_create(&file->fd, path);
}

void
word_index_file_end(struct word_index_file *file)
{
	if (file->fd >= 0)
		close(file->fd);
	file->fd = -1;
}

/* Behind all other sections. */
static enum err
put_sums(struct word_index_file *file, struct buf *sums)
{
	enum err err = ERR_OK;

	for (unsigned i = 0; i < WORD_INDEX_SUMMED && err == ERR_OK; i++)
		err = blocks_sum_file(sums, file->fd, file->head.section[i].at,
		    file->head.section[i].bytes);
	return err == ERR_OK
	    ? word_index_put(file, WORD_INDEX_SUMS, sums->data, sums->len)
	    : err;
}

enum err
word_index_file_finish(struct word_index_file *file, bool sync)
{
	struct word_index_head *head = &file->head;
	struct span bytes = span_make((const char *)head, sizeof(*head));
	struct buf sums;
	enum err err;

	assert(head->generation != 0);
	buf_init(&sums, SUMS_MAX);
	err = put_sums(file, &sums);
	head->made_ms = date_now_ms();
	head->bytes = file->end;
	head->crc = word_index_head_crc(head, buf_span(&sums));
	buf_fini(&sums);
	/* The sums have used less than their room. */
	if (err == ERR_OK && ftruncate(file->fd, (off_t)file->end) != 0)
		err = ERR_NO_SPACE;
	if (err != ERR_OK)
		return err;
	return sync ? sealed_finish(file->fd, bytes, SPAN(""))
		    : sealed_put(file->fd, bytes.ptr, bytes.len, 0);
}

/* --- streams ---------------------------------------------------------------- */

enum err
word_index_stream_begin(struct word_index_stream *stream,
    struct word_index_file *file, uint64_t room)
{
	*stream = (struct word_index_stream){
	    .section.at = file->end, .room = room, .fd = file->fd};
	stream->buffer = malloc(BUFFER);
	file->end += with_rest(room);
	return stream->buffer == NULL ? ERR_NO_MEMORY : ERR_OK;
}

enum err
word_index_stream_flush(struct word_index_stream *stream)
{
	struct word_index_section *section = &stream->section;
	enum err err = sealed_put(stream->fd, stream->buffer, stream->len,
	    section->at + section->bytes);

	section->bytes += stream->len;
	stream->len = 0;
	return err;
}

enum err
word_index_stream_put(
    struct word_index_stream *stream, const void *bytes, uint64_t len)
{
	const char *from = bytes;
	enum err err = ERR_OK;

	assert(stream->section.bytes + stream->len + len <= stream->room);
	while (len > 0 && err == ERR_OK) {
		uint64_t part = BUFFER - stream->len;

		if (part > len)
			part = len;
		memcpy(stream->buffer + stream->len, from, part);
		stream->len += (uint32_t)part;
		from += part;
		len -= part;
		if (stream->len == BUFFER)
			err = word_index_stream_flush(stream);
	}
	return err;
}

enum err
word_index_stream_end(struct word_index_stream *stream,
    struct word_index_file *file, unsigned number)
{
	enum err err = word_index_stream_flush(stream);

	file->head.section[number] = stream->section;
	return err;
}

void
word_index_stream_fini(struct word_index_stream *stream)
{
	free(stream->buffer);
	stream->buffer = NULL;
}

enum err
word_index_put(struct word_index_file *file, unsigned number, const void *bytes,
    uint64_t len)
{
	struct word_index_section *section = &file->head.section[number];
	enum err err = sealed_put(file->fd, bytes, len, file->end);

	section->at = file->end;
	section->bytes = len;
	file->end += with_rest(len);
	return err;
}
