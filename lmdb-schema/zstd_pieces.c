/*
 * libzstd makes whole frames. To turn a frame into a piece, its head is left
 * out and the "last block" bit of its last block is cleared. Two kinds of state
 * pass from one block to the next: tables, which the first block of a frame
 * never inherits, and the last three offsets, which are 1, 4 and 8 at the
 * beginning of a frame. A piece that uses one of these offsets would be wrong
 * after another piece. Therefore each piece is unpacked after a prefix of NULs
 * whose last offsets point into the NULs from anywhere in the piece. Our texts
 * contain no NUL, so the comparison fails for a piece that uses them. Such a
 * piece is packed again with more and more of its first bytes stored.
 */
#include "lmdb-schema/zstd_pieces.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>
#include <zstd.h>

#define BLOCK_HEAD 3
enum block { STORED, REPEATED, PACKED };

/* The bytes after the head of a packed block with sequences and no literals. */
#define SEQUENCES 3
#define ALL_TABLES_REPEATED 0x54
#define TRAP_HEAD 6
#define TRAP_MOST (TRAP_HEAD + 9) /* bytes of such a block */
#define TRAP_TEXT (SEQUENCES * 3) /* what it unpacks to */

struct zstd_pieces {
	ZSTD_CCtx *packer;
	ZSTD_DCtx *unpacker;
	unsigned piece_log;
	struct buf frame; /* the prefix, followed by the piece */
	size_t start; /* bytes of the prefix */
	char *unpacked;
	size_t nuls, room;
};

static void
block_head(unsigned char head[BLOCK_HEAD], enum block block, size_t len)
{
	uint32_t word = (uint32_t)len << 3 | (uint32_t)block << 1;

	for (unsigned i = 0; i < BLOCK_HEAD; i++)
		head[i] = (unsigned char)(word >> 8 * i);
}

void
zstd_stored(unsigned char head[ZSTD_STORED_LEN], size_t len)
{
	assert(len <= ZSTD_STORED_MAX);
	block_head(head, STORED, len);
}

/*
 * Three matches of three bytes, each with its own offset between the greatest
 * length of a piece and twice that. The bits are read from the end: `code` of
 * them for each, after a 1.
 */
static void
add_trap(struct buf *frame, unsigned code)
{
	unsigned char head[BLOCK_HEAD];
	unsigned char block[TRAP_MOST] = {
	    0, SEQUENCES, ALL_TABLES_REPEATED, 0, (unsigned char)code, 0};
	unsigned char *bits = block + TRAP_HEAD;
	size_t end = (size_t)SEQUENCES * code;

	for (unsigned i = 0; i < SEQUENCES; i++) {
		/* Of the extra bits only some low ones are set. */
		size_t at = (size_t)i * code;
		uint32_t extra = 0x11u + 0x20u * i;

		for (unsigned bit = 0; bit < code; bit++)
			if (extra >> bit & 1)
				bits[(at + bit) / 8] |=
				    (unsigned char)(1u << (at + bit) % 8);
	}
	bits[end / 8] |= (unsigned char)(1u << end % 8);
	block_head(head, PACKED, TRAP_HEAD + end / 8 + 1);
	buf_add(frame, head, sizeof(head));
	buf_add(frame, block, TRAP_HEAD + end / 8 + 1);
}

static void
add_beginning(struct zstd_pieces *pieces)
{
	unsigned char head[BLOCK_HEAD];

	buf_add(&pieces->frame, ZSTD_PIECES_HEAD, ZSTD_PIECES_HEAD_LEN);
	block_head(head, REPEATED, ZSTD_STORED_MAX);
	for (size_t at = 0; at < pieces->nuls; at += ZSTD_STORED_MAX) {
		buf_add(&pieces->frame, head, sizeof(head));
		buf_add_char(&pieces->frame, '\0');
	}
	add_trap(&pieces->frame, pieces->piece_log);
	pieces->start = pieces->frame.len;
}

static bool
is_good(size_t code)
{
	return !ZSTD_isError(code);
}

static bool
set_up(struct zstd_pieces *pieces, int level)
{
	ZSTD_CCtx *packer = pieces->packer;

	return packer != NULL && pieces->unpacker != NULL &&
	    pieces->unpacked != NULL && buf_end(&pieces->frame) == ERR_OK &&
	    is_good(ZSTD_CCtx_setParameter(
		packer, ZSTD_c_compressionLevel, level)) &&
	    is_good(
		ZSTD_CCtx_setParameter(packer, ZSTD_c_contentSizeFlag, 0)) &&
	    is_good(ZSTD_CCtx_setParameter(packer, ZSTD_c_checksumFlag, 0));
}

struct zstd_pieces *
zstd_pieces_new(int level, unsigned piece_log)
{
	struct zstd_pieces *pieces = calloc(1, sizeof(*pieces));

	assert(level >= 1 && level <= ZSTD_LEVEL_MAX);
	assert(piece_log >= 17 && piece_log <= 22);
	if (pieces == NULL)
		return NULL;
	pieces->piece_log = piece_log;
	pieces->nuls = (size_t)2 << piece_log;
	pieces->room = pieces->nuls + TRAP_TEXT + ((size_t)1 << piece_log) + 1;
	buf_init(&pieces->frame, (size_t)64 << 20);
	add_beginning(pieces);
	pieces->packer = ZSTD_createCCtx();
	pieces->unpacker = ZSTD_createDCtx();
	pieces->unpacked = malloc(pieces->room);
	if (set_up(pieces, level))
		return pieces;
	zstd_pieces_free(pieces);
	return NULL;
}

