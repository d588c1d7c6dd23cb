#include "common/sink.h"

#include <fcntl.h>
#include <limits.h>
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <unistd.h>

#include "tests/support/run.h"

static struct iovec
piece(const char *text)
{
	return (struct iovec){(void *)(uintptr_t)text, strlen(text)};
}

START_TEST(a_buffer_takes_all_pieces)
{
	struct iovec pieces[] = {piece("abc"), {NULL, 0}, piece("def")};
	struct buf buf;
	struct sink sink;

	buf_init(&buf, 100);
	sink = sink_to_buf(&buf);
	ck_assert_int_eq(sink.put(&sink, pieces, 3), ERR_OK);
	ck_assert_int_eq(sink_put(&sink, SPAN("!")), ERR_OK);
	ck_assert_int_eq(sink_put(&sink, span_make(NULL, 0)), ERR_OK);
	ck_assert(span_eq(buf_span(&buf), SPAN("abcdef!")));
	buf_fini(&buf);
}
END_TEST

START_TEST(a_full_buffer_refuses)
{
	struct buf buf;
	struct sink sink;

	buf_init(&buf, 4);
	sink = sink_to_buf(&buf);
	ck_assert_int_eq(sink_put(&sink, SPAN("abc")), ERR_OK);
	ck_assert_int_eq(sink_put(&sink, SPAN("de")), ERR_TOO_LARGE);
	buf_fini(&buf);
}
END_TEST

/* Reads to the end of `fd` and sums up what came. */
struct reader {
	int fd;
	size_t len;
	unsigned long sum;
};

static void *
read_all(void *arg)
{
	struct reader *reader = arg;
	unsigned char chunk[777];
	ssize_t len;
	sigset_t all;

	/* Only the writer is to be interrupted. */
	sigfillset(&all);
	pthread_sigmask(SIG_BLOCK, &all, NULL);
	while ((len = read(reader->fd, chunk, sizeof(chunk))) > 0) {
		for (ssize_t i = 0; i < len; i++)
			reader->sum = reader->sum * 31 + chunk[i];
		reader->len += (size_t)len;
	}
	return NULL;
}

static unsigned long
sum_of(const unsigned char *data, size_t len)
{
	unsigned long sum = 0;

	while (len-- > 0)
		sum = sum * 31 + *data++;
	return sum;
}

static void
do_nothing(int signum)
{
	(void)signum;
}

/* A timer that interrupts the writes all the time, without SA_RESTART. */
static void
interrupt_every(long usec)
{
	struct sigaction action = {.sa_handler = do_nothing};
	struct itimerval timer = {{0, usec}, {0, usec}};

	ck_assert_int_eq(sigaction(SIGALRM, &action, NULL), 0);
	ck_assert_int_eq(setitimer(ITIMER_REAL, &timer, NULL), 0);
}

/*
 * A megabyte through a pipe that holds 64 KB: partial writes and EINTR, and
 * more pieces than one writev() takes.
 */
START_TEST(a_descriptor_gets_every_byte)
{
	enum { COUNT = 3000, EACH = 400 };
	static unsigned char data[COUNT * EACH];
	static struct iovec pieces[COUNT + 1];
	struct reader reader = {0};
	pthread_t thread;
	struct sink sink;
	int ends[2];

	ck_assert_int_gt(COUNT, IOV_MAX);
	for (size_t i = 0; i < sizeof(data); i++)
		data[i] = (unsigned char)(i * 7 + i / 251);
	for (size_t i = 0; i < COUNT; i++)
		pieces[i] = (struct iovec){data + i * EACH, EACH};
	pieces[COUNT] = (struct iovec){NULL, 0};
	ck_assert_int_eq(pipe(ends), 0);
	reader.fd = ends[0];
	ck_assert_int_eq(pthread_create(&thread, NULL, read_all, &reader), 0);
	interrupt_every(200);
	sink = sink_to_fd(ends[1]);
	ck_assert_int_eq(sink.put(&sink, pieces, COUNT + 1), ERR_OK);
	interrupt_every(0);
	close(ends[1]);
	pthread_join(thread, NULL);
	close(ends[0]);
	ck_assert_uint_eq(reader.len, sizeof(data));
	ck_assert_uint_eq(reader.sum, sum_of(data, sizeof(data)));
}
END_TEST

START_TEST(a_reader_that_left_is_told)
{
	struct sink sink;
	int ends[2];

	signal(SIGPIPE, SIG_IGN);
	ck_assert_int_eq(pipe(ends), 0);
	close(ends[0]);
	sink = sink_to_fd(ends[1]);
	ck_assert_int_eq(sink_put(&sink, span_make(NULL, 0)), ERR_OK);
	ck_assert_int_eq(sink_put(&sink, SPAN("abc")), ERR_CLOSED);
	close(ends[1]);
}
END_TEST

START_TEST(a_full_disk_is_told)
{
	int fd = open("/dev/full", O_WRONLY);
	struct sink sink = sink_to_fd(fd);

	ck_assert_int_ge(fd, 0);
	ck_assert_int_eq(sink_put(&sink, SPAN("abc")), ERR_NO_SPACE);
	close(fd);
}
END_TEST

START_TEST(a_socket_that_takes_nothing_times_out)
{
	struct timeval limit = {0, 20000};
	size_t len = (size_t)8 << 20;
	char *data = calloc(1, len);
	struct sink sink;
	int ends[2];

	ck_assert_int_eq(socketpair(AF_UNIX, SOCK_STREAM, 0, ends), 0);
	ck_assert_int_eq(
	    setsockopt(ends[1], SOL_SOCKET, SO_SNDTIMEO, &limit, sizeof(limit)),
	    0);
	sink = sink_to_fd(ends[1]);
	ck_assert_int_eq(sink_put(&sink, span_make(data, len)), ERR_TIMED_OUT);
	free(data);
	close(ends[0]);
	close(ends[1]);
}
END_TEST

START_TEST(a_descriptor_that_is_none_is_refused)
{
	struct sink sink = sink_to_fd(-1);

	ck_assert_int_eq(sink_put(&sink, SPAN("abc")), ERR_SYSTEM);
}
END_TEST

Suite *
test_suite(void)
{
	Suite *suite = suite_create("sink");
	TCase *tc = tcase_create("sink");

	tcase_add_test(tc, a_buffer_takes_all_pieces);
	tcase_add_test(tc, a_full_buffer_refuses);
	tcase_add_test(tc, a_descriptor_gets_every_byte);
	tcase_add_test(tc, a_reader_that_left_is_told);
	tcase_add_test(tc, a_full_disk_is_told);
	tcase_add_test(tc, a_socket_that_takes_nothing_times_out);
	tcase_add_test(tc, a_descriptor_that_is_none_is_refused);
	suite_add_tcase(suite, tc);
	return suite;
}
