/*
 * The door to libjpeg. It reports trouble by longjmp, so what is allocated
 * stands outside the function that it may leave.
 */
#include "tools/gridhook/tool/picture.h"

#include <assert.h>
#include <setjmp.h>
#include <stdio.h>
#include <stdlib.h>

#include <jpeglib.h>

#define QUALITY 85

struct writer {
	struct jpeg_compress_struct jpeg;
	struct jpeg_error_mgr errors;
	jmp_buf back;
	unsigned char *bytes;
	unsigned long len;
	char message[JMSG_LENGTH_MAX];
};

static void
on_error(j_common_ptr jpeg)
{
	struct writer *writer = jpeg->client_data;

	jpeg->err->format_message(jpeg, writer->message);
	longjmp(writer->back, 1);
}

static void
on_message(j_common_ptr jpeg)
{
	(void)jpeg; /* warnings would go to standard error */
}

static bool
write_rows(struct writer *writer, const struct picture *picture)
{
	struct jpeg_compress_struct *jpeg = &writer->jpeg;

	if (setjmp(writer->back) != 0)
		return false;
	jpeg_create_compress(jpeg);
	jpeg_mem_dest(jpeg, &writer->bytes, &writer->len);
	jpeg->image_width = picture->width;
	jpeg->image_height = picture->height;
	jpeg->input_components = 3;
	jpeg->in_color_space = JCS_RGB;
	jpeg_set_defaults(jpeg);
	jpeg_set_quality(jpeg, QUALITY, TRUE);
	jpeg_start_compress(jpeg, TRUE);
	while (jpeg->next_scanline < jpeg->image_height) {
		JSAMPROW row = picture_at(picture, 0, jpeg->next_scanline);

		jpeg_write_scanlines(jpeg, &row, 1);
	}
	jpeg_finish_compress(jpeg);
	return true;
}

enum err
picture_write_jpeg(
    const struct picture *picture, struct buf *out, struct fault *fault)
{
	struct writer *writer = calloc(1, sizeof(*writer));
	bool done;

	assert(picture->rgb != NULL && out != NULL);
	if (writer == NULL)
		return ERR_NO_MEMORY;
	writer->jpeg.err = jpeg_std_error(&writer->errors);
	writer->errors.error_exit = on_error;
	writer->errors.output_message = on_message;
	writer->jpeg.client_data = writer;
	done = write_rows(writer, picture);
	if (done)
		buf_add(out, writer->bytes, writer->len);
	else
		fault_set(fault, "jpeg", "cannot write the picture: %s",
		    writer->message);
	jpeg_destroy_compress(&writer->jpeg);
	free(writer->bytes);
	free(writer);
	return done ? buf_end(out) : ERR_BAD_INPUT;
}
