#include "tools/gridctl/csv/csv_unpack.h"

#include <assert.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <zlib.h>
#include <zstd.h>
#include <zstd_errors.h>

#define PACKED_SIZE ((size_t)64 * 1024)
#define GZIP_ONLY (MAX_WBITS + 16)

/* A step of a packing: what it made, and how it went. */
enum step {
	STEP_ON, /* it goes on, or wants more of the file */
	STEP_END, /* of a member or frame */
	STEP_NO_MEMORY,
	STEP_TOO_WIDE, /* it refers to bytes that are too far back */
	STEP_BAD,
};

struct packing {
	const char *ending;
	const char *other; /* said of a file that is not so packed */
	enum err (*begin)(struct csv_unpack *unpack);
	void (*end)(struct csv_unpack *unpack);
	/* Adds to *made what it puts at `to`. */
	enum step (*step)(
	    struct csv_unpack *unpack, char *to, size_t len, size_t *made);
};

struct csv_unpack {
	const struct packing *packing;
	z_stream zlib;
	ZSTD_DCtx *zstd;
	int fd;
	uint64_t most, made, taken;
	bool at_end; /* of the file */
	bool in_member; /* the member that was begun has not ended */
	const char *why;
	size_t used, held; /* of packed */
	unsigned char packed[PACKED_SIZE];
};

static enum err
begin_gzip(struct csv_unpack *unpack)
{
	return inflateInit2(&unpack->zlib, GZIP_ONLY) == Z_OK ? ERR_OK
							      : ERR_NO_MEMORY;
}

static void
end_gzip(struct csv_unpack *unpack)
{
	inflateEnd(&unpack->zlib);
}

static enum step
step_gzip(struct csv_unpack *unpack, char *to, size_t len, size_t *made)
{
	z_stream *zlib = &unpack->zlib;
	int code;

	zlib->next_in = unpack->packed + unpack->used;
	zlib->avail_in = (uInt)(unpack->held - unpack->used);
	zlib->next_out = (unsigned char *)to;
	zlib->avail_out = (uInt)len;
	code = inflate(zlib, Z_NO_FLUSH);
	unpack->used = unpack->held - zlib->avail_in;
	*made += len - zlib->avail_out;
	switch (code) {
	case Z_OK:
	case Z_BUF_ERROR:
		return STEP_ON;
	case Z_STREAM_END:
		inflateReset(zlib);
		return STEP_END;
	case Z_MEM_ERROR:
		return STEP_NO_MEMORY;
	default:
		return STEP_BAD;
	}
}

static enum err
begin_zstd(struct csv_unpack *unpack)
{
	unpack->zstd = ZSTD_createDCtx();
	return unpack->zstd == NULL ? ERR_NO_MEMORY : ERR_OK;
}

static void
end_zstd(struct csv_unpack *unpack)
{
	ZSTD_freeDCtx(unpack->zstd);
}

/* libzstd goes back 128 MiB at most, unless it is told otherwise. */
static enum step
step_zstd(struct csv_unpack *unpack, char *to, size_t len, size_t *made)
{
	ZSTD_inBuffer in = {unpack->packed, unpack->held, unpack->used};
	ZSTD_outBuffer out = {to, len, 0};
	size_t code = ZSTD_decompressStream(unpack->zstd, &out, &in);

	unpack->used = in.pos;
	*made += out.pos;
	switch (ZSTD_getErrorCode(code)) {
	case ZSTD_error_no_error:
		return code == 0 ? STEP_END : STEP_ON;
	case ZSTD_error_memory_allocation:
		return STEP_NO_MEMORY;
	case ZSTD_error_frameParameter_windowTooLarge:
		return STEP_TOO_WIDE;
	default:
		return STEP_BAD;
	}
}

static const struct packing packings[] = {
    {".gz", "is no gzip file, as its name says", begin_gzip, end_gzip,
	step_gzip},
    {".zst", "is no zstd file, as its name says", begin_zstd, end_zstd,
	step_zstd},
};
#define PACKINGS (sizeof(packings) / sizeof(packings[0]))

const char *
csv_unpack_ending(unsigned n)
{
	return n < PACKINGS ? packings[n].ending : NULL;
}

