#include "lmdb-schema/zstd.h"

#include <pthread.h>
#include <stdlib.h>
#include <zstd.h>
#include <zstd_errors.h>

/* An eighth to a fifth smaller than igzip, in 1.5 times its time. */
#define LEVEL 1
#define ROOM ((size_t)16 << 10) /* at least, in the buffer that it fills */

struct zstd {
	ZSTD_CCtx *context; /* NULL: given back */
};

struct zstd *
zstd_new(void)
{
	return calloc(1, sizeof(struct zstd));
}

void
zstd_free(struct zstd *zstd)
{
	if (zstd == NULL)
		return;
	ZSTD_freeCCtx(zstd->context);
	free(zstd);
}

void
zstd_give_back(struct zstd *zstd, size_t keep)
{
	if (zstd->context == NULL || ZSTD_sizeof_CCtx(zstd->context) <= keep)
		return;
	ZSTD_freeCCtx(zstd->context);
	zstd->context = NULL;
}

static bool
is_good(size_t code)
{
	return !ZSTD_isError(code);
}

enum err
zstd_begin(struct zstd *zstd)
{
	if (zstd->context == NULL)
		zstd->context = ZSTD_createCCtx();
	if (zstd->context == NULL)
		return ERR_NO_MEMORY;
	if (!is_good(ZSTD_CCtx_reset(
		zstd->context, ZSTD_reset_session_and_parameters)) ||
	    !is_good(ZSTD_CCtx_setParameter(
		zstd->context, ZSTD_c_compressionLevel, LEVEL)) ||
	    !is_good(
		ZSTD_CCtx_setParameter(zstd->context, ZSTD_c_checksumFlag, 1)))
		return ERR_INTERNAL;
	return ERR_OK;
}

/* With all that it may become as room, the last part goes out at once. */
static size_t
room_for(size_t len, bool last)
{
	return last ? ZSTD_compressBound(len) + ROOM : len / 2 + ROOM;
}

enum err
zstd_add(struct zstd *zstd, struct buf *out, struct span text, bool last)
{
	ZSTD_EndDirective how = last ? ZSTD_e_end : ZSTD_e_continue;
	ZSTD_inBuffer in = {text.ptr, text.len, 0};
	size_t left;

	do {
		size_t room = room_for(text.len - in.pos, last);
		ZSTD_outBuffer to = {buf_room(out, room), room, 0};

		if (to.dst == NULL)
			return buf_end(out);
		left = ZSTD_compressStream2(zstd->context, &to, &in, how);
		if (!is_good(left))
			return ZSTD_getErrorCode(left) ==
				ZSTD_error_memory_allocation
			    ? ERR_NO_MEMORY
			    : ERR_INTERNAL;
		buf_grown(out, to.pos);
	} while (last ? left > 0 : in.pos < in.size);
	return ERR_OK;
}

static size_t
pack(struct zstd *zstd, void *to, size_t room, struct span text)
{
	if (zstd == NULL)
		return ZSTD_compress(to, room, text.ptr, text.len, LEVEL);
	if (zstd->context == NULL)
		zstd->context = ZSTD_createCCtx();
	if (zstd->context == NULL)
		return (size_t)-ZSTD_error_memory_allocation;
	return ZSTD_compressCCtx(
	    zstd->context, to, room, text.ptr, text.len, LEVEL);
}

void
zstd_pack(struct zstd *zstd, struct buf *out, struct span text)
{
	size_t most = ZSTD_compressBound(text.len), len;
	char *at = buf_room(out, most);

	if (at == NULL)
		return;
	len = pack(zstd, at, most, text);
	if (ZSTD_isError(len))
		buf_fail(out, ERR_NO_MEMORY);
	else
		buf_grown(out, len);
}

/* --- unpacking ------------------------------------------------------------- */

static pthread_key_t unpacker_key; /* holds each thread's ZSTD_DCtx */
static bool has_key;
static pthread_once_t once = PTHREAD_ONCE_INIT;

static void
free_unpacker(void *unpacker)
{
	ZSTD_freeDCtx(unpacker);
}

static void
make_key(void)
{
	has_key = pthread_key_create(&unpacker_key, free_unpacker) == 0;
}

/*
 * The thread's context, made on first use. libzstd asks the processor for its
 * features when it makes one (CPUID), which a virtual machine answers by its host:
 * that takes longer than to unpack a block of the trail.
 */
static ZSTD_DCtx *
own_unpacker(void)
{
	ZSTD_DCtx *unpacker;

	pthread_once(&once, make_key);
	if (!has_key)
		return NULL;
	unpacker = pthread_getspecific(unpacker_key);
	if (unpacker != NULL)
		return unpacker;
	unpacker = ZSTD_createDCtx();
	if (unpacker != NULL &&
	    pthread_setspecific(unpacker_key, unpacker) != 0) {
		ZSTD_freeDCtx(unpacker);
		unpacker = NULL;
	}
	return unpacker;
}

enum err
zstd_unpack(struct buf *out, struct span packed, size_t len)
{
	ZSTD_DCtx *unpacker = own_unpacker();
	char *at = buf_room(out, len);
	size_t got;

	if (unpacker == NULL)
		return ERR_NO_MEMORY;
	if (at == NULL)
		return buf_end(out);
	got = ZSTD_decompressDCtx(unpacker, at, len, packed.ptr, packed.len);
	if (ZSTD_isError(got) || got != len)
		return ERR_BAD_INPUT;
	buf_grown(out, len);
	return ERR_OK;
}
