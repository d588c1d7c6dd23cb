#include "fcgi/process/record.h"

#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <unistd.h>

#include "common/buf.h"
#include "tests/support/random.h"
#include "tests/support/run.h"

#define ID 0x1234
#define MOST ((size_t)8 << 20)

/* Both ends of a connection, and what has come out of the far one. */
static int near, far;
static struct record record;
static struct sink out;
static struct buf came;
static pthread_t reader;

static void *
read_all(void *arg)
{
	ssize_t len = 1;

	(void)arg;
	while (len > 0) {
		char *room = buf_room(&came, 10000);

		run_must(room != NULL);
		len = read(far, room, 10000);
		run_must(len >= 0);
		buf_grown(&came, (size_t)len);
	}
	return NULL;
}

static void
open_both(void)
{
	int ends[2];

	run_must(socketpair(AF_UNIX, SOCK_STREAM, 0, ends) == 0);
	near = ends[0];
	far = ends[1];
	buf_init(&came, 2 * MOST);
	run_must(record_init(&record) == ERR_OK);
	record_begin(&record, near, ID);
	out = record_sink(&record);
}

static void
close_both(void)
{
	if (near >= 0)
		close(near);
	if (far >= 0)
		close(far);
	record_fini(&record);
	buf_fini(&came);
}

static void
read_beside(void)
{
	run_must(pthread_create(&reader, NULL, read_all, NULL) == 0);
}

static void
hang_up(void)
{
	close(near);
	near = -1;
	run_must(pthread_join(reader, NULL) == 0);
}

/* The content of the records; `at` is behind the last whole one. */
struct reading {
	size_t at, content, records, largest;
	bool stdout_ended, ended;
	unsigned long sum;
};

static unsigned long
sum_of(unsigned long sum, const unsigned char *data, size_t len)
{
	for (size_t i = 0; i < len; i++)
		sum = sum * 31 + data[i];
	return sum;
}

static void
read_record(struct reading *reading, const unsigned char *head, size_t len)
{
	run_must(head[0] == 1 && head[7] == 0 && head[6] == 0);
	run_must(head[2] << 8 == (ID & 0xff00) && head[3] == (ID & 0xff));
	run_must(!reading->ended);
	if (head[1] == 3) {
		static const unsigned char zeros[8];

		run_must(len == 8 && memcmp(head + 8, zeros, 8) == 0);
		run_must(reading->stdout_ended);
		reading->ended = true;
		return;
	}
	run_must(head[1] == 6 && !reading->stdout_ended);
	reading->stdout_ended = len == 0;
	reading->records++;
	reading->content += len;
	if (len > reading->largest)
		reading->largest = len;
	reading->sum = sum_of(reading->sum, head + 8, len);
}

static struct reading
read_records(void)
{
	struct reading reading = {0};
	const unsigned char *data = (const unsigned char *)came.data;

	while (reading.at + 8 <= came.len) {
		const unsigned char *head = data + reading.at;
		size_t len = (size_t)head[4] << 8 | head[5];

		if (reading.at + 8 + len > came.len)
			break;
		read_record(&reading, head, len);
		reading.at += 8 + len;
	}
	return reading;
}

START_TEST(a_short_answer_is_one_record_and_its_end)
{
	static const char expected[] = "\1\6\x12\x34\0\5\0\0hello"
				       "\1\6\x12\x34\0\0\0\0"
				       "\1\3\x12\x34\0\x8\0\0\0\0\0\0\0\0\0\0";
	char got[200];

	ck_assert_int_eq(sink_put(&out, SPAN("he")), ERR_OK);
	ck_assert_int_eq(sink_put(&out, SPAN("")), ERR_OK);
	ck_assert_int_eq(sink_put(&out, SPAN("llo")), ERR_OK);
	ck_assert_int_eq(recv(far, got, sizeof(got), MSG_DONTWAIT), -1);
	ck_assert_int_eq(record_end(&record), ERR_OK);
	ck_assert_int_eq(
	    recv(far, got, sizeof(got), MSG_DONTWAIT), sizeof(expected) - 1);
	ck_assert_mem_eq(got, expected, sizeof(expected) - 1);
	ck_assert_uint_eq(record.bytes, 5);
}
END_TEST

START_TEST(an_empty_answer_is_an_end_only)
{
	char got[100];

	ck_assert_int_eq(record_end(&record), ERR_OK);
	ck_assert_int_eq(recv(far, got, sizeof(got), MSG_DONTWAIT), 24);
}
END_TEST

static const size_t sizes[] = {1, 7, RECORD_MAX - 1, RECORD_MAX, RECORD_MAX + 1,
    2 * RECORD_MAX - 1, 2 * RECORD_MAX, 2 * RECORD_MAX + 1, 64 * RECORD_MAX - 1,
    64 * RECORD_MAX, 64 * RECORD_MAX + 1, 65 * RECORD_MAX + 12345};

