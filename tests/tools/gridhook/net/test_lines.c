#include "tools/gridhook/net/lines.h"

#include <stdio.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include "tests/support/quiet.h"
#include "tests/support/run.h"
#include "tests/support/scratch.h"

#define LINE_MAX_BYTES 1000
#define OUT_MAX 100000

static struct loop *loop;
static struct lines lines;
static int peer = -1;
static char got[4096];
static const char *ended;

static bool
on_line(struct lines *lines_, struct span line)
{
	size_t len = strlen(got);

	ck_assert_ptr_eq(lines_, &lines);
	snprintf(got + len, sizeof(got) - len, "%.*s|", SPAN_ARG(line));
	return true;
}

static void
on_ended(struct lines *lines_, const char *why)
{
	ended = why;
	lines_close(lines_);
}

static void
set_up(void)
{
	int ends[2];

	scratch_make();
	quiet_begin();
	ck_assert_int_eq(loop_open(&loop), ERR_OK);
	ck_assert_int_eq(
	    socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends), 0);
	lines.line = on_line;
	lines.ended = on_ended;
	ck_assert_int_eq(
	    lines_open(&lines, loop, ends[0], LINE_MAX_BYTES, OUT_MAX), ERR_OK);
	peer = ends[1];
	got[0] = '\0';
	ended = NULL;
}

static void
tear_down(void)
{
	if (ended == NULL)
		lines_close(&lines);
	if (peer >= 0)
		close(peer);
	loop_close(loop);
	quiet_end();
	scratch_remove();
}

static void
say(const char *text)
{
	ck_assert_int_eq(
	    send(peer, text, strlen(text), MSG_NOSIGNAL), strlen(text));
	ck_assert_int_eq(loop_once(loop, 1000), ERR_OK);
}

START_TEST(lines_come_whole_however_they_are_cut)
{
	say("one\ntw");
	ck_assert_str_eq(got, "one|");
	say("o\r\n\n\nthree");
	ck_assert_str_eq(got, "one|two|");
	say("\n");
	ck_assert_str_eq(got, "one|two|three|");
}
END_TEST

START_TEST(line_without_end_is_cut_off)
{
	char bytes[4097];

	memset(bytes, 'x', sizeof(bytes) - 1);
	bytes[sizeof(bytes) - 1] = '\0';
	for (int i = 0; i < 100 && ended == NULL; i++)
		say(bytes);
	ck_assert_ptr_nonnull(ended);
	ck_assert_str_eq(ended, "line too long");
	ck_assert_str_eq(got, "");
}
END_TEST

START_TEST(peer_that_takes_nothing_is_cut_off_and_told_later)
{
	char bytes[1000];

	memset(bytes, 'x', sizeof(bytes));
	for (int i = 0; i < 1000; i++)
		lines_send(&lines, span_make(bytes, sizeof(bytes)));
	ck_assert_ptr_null(ended);
	ck_assert_uint_le(lines_waiting(&lines), OUT_MAX);
	ck_assert_int_eq(loop_once(loop, 1000), ERR_OK);
	ck_assert_ptr_nonnull(ended);
}
END_TEST

START_TEST(what_waits_goes_out_as_the_peer_takes_it_and_then_the_end)
{
	char bytes[900], in[65536];
	size_t sent = 0, taken = 0;
	ssize_t len;
	int small = 4096;

	setsockopt(lines.io.fd, SOL_SOCKET, SO_SNDBUF, &small, sizeof(small));
	memset(bytes, 'x', sizeof(bytes));
	for (; sent < 60; sent++)
		lines_send(&lines, span_make(bytes, sizeof(bytes)));
	ck_assert_uint_gt(lines_waiting(&lines), 0);
	lines_end(&lines);
	lines_send(&lines, SPAN("not any more"));
	while (taken < sent * (sizeof(bytes) + 1)) {
		len = recv(peer, in, sizeof(in), MSG_DONTWAIT);
		if (len > 0)
			taken += (size_t)len;
		else
			ck_assert_int_eq(loop_once(loop, 100), ERR_OK);
	}
	ck_assert_int_eq(recv(peer, in, sizeof(in), 0), 0);
	ck_assert_uint_eq(taken, sent * (sizeof(bytes) + 1));
}
END_TEST

START_TEST(peer_that_leaves_is_told_once)
{
	close(peer);
	peer = -1;
	ck_assert_int_eq(loop_once(loop, 1000), ERR_OK);
	ck_assert_str_eq(ended, "closed");
}
END_TEST

START_TEST(socket_is_for_its_owner_and_replaces_a_dead_one)
{
	char path[200];
	struct stat stat_;
	int fd, second, client;

	snprintf(path, sizeof(path), "%s", scratch_path("run/x.sock"));
	ck_assert_int_eq(lines_listen(&fd, path), ERR_OK);
	ck_assert_int_eq(stat(path, &stat_), 0);
	ck_assert_uint_eq(stat_.st_mode & 0777, 0600);
	ck_assert_int_eq(stat(scratch_path("run"), &stat_), 0);
	ck_assert_uint_eq(stat_.st_mode & 0777, 0700);
	ck_assert_int_eq(lines_listen(&second, path), ERR_BUSY);
	ck_assert_int_eq(second, -1);
	client = lines_connect(path);
	ck_assert_int_ge(client, 0);
	/* The one that asked whether somebody is alive comes first. */
	close(lines_accept(fd));
	second = lines_accept(fd);
	ck_assert_int_ge(second, 0);
	close(second);
	close(client);
	close(fd); /* dead, and its socket is left */
	ck_assert_int_eq(lines_connect(path), -1);
	ck_assert_int_eq(lines_listen(&fd, path), ERR_OK);
	lines_unlisten(fd, path);
	ck_assert_int_ne(access(path, F_OK), 0);
}
END_TEST

START_TEST(folder_that_others_can_write_to_is_refused)
{
	int fd;

	ck_assert_int_eq(mkdir(scratch_path("open"), 0700), 0);
	ck_assert_int_eq(chmod(scratch_path("open"), 0777), 0);
	ck_assert_int_eq(
	    lines_listen(&fd, scratch_path("open/x.sock")), ERR_SYSTEM);
	ck_assert_int_eq(fd, -1);
	ck_assert_int_eq(symlink("/tmp", scratch_path("link")), 0);
	ck_assert_int_eq(
	    lines_listen(&fd, scratch_path("link/x.sock")), ERR_SYSTEM);
}
END_TEST

Suite *
test_suite(void)
{
	Suite *suite = suite_create("gridhook lines");
	TCase *tc = tcase_create("lines");

	tcase_add_checked_fixture(tc, set_up, tear_down);
	tcase_add_test(tc, lines_come_whole_however_they_are_cut);
	tcase_add_test(tc, line_without_end_is_cut_off);
	tcase_add_test(tc, peer_that_takes_nothing_is_cut_off_and_told_later);
	tcase_add_test(
	    tc, what_waits_goes_out_as_the_peer_takes_it_and_then_the_end);
	tcase_add_test(tc, peer_that_leaves_is_told_once);
	tcase_add_test(tc, socket_is_for_its_owner_and_replaces_a_dead_one);
	tcase_add_test(tc, folder_that_others_can_write_to_is_refused);
	suite_add_tcase(suite, tc);
	return suite;
}
