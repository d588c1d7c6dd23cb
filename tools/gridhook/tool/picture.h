/*
 * picture: what is on a screen, as rows of red, green and blue bytes. PNG and
 * JPEG are written by picture_png.c and picture_jpeg.c, the doors to libpng
 * and libjpeg.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "common/buf.h"
#include "common/err.h"
#include "common/span.h"

#define PICTURE_EDGE_MAX 32767
#define PICTURE_PIXELS_MAX (100u * 1000 * 1000)

struct picture {
	unsigned width, height;
	uint8_t *rgb; /* 3 * width * height */
};

/* Room for it, uninitialised. ERR_TOO_LARGE beyond the limits above. */
enum err picture_make(
    struct picture *out, unsigned width, unsigned height, struct fault *fault);
void picture_fini(struct picture *picture);

static inline uint8_t *
picture_at(const struct picture *picture, unsigned x, unsigned y)
{
	return picture->rgb + ((size_t)y * picture->width + x) * 3;
}

/*
 * Scales it down in place until neither edge is longer than `edge`, keeping
 * its shape. Each new pixel is the mean of those that it covers. A picture
 * that is small enough stays untouched.
 */
void picture_shrink(struct picture *picture, unsigned edge);

enum err picture_read_png(
    struct picture *out, struct span bytes, struct fault *fault);
enum err picture_write_png(
    const struct picture *picture, struct buf *out, struct fault *fault);
enum err picture_write_jpeg(
    const struct picture *picture, struct buf *out, struct fault *fault);
