#include "tests/support/run.h"

#include "tools/gridhook/tool/picture.h"

#include <stdlib.h>

#include "config.h"

static struct picture
made(unsigned width, unsigned height)
{
	struct picture picture;
	struct fault fault;

	fault_clear(&fault);
	ck_assert_int_eq(picture_make(&picture, width, height, &fault), ERR_OK);
	return picture;
}

/* Every channel another slope, so that a mix-up of any two would show. */
static struct picture
slopes(unsigned width, unsigned height)
{
	struct picture picture = made(width, height);

	for (unsigned y = 0; y < height; y++) {
		for (unsigned x = 0; x < width; x++) {
			uint8_t *pixel = picture_at(&picture, x, y);

			pixel[0] = (uint8_t)(x * 7);
			pixel[1] = (uint8_t)(y * 11);
			pixel[2] = (uint8_t)(x + y);
		}
	}
	return picture;
}

static const struct {
	unsigned width, height, edge, new_width, new_height;
} sizes[] = {
    {100, 50, 100, 100, 50},
    {100, 50, 200, 100, 50},
    {100, 50, 50, 50, 25},
    {50, 100, 50, 25, 50},
    {3840, 2160, 1568, 1568, 882},
    {5, 3, 2, 2, 1},
    {1000, 1, 64, 64, 1},
    {3, 3, 1, 1, 1},
};

START_TEST(the_longest_edge_is_kept_to_and_the_shape_too)
{
	struct picture picture = made(sizes[_i].width, sizes[_i].height);

	memset(picture.rgb, 77, (size_t)picture.width * picture.height * 3);
	picture_shrink(&picture, sizes[_i].edge);
	ck_assert_uint_eq(picture.width, sizes[_i].new_width);
	ck_assert_uint_eq(picture.height, sizes[_i].new_height);
	/* An area of one colour keeps it. */
	ck_assert_uint_eq(picture_at(&picture, 0, 0)[0], 77);
	ck_assert_uint_eq(
	    picture_at(&picture, picture.width - 1, picture.height - 1)[2], 77);
	picture_fini(&picture);
}
END_TEST

START_TEST(a_new_pixel_is_the_mean_of_those_it_covers)
{
	struct picture picture = made(4, 2);
	static const uint8_t rows[] = {
	    0, 0, 0, 10, 20, 30, 255, 255, 255, 255, 0, 255, /* row 0 */
	    20, 40, 60, 30, 60, 90, 255, 0, 255, 255, 1, 255 /* row 1 */
	};
	static const uint8_t expected[] = {15, 30, 45, 255, 64, 255};

	memcpy(picture.rgb, rows, sizeof(rows));
	picture_shrink(&picture, 2);
	ck_assert_uint_eq(picture.width, 2);
	ck_assert_uint_eq(picture.height, 1);
	ck_assert_mem_eq(picture.rgb, expected, sizeof(expected));
	picture_fini(&picture);
}
END_TEST

/* The same, made with a second picture, which cannot overwrite its source. */
START_TEST(shrinking_in_place_reads_only_what_is_still_old)
{
	struct picture source = slopes(37, 23), shrunk = slopes(37, 23);

	picture_shrink(&shrunk, 10);
	for (unsigned y = 0; y < shrunk.height; y++) {
		for (unsigned x = 0; x < shrunk.width; x++) {
			unsigned x0 = x * 37 / shrunk.width;
			unsigned x1 = (x + 1) * 37 / shrunk.width;
			unsigned y0 = y * 23 / shrunk.height;
			unsigned y1 = (y + 1) * 23 / shrunk.height;
			unsigned count = (x1 - x0) * (y1 - y0);

			for (unsigned channel = 0; channel < 3; channel++) {
				unsigned sum = 0;

				for (unsigned j = y0; j < y1; j++)
					for (unsigned i = x0; i < x1; i++)
						sum += picture_at(
						    &source, i, j)[channel];
				ck_assert_uint_eq(
				    picture_at(&shrunk, x, y)[channel],
				    (sum + count / 2) / count);
			}
		}
	}
	picture_fini(&source);
	picture_fini(&shrunk);
}
END_TEST

START_TEST(a_picture_too_large_is_refused)
{
	struct picture picture;
	struct fault fault;

	fault_clear(&fault);
	ck_assert_int_eq(
	    picture_make(&picture, 32768, 1, &fault), ERR_TOO_LARGE);
	ck_assert_int_eq(
	    picture_make(&picture, 20000, 20000, &fault), ERR_TOO_LARGE);
	ck_assert_int_eq(picture_make(&picture, 0, 5, &fault), ERR_TOO_LARGE);
}
END_TEST

#if HAVE_PNG
START_TEST(a_png_is_read_back_as_it_was_written)
{
	struct picture picture = slopes(37, 23), back;
	struct fault fault;
	struct buf png;

	fault_clear(&fault);
	buf_init(&png, 1024 * 1024);
	ck_assert_int_eq(picture_write_png(&picture, &png, &fault), ERR_OK);
	ck_assert_int_eq(
	    picture_read_png(&back, buf_span(&png), &fault), ERR_OK);
	ck_assert_uint_eq(back.width, 37);
	ck_assert_uint_eq(back.height, 23);
	ck_assert_mem_eq(back.rgb, picture.rgb, 37 * 23 * 3);
	picture_fini(&back);

	/* Cut short, it is refused and not half shown. */
	ck_assert_int_eq(picture_read_png(&back,
			     span_sub(buf_span(&png), 0, png.len / 2), &fault),
	    ERR_BAD_INPUT);
	ck_assert_ptr_null(back.rgb);
	ck_assert_int_eq(
	    picture_read_png(&back, SPAN("no picture"), &fault), ERR_BAD_INPUT);
	buf_fini(&png);
	picture_fini(&picture);
}
END_TEST
#endif

#if HAVE_JPEG
START_TEST(a_jpeg_begins_and_ends_as_one)
{
	struct picture picture = slopes(64, 64);
	struct fault fault;
	struct buf jpeg;

	fault_clear(&fault);
	buf_init(&jpeg, 1024 * 1024);
	ck_assert_int_eq(picture_write_jpeg(&picture, &jpeg, &fault), ERR_OK);
	ck_assert(span_starts(buf_span(&jpeg), SPAN("\xff\xd8\xff")));
	ck_assert(span_ends(buf_span(&jpeg), SPAN("\xff\xd9")));
	buf_fini(&jpeg);
	picture_fini(&picture);
}
END_TEST
#endif

Suite *
test_suite(void)
{
	Suite *suite = suite_create("hooktool picture");
	TCase *tc = tcase_create("picture");

	tcase_add_loop_test(tc, the_longest_edge_is_kept_to_and_the_shape_too,
	    0, sizeof(sizes) / sizeof(sizes[0]));
	tcase_add_test(tc, a_new_pixel_is_the_mean_of_those_it_covers);
	tcase_add_test(tc, shrinking_in_place_reads_only_what_is_still_old);
	tcase_add_test(tc, a_picture_too_large_is_refused);
#if HAVE_PNG
	tcase_add_test(tc, a_png_is_read_back_as_it_was_written);
#endif
#if HAVE_JPEG
	tcase_add_test(tc, a_jpeg_begins_and_ends_as_one);
#endif
	suite_add_tcase(suite, tc);
	return suite;
}