/* In one piece, and cut in two at each of a few places. */
START_TEST(answers_of_every_size_come_out_whole)
{
	size_t size = sizes[_i];
	size_t cut = size / 3;
	unsigned char *data = malloc(size);
	struct iovec pieces[] = {
	    {data, cut}, {NULL, 0}, {data + cut, size - cut}};
	struct reading reading;

	ck_assert_ptr_nonnull(data);
	for (size_t i = 0; i < size; i++)
		data[i] = (unsigned char)(i * 7 + i / 251);
	read_beside();
	ck_assert_int_eq(out.put(&out, pieces, 3), ERR_OK);
	ck_assert_int_eq(record_end(&record), ERR_OK);
	hang_up();
	reading = read_records();
	ck_assert(reading.ended);
	ck_assert_uint_eq(reading.at, came.len);
	ck_assert_uint_eq(reading.content, size);
	ck_assert_uint_eq(reading.sum, sum_of(0, data, size));
	ck_assert_uint_le(reading.largest, RECORD_MAX);
	ck_assert_uint_eq(
	    reading.records, (size + RECORD_MAX - 1) / RECORD_MAX + 1);
	free(data);
}
END_TEST

/* Many puts of many pieces, as a page is put together. */
START_TEST(pieces_of_any_size_come_out_in_order)
{
	static const size_t mosts[] = {10, 3000, 70000, 400000};
	unsigned char *data = malloc(MOST);
	unsigned long sum = 0;
	size_t total = 0;
	struct reading reading;

	ck_assert_ptr_nonnull(data);
	for (size_t i = 0; i < MOST; i++)
		data[i] = (unsigned char)random_bits();
	read_beside();
	for (int round = 0; round < 40 && total < MOST; round++) {
		struct iovec pieces[700];
		int count = (int)(random_bits() % 700);

		for (int i = 0; i < count; i++) {
			size_t most = mosts[random_bits() % 4];
			size_t len = random_bits() %
			    (most < 2000 || i % 50 == 0 ? most : 300);
			size_t from = random_bits() % (MOST - len);

			pieces[i] = (struct iovec){data + from, len};
			sum = sum_of(sum, data + from, len);
			total += len;
		}
		ck_assert_int_eq(out.put(&out, pieces, count), ERR_OK);
	}
	ck_assert_int_eq(record_end(&record), ERR_OK);
	hang_up();
	reading = read_records();
	ck_assert(reading.ended);
	ck_assert_uint_eq(reading.content, total);
	ck_assert_uint_eq(record.bytes, total);
	ck_assert_uint_eq(reading.sum, sum);
	free(data);
}
END_TEST

/* Needs no record_end(), which then sends nothing. */
START_TEST(what_is_put_last_brings_its_end)
{
	size_t size = sizes[_i];
	unsigned char *data = calloc(1, size + 1);
	struct reading reading;

	ck_assert_ptr_nonnull(data);
	memset(data, 7, size);
	read_beside();
	ck_assert_int_eq(sink_put(&out, SPAN("held")), ERR_OK);
	out.last = true;
	ck_assert_int_eq(sink_put(&out, span_make(data, size)), ERR_OK);
	ck_assert_int_eq(record_end(&record), ERR_OK);
	hang_up();
	reading = read_records();
	ck_assert(reading.ended);
	ck_assert_uint_eq(reading.content, size + 4);
	ck_assert_uint_eq(reading.sum,
	    sum_of(sum_of(0, (const unsigned char *)"held", 4), data, size));
	free(data);
}
END_TEST

/* A send buffer that is small and a reader that comes late. */
START_TEST(partial_writes_are_gone_on_with)
{
	int small = 4096;
	size_t size = 1000000;
	unsigned char *data = calloc(1, size);
	struct reading reading;

	ck_assert_ptr_nonnull(data);
	setsockopt(near, SOL_SOCKET, SO_SNDBUF, &small, sizeof(small));
	data[size - 1] = 1;
	read_beside();
	ck_assert_int_eq(sink_put(&out, span_make(data, size)), ERR_OK);
	ck_assert_int_eq(record_end(&record), ERR_OK);
	hang_up();
	reading = read_records();
	ck_assert(reading.ended);
	ck_assert_uint_eq(reading.sum, sum_of(0, data, size));
	free(data);
}
END_TEST

START_TEST(a_peer_that_has_gone_is_told_without_a_signal)
{
	char *data = calloc(1, 200000);

	ck_assert_ptr_nonnull(data);
	signal(SIGPIPE, SIG_DFL);
	close(far);
	far = -1;
	ck_assert_int_eq(sink_put(&out, SPAN("held")), ERR_OK);
	ck_assert_int_eq(sink_put(&out, span_make(data, 200000)), ERR_CLOSED);
	/* The failure stays. */
	ck_assert_int_eq(sink_put(&out, SPAN("x")), ERR_CLOSED);
	ck_assert_int_eq(record_end(&record), ERR_CLOSED);
	/* The next answer begins anew. */
	record_begin(&record, near, ID);
	ck_assert_int_eq(sink_put(&out, SPAN("x")), ERR_OK);
	ck_assert_int_eq(record_end(&record), ERR_CLOSED);
	free(data);
}
END_TEST

