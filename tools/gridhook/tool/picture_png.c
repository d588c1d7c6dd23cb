/* The door to libpng, by its simplified interface. */
#include "tools/gridhook/tool/picture.h"

#include <assert.h>
#include <png.h>

static enum err
failed(struct fault *fault, png_image *image, const char *doing)
{
	fault_set(
	    fault, "png", "cannot %s the picture: %s", doing, image->message);
	png_image_free(image);
	return ERR_BAD_INPUT;
}

enum err
picture_read_png(struct picture *out, struct span bytes, struct fault *fault)
{
	png_image image = {.version = PNG_IMAGE_VERSION};
	enum err err;

	*out = (struct picture){.rgb = NULL};
	if (!png_image_begin_read_from_memory(&image, bytes.ptr, bytes.len))
		return failed(fault, &image, "read");
	image.format = PNG_FORMAT_RGB;
	err = picture_make(out, image.width, image.height, fault);
	if (err != ERR_OK) {
		png_image_free(&image);
		return err;
	}
	if (png_image_finish_read(&image, NULL, out->rgb, 0, NULL))
		return ERR_OK;
	picture_fini(out);
	return failed(fault, &image, "read");
}

enum err
picture_write_png(
    const struct picture *picture, struct buf *out, struct fault *fault)
{
	png_image image = {.version = PNG_IMAGE_VERSION,
	    .width = picture->width,
	    .height = picture->height,
	    .format = PNG_FORMAT_RGB,
	    /* A third of the time for a tenth more bytes. */
	    .flags = PNG_IMAGE_FLAG_FAST};
	png_alloc_size_t size = PNG_IMAGE_PNG_SIZE_MAX(image);
	char *room;

	assert(picture->rgb != NULL && out != NULL);
	room = buf_room(out, size);
	if (room == NULL)
		return buf_end(out);
	if (!png_image_write_to_memory(
		&image, room, &size, 0, picture->rgb, 0, NULL))
		return failed(fault, &image, "write");
	buf_grown(out, size);
	return ERR_OK;
}