void
zstd_pieces_free(struct zstd_pieces *pieces)
{
	if (pieces == NULL)
		return;
	ZSTD_freeCCtx(pieces->packer);
	ZSTD_freeDCtx(pieces->unpacker);
	buf_fini(&pieces->frame);
	free(pieces->unpacked);
	free(pieces);
}

static void
add_stored(struct buf *frame, struct span text)
{
	unsigned char head[ZSTD_STORED_LEN];

	while (text.len > 0) {
		size_t len =
		    text.len < ZSTD_STORED_MAX ? text.len : ZSTD_STORED_MAX;

		zstd_stored(head, len);
		buf_add(frame, head, sizeof(head));
		buf_add(frame, text.ptr, len);
		text = span_from(text, len);
	}
}

/* Clears the bit of the last block; false when the bytes are not blocks. */
static bool
clear_last(unsigned char *blocks, size_t len)
{
	while (len >= BLOCK_HEAD) {
		uint32_t word = blocks[0] | (uint32_t)blocks[1] << 8 |
		    (uint32_t)blocks[2] << 16;
		enum block block = word >> 1 & 3;
		size_t bytes =
		    BLOCK_HEAD + (block == REPEATED ? 1 : (size_t)word >> 3);

		blocks[0] &= 0xfe;
		if ((word & 1) != 0)
			return bytes == len;
		if (bytes > len)
			return false;
		blocks += bytes;
		len -= bytes;
	}
	return false;
}

/* Appends a frame's blocks without its head, which equals our own. */
static enum err
add_packed(struct zstd_pieces *pieces, struct span text)
{
	struct buf *frame = &pieces->frame;
	size_t most = ZSTD_compressBound(text.len), len;
	char *to = buf_room(frame, most);

	if (to == NULL)
		return buf_end(frame);
	len = ZSTD_compress2(pieces->packer, to, most, text.ptr, text.len);
	if (!is_good(len))
		return ERR_NO_MEMORY;
	if (len < ZSTD_PIECES_HEAD_LEN || memcmp(to, ZSTD_PIECES_HEAD, 5) != 0)
		return ERR_INTERNAL;
	len -= ZSTD_PIECES_HEAD_LEN;
	memmove(to, to + ZSTD_PIECES_HEAD_LEN, len);
	if (!clear_last((unsigned char *)to, len))
		return ERR_INTERNAL;
	buf_grown(frame, len);
	return ERR_OK;
}

static bool
unpacks_to(struct zstd_pieces *pieces, struct span text)
{
	size_t before = pieces->nuls + TRAP_TEXT;
	size_t len = ZSTD_decompressDCtx(pieces->unpacker, pieces->unpacked,
	    pieces->room, pieces->frame.data, pieces->frame.len);

	return is_good(len) && len == before + text.len &&
	    memcmp(pieces->unpacked + before, text.ptr, text.len) == 0;
}

/*
 * Makes a piece whose first `stored` bytes are not packed; true if it is sound.
 */
static enum err
try_piece(
    bool *sound, struct zstd_pieces *pieces, struct span text, size_t stored)
{
	enum err err = ERR_OK;

	pieces->frame.len = pieces->start;
	add_stored(&pieces->frame, span_sub(text, 0, stored));
	if (stored < text.len)
		err = add_packed(pieces, span_from(text, stored));
	buf_add(&pieces->frame, ZSTD_PIECES_END, ZSTD_PIECES_END_LEN);
	if (err == ERR_OK)
		err = buf_end(&pieces->frame);
	*sound = err == ERR_OK && unpacks_to(pieces, text);
	return err;
}

static enum err
add_piece(struct zstd_pieces *pieces, struct buf *out, struct span text)
{
	static const size_t store[] = {0, 64, 1024, 16384, SIZE_MAX};
	bool sound = false;
	enum err err = ERR_OK;

	for (unsigned i = 0; i < 5 && err == ERR_OK && !sound; i++)
		err = try_piece(&sound, pieces, text,
		    store[i] < text.len ? store[i] : text.len);
	if (err != ERR_OK)
		return err;
	if (!sound)
		return ERR_INTERNAL;
	buf_add(out, pieces->frame.data + pieces->start,
	    pieces->frame.len - pieces->start - ZSTD_PIECES_END_LEN);
	return buf_end(out);
}

enum err
zstd_pieces_add(struct zstd_pieces *pieces, struct buf *out, struct span text)
{
	size_t most = (size_t)1 << pieces->piece_log;
	enum err err = ERR_OK;

	assert(text.len > 0);
	while (text.len > 0 && err == ERR_OK) {
		struct span part = span_sub(text, 0, most);

		err = add_piece(pieces, out, part);
		text = span_from(text, part.len);
	}
	return err;
}
