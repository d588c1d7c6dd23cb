#include "tools/gridhook/events/pack.h"

#include "common/count.h"
#include "tests/support/run.h"

#define LONG \
	"a rather long text, as people write it, with \\\"quotes\\\" and " \
	"\\\\ in it, which is worth to be kept once and not twice \\n"

static const struct {
	struct span record;
	bool shorter;
} cases[] = {
    {SPAN("{\"id\":1,\"text\":\"" LONG "\",\"data\":{\"text\":\"" LONG "\"}}"),
	true},
    {SPAN("{\"id\":1,\"text\":\"" LONG "\",\"data\":[\"x" LONG "y\"]}"), true},
    {SPAN("{\"id\":1,\"text\":\"" LONG "\",\"data\":null}"), false},
    {SPAN("{\"title\":\",\\\"text\\\":\\\"\",\"text\":\"short\",\"data\":"
	  "\"short\"}"),
	false},
    {SPAN("{}"), false},
    {SPAN(",\"text\":\""), false},
    {SPAN(",\"text\":\"\\"), false},
};

START_TEST(records_come_back)
{
	struct buf packed, again;

	buf_init(&packed, 4096);
	buf_init(&again, 4096);
	pack_record(&packed, cases[_i].record);
	ck_assert_int_eq(packed.len < cases[_i].record.len, cases[_i].shorter);
	ck_assert_int_eq(unpack_record(&again, buf_span(&packed)), ERR_OK);
	ck_assert(span_eq(buf_span(&again), cases[_i].record));
	buf_fini(&packed);
	buf_fini(&again);
}
END_TEST

START_TEST(damage_is_told)
{
	struct buf packed, again;

	buf_init(&packed, 4096);
	buf_init(&again, 4096);
	pack_record(&packed, cases[0].record);
	for (size_t len = 0; len < 13; len++)
		ck_assert_int_eq(
		    unpack_record(&again, span_make(packed.data, len)),
		    ERR_DAMAGED);
	memset(packed.data + 1, 0xFF, 12);
	ck_assert_int_eq(unpack_record(&again, buf_span(&packed)), ERR_DAMAGED);
	packed.data[0] = 'x';
	ck_assert_int_eq(unpack_record(&again, buf_span(&packed)), ERR_DAMAGED);
	buf_fini(&packed);
	buf_fini(&again);
}
END_TEST

Suite *
test_suite(void)
{
	Suite *suite = suite_create("gridhook pack");
	TCase *tc = tcase_create("pack");

	tcase_add_loop_test(tc, records_come_back, 0, COUNT(cases));
	tcase_add_test(tc, damage_is_told);
	suite_add_tcase(suite, tc);
	return suite;
}