/* nginx does, when a Content-Length has told it what there is. */
START_TEST(a_peer_may_leave_before_the_end_of_a_long_answer)
{
	size_t size = 100000;
	char *data = calloc(1, size);

	ck_assert_ptr_nonnull(data);
	ck_assert_int_eq(sink_put(&out, span_make(data, size)), ERR_OK);
	close(far);
	far = -1;
	ck_assert_int_eq(record_end(&record), ERR_OK);
	free(data);
}
END_TEST

START_TEST(a_peer_that_takes_nothing_is_given_up)
{
	struct timeval limit = {.tv_usec = 50000};
	size_t size = (size_t)4 << 20;
	char *data = calloc(1, size);

	ck_assert_ptr_nonnull(data);
	setsockopt(near, SOL_SOCKET, SO_SNDTIMEO, &limit, sizeof(limit));
	ck_assert_int_eq(sink_put(&out, span_make(data, size)), ERR_TIMED_OUT);
	ck_assert_int_eq(record_end(&record), ERR_TIMED_OUT);
	free(data);
}
END_TEST

static int waits;
static bool reads_late;

static void
count_wait(int fd)
{
	ck_assert_int_eq(fd, near);
	if (waits++ == 0 && reads_late)
		read_beside();
}

/* Sizes of an answer, the socket's room, and whether limits are set for it. */
static const struct {
	size_t size;
	int room; /* 0: the kernel's own */
	int waits;
} sendings[] = {
    {0, 0, 0}, {30000, 0, 0}, {60000, 0, 0}, {100000, 0, 1}, {500000, 0, 1},
    {60000, 4096, 1}, /* by what the kernel says */
};

START_TEST(limits_are_set_once_and_only_for_what_may_wait)
{
	size_t size = sendings[_i].size;
	char *data = calloc(1, size + 1);
	struct reading reading;

	ck_assert_ptr_nonnull(data);
	if (sendings[_i].room != 0)
		setsockopt(near, SOL_SOCKET, SO_SNDBUF, &sendings[_i].room,
		    sizeof(sendings[_i].room));
	waits = 0;
	record.before_wait = count_wait;
	reads_late = sendings[_i].waits > 0;
	if (!reads_late)
		read_beside();
	/* Half of it is held back, the rest comes with the end. */
	ck_assert_int_eq(sink_put(&out, span_make(data, size / 2)), ERR_OK);
	out.last = true;
	ck_assert_int_eq(
	    sink_put(&out, span_make(data, size - size / 2)), ERR_OK);
	ck_assert_int_eq(record_end(&record), ERR_OK);
	ck_assert_int_eq(waits, sendings[_i].waits);
	/* The next answer is another connection's. */
	record_begin(&record, near, ID);
	ck_assert(!record.may_wait);
	hang_up();
	reading = read_records();
	ck_assert(reading.ended);
	ck_assert_uint_eq(reading.content, size);
	free(data);
}
END_TEST

START_TEST(a_failed_answer_has_no_end)
{
	char *data = calloc(1, 100000);
	struct reading reading;

	ck_assert_ptr_nonnull(data);
	read_beside();
	ck_assert_int_eq(sink_put(&out, span_make(data, 100000)), ERR_OK);
	/* The endpoint fails now, and the worker hangs up. */
	hang_up();
	reading = read_records();
	ck_assert(!reading.ended && !reading.stdout_ended);
	ck_assert_uint_eq(reading.content, 100000);
	free(data);
}
END_TEST

Suite *
test_suite(void)
{
	Suite *suite = suite_create("record");
	TCase *tc = tcase_create("record");

	tcase_add_checked_fixture(tc, open_both, close_both);
	tcase_set_timeout(tc, 300);
	tcase_add_test(tc, a_short_answer_is_one_record_and_its_end);
	tcase_add_test(tc, an_empty_answer_is_an_end_only);
	tcase_add_loop_test(tc, answers_of_every_size_come_out_whole, 0,
	    (int)(sizeof(sizes) / sizeof(sizes[0])));
	tcase_add_loop_test(tc, what_is_put_last_brings_its_end, 0,
	    (int)(sizeof(sizes) / sizeof(sizes[0])));
	tcase_add_test(tc, pieces_of_any_size_come_out_in_order);
	tcase_add_test(tc, partial_writes_are_gone_on_with);
	tcase_add_test(tc, a_peer_that_has_gone_is_told_without_a_signal);
	tcase_add_test(tc, a_peer_may_leave_before_the_end_of_a_long_answer);
	tcase_add_test(tc, a_peer_that_takes_nothing_is_given_up);
	tcase_add_loop_test(tc, limits_are_set_once_and_only_for_what_may_wait,
	    0, (int)(sizeof(sendings) / sizeof(sendings[0])));
	tcase_add_test(tc, a_failed_answer_has_no_end);
	suite_add_tcase(suite, tc);
	return suite;
}
