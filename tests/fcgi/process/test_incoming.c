/* tests/fcgi/process/test_incoming.c: fcgi/process/incoming.h */
#include "fcgi/process/incoming.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "tests/support/run.h"

static struct incoming in;
static struct buf sent, body;
static int pair[2];

static void
make(void)
{
	ck_assert_int_eq(socketpair(AF_UNIX, SOCK_STREAM, 0, pair), 0);
	ck_assert_int_eq(incoming_init(&in), ERR_OK);
	buf_init(&sent, (size_t)64 << 20);
	buf_init(&body, (size_t)1 << 20);
}

static void
drop(void)
{
	incoming_fini(&in);
	buf_fini(&sent);
	buf_fini(&body);
	close(pair[0]);
	close(pair[1]);
}

static void
add_record(
    unsigned type, unsigned id, const void *content, size_t len, size_t padding)
{
	static const char zeros[255];
	const unsigned char head[8] = {1, (unsigned char)type,
	    (unsigned char)(id >> 8), (unsigned char)id,
	    (unsigned char)(len >> 8), (unsigned char)len,
	    (unsigned char)padding, 0};

	buf_add(&sent, head, sizeof(head));
	buf_add(&sent, content, len);
	buf_add(&sent, zeros, padding);
}

#define REQUEST 258
#define BEGIN_REQUEST "\0\1\1\0\0\0\0\0"

static void
add_begin(void)
{
	add_record(1, REQUEST, BEGIN_REQUEST, 8, 0);
}

struct sending {
	pthread_t id;
	size_t step;
};

/* Ends with the end of what is sent. */
static void *
send_steps(void *context)
{
	const struct sending *sending = context;

	for (size_t at = 0; at < sent.len;) {
		size_t len = sent.len - at < sending->step ? sent.len - at
							   : sending->step;
		ssize_t did = send(pair[0], sent.data + at, len, MSG_NOSIGNAL);

		if (did <= 0)
			break; /* refused before the end */
		at += (size_t)did;
	}
	shutdown(pair[0], SHUT_WR);
	return NULL;
}

static void
begin_sending(struct sending *sending, size_t step)
{
	sending->step = step;
	ck_assert_int_eq(
	    pthread_create(&sending->id, NULL, send_steps, sending), 0);
}

static enum err
take(size_t step)
{
	struct sending sending;
	enum err err;

	begin_sending(&sending, step);
	err = incoming_head(&in, pair[1]);
	if (err != ERR_OK)
		shutdown(pair[1], SHUT_RDWR);
	pthread_join(sending.id, NULL);
	return err;
}

static const size_t steps[] = {1, 7, 8, 9, 1000, 1 << 20};

/* --- what nginx sends ----------------------------------------------------- */

#define PAIR "\4\5NAMEvalue"
#define HEAD \
	"\1\1\1\2\0\10\0\0" BEGIN_REQUEST "\1\4\1\2\0\13\0\0" PAIR \
	"\1\4\1\2\0\0\0\0"

START_TEST(head_is_one_record_however_it_came)
{
	struct sending sending;

	add_begin();
	if (_i % 2 == 0)
		add_record(4, REQUEST, PAIR, 11, 5);
	else
		for (size_t i = 0; i < 11; i++)
			add_record(4, REQUEST, &PAIR[i], 1, i * 23);
	add_record(4, REQUEST, "", 0, 3);
	add_record(5, REQUEST, "a body", 6, 2);
	add_record(5, REQUEST, " in two", 7, 0);
	add_record(5, REQUEST, "", 0, 0);
	begin_sending(&sending, steps[_i / 2]);
	ck_assert_int_eq(incoming_head(&in, pair[1]), ERR_OK);
	ck_assert_uint_eq(in.id, REQUEST);
	ck_assert(span_eq(in.head, (struct span){HEAD, sizeof(HEAD) - 1}));
	ck_assert_int_eq(incoming_body(&in, &body), ERR_OK);
	ck_assert(span_eq(buf_span(&body), span_of("a body in two")));
	pthread_join(sending.id, NULL);
}
END_TEST

static char *
one_pair(size_t len)
{
	char *text = malloc(len);
	size_t value = len - 6;

	ck_assert_ptr_nonnull(text);
	memset(text, 'v', len);
	memcpy(text,
	    (const char[]){1, (char)(0x80 | value >> 24), (char)(value >> 16),
		(char)(value >> 8), (char)value, 'N'},
	    6);
	return text;
}

START_TEST(most_that_nginx_can_send_is_taken)
{
	char *text = one_pair(INCOMING_PARAMS_MAX);
	struct sending sending;

	add_begin();
	add_record(4, REQUEST, text, INCOMING_PARAMS_MAX, 255);
	add_record(4, REQUEST, "", 0, 255);
	for (int i = 0; i < 17; i++)
		add_record(5, REQUEST, text, INCOMING_PARAMS_MAX, 255);
	add_record(5, REQUEST, "", 0, 255);
	begin_sending(&sending, steps[_i]);
	ck_assert_int_eq(incoming_head(&in, pair[1]), ERR_OK);
	ck_assert_uint_eq(in.head.len, 32 + INCOMING_PARAMS_MAX);
	ck_assert(memcmp(in.head.ptr + 24, text, INCOMING_PARAMS_MAX) == 0);
	/* Beyond the buffer's ceiling it is read to its end all the same. */
	ck_assert_int_eq(incoming_body(&in, &body), ERR_OK);
	ck_assert_int_eq(body.err, ERR_TOO_LARGE);
	pthread_join(sending.id, NULL);
	free(text);
}
END_TEST

START_TEST(no_parameters_are_none)
{
	add_begin();
	add_record(4, REQUEST, "", 0, 0);
	ck_assert_int_eq(take(1), ERR_OK);
	ck_assert_uint_eq(in.head.len, 24);
}
END_TEST

