#include "tools/gridhook/tool/picture.h"

#include <assert.h>
#include <stdlib.h>

enum err
picture_make(
    struct picture *out, unsigned width, unsigned height, struct fault *fault)
{
	assert(out != NULL && fault != NULL);
	*out = (struct picture){.width = width, .height = height};
	if (width == 0 || height == 0 || width > PICTURE_EDGE_MAX ||
	    height > PICTURE_EDGE_MAX ||
	    (uint64_t)width * height > PICTURE_PIXELS_MAX) {
		fault_set(fault, "picture",
		    "a picture of %u by %u pixels is too large", width, height);
		return ERR_TOO_LARGE;
	}
	out->rgb = malloc((size_t)width * height * 3);
	return out->rgb == NULL ? ERR_NO_MEMORY : ERR_OK;
}

void
picture_fini(struct picture *picture)
{
	free(picture->rgb);
	*picture = (struct picture){.rgb = NULL};
}

/* Where the span of new pixel `i` begins in the old ones. */
static unsigned
edge_of(unsigned i, unsigned from, unsigned to)
{
	return (unsigned)((uint64_t)i * from / to);
}

/* The mean of columns x0..x1 and rows y0..y1, both ends outside. */
static void
mean(uint8_t out[3], const struct picture *picture, unsigned x0, unsigned x1,
    unsigned y0, unsigned y1)
{
	uint64_t sum[3] = {0, 0, 0};
	uint64_t count = (uint64_t)(x1 - x0) * (y1 - y0);

	for (unsigned y = y0; y < y1; y++) {
		const uint8_t *pixel = picture_at(picture, x0, y);

		for (unsigned x = x0; x < x1; x++, pixel += 3) {
			sum[0] += pixel[0];
			sum[1] += pixel[1];
			sum[2] += pixel[2];
		}
	}
	for (unsigned channel = 0; channel < 3; channel++)
		out[channel] = (uint8_t)((sum[channel] + count / 2) / count);
}

static unsigned
scaled(unsigned length, unsigned edge, unsigned longest)
{
	uint64_t now = ((uint64_t)length * edge + longest / 2) / longest;

	return now == 0 ? 1 : (unsigned)now;
}

void
picture_shrink(struct picture *picture, unsigned edge)
{
	unsigned longest =
	    picture->width > picture->height ? picture->width : picture->height;
	unsigned width, height;
	uint8_t *to = picture->rgb;

	assert(picture->rgb != NULL);
	if (longest <= edge || edge == 0)
		return;
	width = scaled(picture->width, edge, longest);
	height = scaled(picture->height, edge, longest);
	/*
	 * In place: a new pixel never lies behind the first old one that it
	 * is made of, and is made before it is written.
	 */
	for (unsigned y = 0; y < height; y++) {
		unsigned y0 = edge_of(y, picture->height, height);
		unsigned y1 = edge_of(y + 1, picture->height, height);

		for (unsigned x = 0; x < width; x++, to += 3) {
			uint8_t pixel[3];

			mean(pixel, picture, edge_of(x, picture->width, width),
			    edge_of(x + 1, picture->width, width), y0, y1);
			memcpy(to, pixel, 3);
		}
	}
	picture->width = width;
	picture->height = height;
}
