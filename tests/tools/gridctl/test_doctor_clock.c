/* tests/tools/gridctl/test_doctor_clock.c: doctor_clock() of doctor.h */
#include <errno.h>
#include <stddef.h>
#include <string.h>
#include <sys/timex.h>

#include "tests/support/run.h"
#include "tools/gridctl/doctor.h"

/* An answer of adjtimex(2), and the beginning of the line of doctor. */
static const struct {
	int state, error, status;
	long maxerror;
	enum doctor_level level;
	const char *line;
} answers[] = {
    {TIME_OK, 0, STA_PLL, 11001, DOCTOR_FINE,
	"ok     clock            a time server keeps it, to within 12 ms\n"},
    {TIME_INS, 0, STA_PLL | STA_INS, 500, DOCTOR_FINE,
	"ok     clock            a time server keeps it, to within 1 ms\n"},
    {TIME_ERROR, 0, STA_UNSYNC, 16000000, DOCTOR_LOOK,
	"look   clock            no time server keeps it, as far as the kernel "
	"knows\n"},
    /* A container whose filter of system calls knows nothing of it. */
    {-1, EPERM, 0, 0, DOCTOR_FINE,
	"ok     clock            the kernel does not tell whether it is kept "
	"(Operation not permitted): not looked at\n"},
    {-1, ENOSYS, 0, 0, DOCTOR_FINE,
	"ok     clock            the kernel does not tell whether it is kept "
	"(Function not implemented): not looked at\n"},
};

START_TEST(what_the_kernel_answers_is_never_wrong)
{
	const size_t at = (size_t)_i;
	struct doctor doctor = {.counts = {0}};
	struct timex kernel = {
	    .status = answers[at].status, .maxerror = answers[at].maxerror};
	struct span text;

	cmd_list_begin(&doctor.list, false);
	errno = answers[at].error;
	doctor_clock(&doctor, answers[at].state, &kernel);
	text = buf_span(&doctor.list.text);
	ck_assert_msg(span_starts(text, span_of(answers[at].line)), "%.*s",
	    (int)text.len, text.ptr);
	ck_assert_uint_eq(doctor.counts[answers[at].level], 1);
	ck_assert_uint_eq(doctor.counts[DOCTOR_WRONG], 0);
	buf_fini(&doctor.list.text);
}
END_TEST

START_TEST(a_clock_that_nothing_keeps_is_told_with_what_to_install)
{
	struct doctor doctor = {.counts = {0}};
	struct timex kernel = {.status = STA_UNSYNC};
	char text[512];

	cmd_list_begin(&doctor.list, false);
	doctor_clock(&doctor, TIME_ERROR, &kernel);
	ck_assert(span_copy(text, sizeof(text), buf_span(&doctor.list.text)));
	ck_assert_ptr_nonnull(strstr(text, "\n                     -> "));
	ck_assert_ptr_nonnull(strstr(text, "systemd-timesyncd or chrony"));
	ck_assert_ptr_nonnull(strstr(text, "on the host of a container"));
	buf_fini(&doctor.list.text);
}
END_TEST

Suite *
test_suite(void)
{
	Suite *suite = suite_create("doctor_clock");
	TCase *tc = tcase_create("all");

	tcase_add_loop_test(tc, what_the_kernel_answers_is_never_wrong, 0,
	    sizeof(answers) / sizeof(answers[0]));
	tcase_add_test(
	    tc, a_clock_that_nothing_keeps_is_told_with_what_to_install);
	suite_add_tcase(suite, tc);
	return suite;
}