/* --- what it does not ----------------------------------------------------- */

/* Behind BEGIN_REQUEST: PARAMS with this content, and their end. */
static const struct {
	const char *content;
	size_t len;
} hostile[] = {
    {"\4", 1},
    {"\4\5NAMEvalu", 10},
    {"\200", 1},
    {"\200\0\0\4", 4},
    {"\200\0\0\4\200\0\0", 7},
    {"\377\377\377\377\377\377\377\377NAME", 12},
    {"\177\377\377\377\177", 5},
    {"\200\1\0\0\200\1\0\0NAME", 12},
    {"\4\377\377\377\373NAME", 9},
    {"\4\5NAMEvalue\200\0\0\1\377\377\377\377N", 20},
};

START_TEST(lengths_beyond_the_parameters_are_refused)
{
	add_begin();
	add_record(4, REQUEST, hostile[_i].content, hostile[_i].len, 0);
	add_record(4, REQUEST, "", 0, 0);
	ck_assert_int_eq(take(3), ERR_BAD_INPUT);
	ck_assert_ptr_nonnull(in.why);
}
END_TEST

static const struct {
	const char *bytes;
	size_t len;
	bool begun; /* behind BEGIN_REQUEST */
} records[] = {
    {"\2\1\1\2\0\10\0\0" BEGIN_REQUEST, 16, false}, /* version */
    {"\1\1\0\0\0\10\0\0" BEGIN_REQUEST, 16, false}, /* request 0 */
    {"\1\1\1\2\0\11\0\0" BEGIN_REQUEST "x", 17, false},
    {"\1\1\1\2\0\10\0\0\0\2\1\0\0\0\0\0", 16, false}, /* role */
    {"\1\11\0\0\0\17\0\0\15\0FCGI_MAX_CONN", 23, false}, /* GET_VALUES */
    {"\1\11\0\0\0\10\0\0\377\377\377\377\377\377\377\377", 16, true},
    {"\1\11\1\2\0\0\0\0", 8, true},
    {"\1\1\1\2\0\10\0\0" BEGIN_REQUEST, 16, true},
    {"\1\2\1\2\0\0\0\0", 8, true}, /* ABORT_REQUEST */
    {"\1\5\1\2\0\0\0\0", 8, true}, /* STDIN before PARAMS' end */
    {"\1\4\1\3\0\0\0\0", 8, true}, /* another request's */
    {"GET / HTTP/1.1\r\n\r\n", 18, false},
};

START_TEST(other_records_are_refused)
{
	if (records[_i].begun)
		add_begin();
	buf_add(&sent, records[_i].bytes, records[_i].len);
	ck_assert_int_eq(take(1), ERR_BAD_INPUT);
	ck_assert_ptr_nonnull(in.why);
}
END_TEST

START_TEST(other_records_within_the_body_are_refused)
{
	struct sending sending;

	if (!records[_i].begun || records[_i].bytes[1] == 5)
		return;
	add_begin();
	add_record(4, REQUEST, "", 0, 0);
	add_record(5, REQUEST, "part", 4, 0);
	buf_add(&sent, records[_i].bytes, records[_i].len);
	begin_sending(&sending, 1000);
	ck_assert_int_eq(incoming_head(&in, pair[1]), ERR_OK);
	ck_assert_int_eq(incoming_body(&in, &body), ERR_BAD_INPUT);
	pthread_join(sending.id, NULL);
}
END_TEST

START_TEST(more_parameters_than_the_ceiling_are_refused)
{
	char *text = one_pair(INCOMING_PARAMS_MAX);

	add_begin();
	for (int i = 0; i < 40; i++)
		add_record(4, REQUEST, text, INCOMING_PARAMS_MAX, 0);
	free(text);
	ck_assert_int_eq(take(1000), ERR_BAD_INPUT);
}
END_TEST

START_TEST(end_before_the_end_is_closed)
{
	size_t whole;

	add_begin();
	add_record(4, REQUEST, PAIR, 11, 5);
	add_record(4, REQUEST, "", 0, 0);
	whole = sent.len;
	for (size_t len = 0; len < whole; len++) {
		sent.len = len;
		ck_assert_int_eq(take(1000), ERR_CLOSED);
		close(pair[0]);
		close(pair[1]);
		ck_assert_int_eq(socketpair(AF_UNIX, SOCK_STREAM, 0, pair), 0);
	}
}
END_TEST

Suite *
test_suite(void)
{
	Suite *suite = suite_create("incoming");
	TCase *good = tcase_create("good");
	TCase *bad = tcase_create("bad");

	tcase_add_checked_fixture(good, make, drop);
	tcase_add_loop_test(good, head_is_one_record_however_it_came, 0,
	    2 * sizeof(steps) / sizeof(steps[0]));
	tcase_add_loop_test(good, most_that_nginx_can_send_is_taken, 4,
	    sizeof(steps) / sizeof(steps[0]));
	tcase_add_test(good, no_parameters_are_none);
	suite_add_tcase(suite, good);
	tcase_add_checked_fixture(bad, make, drop);
	tcase_add_loop_test(bad, lengths_beyond_the_parameters_are_refused, 0,
	    sizeof(hostile) / sizeof(hostile[0]));
	tcase_add_loop_test(bad, other_records_are_refused, 0,
	    sizeof(records) / sizeof(records[0]));
	tcase_add_loop_test(bad, other_records_within_the_body_are_refused, 0,
	    sizeof(records) / sizeof(records[0]));
	tcase_add_test(bad, more_parameters_than_the_ceiling_are_refused);
	tcase_add_test(bad, end_before_the_end_is_closed);
	suite_add_tcase(suite, bad);
	return suite;
}