static const struct packing *
packing_of(const char *name)
{
	size_t len = strlen(name);

	for (unsigned i = 0; i < PACKINGS; i++) {
		size_t end = strlen(packings[i].ending);

		if (len > end &&
		    strcmp(name + len - end, packings[i].ending) == 0)
			return &packings[i];
	}
	return NULL;
}

bool
csv_unpack_is_name(const char *name)
{
	return packing_of(name) != NULL;
}

enum err
csv_unpack_new(struct csv_unpack **out, const char *path, int fd, uint64_t most)
{
	struct csv_unpack *unpack = calloc(1, sizeof(*unpack));
	enum err err;

	assert(fd >= 0 && most > 0);
	*out = NULL;
	if (unpack == NULL)
		return ERR_NO_MEMORY;
	unpack->packing = packing_of(path);
	assert(unpack->packing != NULL);
	unpack->fd = fd;
	unpack->most = most;
	err = unpack->packing->begin(unpack);
	if (err != ERR_OK) {
		free(unpack);
		return err;
	}
	*out = unpack;
	return ERR_OK;
}

void
csv_unpack_free(struct csv_unpack *unpack)
{
	if (unpack == NULL)
		return;
	unpack->packing->end(unpack);
	free(unpack);
}

static enum err
refuse(struct csv_unpack *unpack, enum err err, const char *why)
{
	unpack->why = why;
	return err;
}

/* More of the file, when all that was read is used up. */
static enum err
take_in(struct csv_unpack *unpack)
{
	ssize_t got;

	if (unpack->used < unpack->held || unpack->at_end)
		return ERR_OK;
	do
		got = read(unpack->fd, unpack->packed, PACKED_SIZE);
	while (got < 0 && errno == EINTR);
	if (got < 0)
		return err_from_errno(errno);
	unpack->at_end = got == 0;
	unpack->taken += (uint64_t)got;
	unpack->used = 0;
	unpack->held = (size_t)got;
	return ERR_OK;
}

static enum err
step(struct csv_unpack *unpack, char *to, size_t len, size_t *made)
{
	bool is_first = unpack->made == 0 && !unpack->in_member;

	unpack->in_member = true;
	switch (unpack->packing->step(unpack, to, len, made)) {
	case STEP_ON:
		return ERR_OK;
	case STEP_END:
		unpack->in_member = false;
		return ERR_OK;
	case STEP_NO_MEMORY:
		return ERR_NO_MEMORY;
	case STEP_TOO_WIDE:
		return refuse(unpack, ERR_BAD_INPUT,
		    "is packed with a window of more than 128 MiB: pack it "
		    "without --long or --ultra");
	case STEP_BAD:
		break;
	}
	return refuse(unpack, ERR_BAD_INPUT,
	    is_first ? unpack->packing->other
		     : "is damaged: it cannot be unpacked to its end");
}

enum err
csv_unpack_read(size_t *got, struct csv_unpack *unpack, char *to, size_t len)
{
	enum err err = ERR_OK;
	bool is_done = false;

	assert(to != NULL && len > 0);
	*got = 0;
	while (err == ERR_OK && !is_done && *got == 0) {
		err = take_in(unpack);
		is_done = unpack->at_end;
		/* A packing may hold bytes that had no room the last time. */
		if (err == ERR_OK && (!is_done || unpack->in_member))
			err = step(unpack, to, len, got);
	}
	if (err == ERR_OK && is_done && *got == 0 &&
	    (unpack->in_member || unpack->taken == 0))
		return refuse(
		    unpack, ERR_BAD_INPUT, "is cut short: its end is missing");
	unpack->made += *got;
	if (err == ERR_OK && unpack->made > unpack->most)
		err = refuse(unpack, ERR_TOO_LARGE,
		    "unpacks to more than a file may have (64 GiB): unpack "
		    "it and divide it");
	return err;
}

const char *
csv_unpack_why(const struct csv_unpack *unpack)
{
	assert(unpack != NULL);
	return unpack->why;
}

uint64_t
csv_unpack_taken(const struct csv_unpack *unpack)
{
	assert(unpack != NULL);
	return unpack->taken;
}
