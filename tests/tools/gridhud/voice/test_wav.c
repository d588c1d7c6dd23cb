#include "tools/gridhud/voice/wav.h"

#include "common/count.h"
#include "tests/support/run.h"
#include "tests/support/scratch.h"

/* 16 bit mono at 22050 Hz: 44100 bytes a second. */
#define HEAD(length) \
	"RIFF\x00\x00\x00\x00WAVE" \
	"fmt \x10\x00\x00\x00\x01\x00\x01\x00\x22\x56\x00\x00\x44\xac\x00\x00" \
	"\x02\x00\x10\x00" \
	"data" length

static const struct {
	const char *bytes;
	size_t len, pad;
	enum err err;
	int64_t ms;
} table[] = {
    {HEAD("\x44\xac\x00\x00"), 44, 44100, ERR_OK, 1000},
    {HEAD("\x22\x56\x00\x00"), 44, 44100, ERR_OK, 500},
    /* written to a pipe: the length is a guess */
    {HEAD("\xff\xff\xff\x7f"), 44, 22050, ERR_OK, 500},
    {HEAD("\x00\x00\x00\x00"), 44, 0, ERR_OK, 0},
    {HEAD("\x00\x00\x00\x00"), 40, 0, ERR_BAD_INPUT, 0},
    {"not a sound", 11, 100, ERR_BAD_INPUT, 0},
    {"", 0, 0, ERR_BAD_INPUT, 0},
};

START_TEST(length_is_measured)
{
	static char bytes[65536];
	int64_t ms = -1;

	memcpy(bytes, table[_i].bytes, table[_i].len);
	scratch_write("x.wav", bytes, table[_i].len + table[_i].pad);
	ck_assert_int_eq(
	    wav_length_ms(&ms, scratch_path("x.wav")), table[_i].err);
	ck_assert_int_eq(ms, table[_i].ms);
	ck_assert_int_eq(
	    wav_length_ms(&ms, scratch_path("none")), ERR_NOT_FOUND);
}
END_TEST

Suite *
test_suite(void)
{
	Suite *suite = suite_create("gridhud wav");
	TCase *tc = tcase_create("wav");

	tcase_add_checked_fixture(tc, scratch_make, scratch_remove);
	tcase_add_loop_test(tc, length_is_measured, 0, COUNT(table));
	suite_add_tcase(suite, tc);
	return suite;
}
