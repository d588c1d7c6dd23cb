/*
 * Files from holders that cut, lie, send too much, stall and refuse: what gets
 * its name is the file.
 */
#include "lmdb-schema/store/files.h"

#include <check.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "common/hex.h"
#include "common/log.h"
#include "common/sha256.h"
#include "lmdb-schema/store/bucket.h"
#include "tests/lmdb-schema/store/stub_holder.h"
#include "tests/support/quiet.h"
#include "tests/support/run.h"
#include "tests/support/scratch.h"

#define BYTES ((size_t)300000)

static char *bytes;
static struct span file;
static struct files_id id;
static struct files_from from;
static struct fault fault;

static void
begin(void)
{
	uint8_t hash[SHA256_LEN];
	uint32_t number = 1;

	scratch_make();
	quiet_begin();
	bytes = malloc(BYTES);
	ck_assert_ptr_nonnull(bytes);
	for (size_t i = 0; i < BYTES; i++) {
		number = number * 1664525 + 1013904223;
		bytes[i] = (char)(number >> 24);
	}
	file = span_make(bytes, BYTES);
	sha256_hash(hash, file);
	hex_text(id.name, hash, sizeof(hash));
	id.bytes = BYTES;
	from = (struct files_from){
	    .token = "Bearer right", .trust = {"", "", ""}, .stall_s = 30};
	fault_clear(&fault);
}

static void
end(void)
{
	quiet_end();
	scratch_remove();
}

static void
add(enum holder_weather weather)
{
	from.holders[from.count++] = stub_holder_start(weather, file);
}

static enum err
fetch(void)
{
	return files_fetch(scratch_dir(), &id, &from, &fault);
}

static void
must_have(void)
{
	char path[FS_PATH_MAX];
	struct files_id found;
	struct stat st;

	ck_assert(files_have(scratch_dir(), &id));
	ck_assert_int_eq(files_path(path, scratch_dir(), id.name, ""), ERR_OK);
	ck_assert_int_eq(files_sum(&found, path), ERR_OK);
	ck_assert_str_eq(found.name, id.name);
	ck_assert_int_eq(stat(path, &st), 0);
	ck_assert_uint_eq(st.st_mode & 0777, 0644);
	ck_assert_int_eq(
	    files_path(path, scratch_dir(), id.name, ".part"), ERR_OK);
	ck_assert_int_ne(access(path, F_OK), 0);
}

START_TEST(file_comes_whole)
{
	add(HOLDER_SOUND);
	ck_assert_int_eq(fetch(), ERR_OK);
	must_have();
	ck_assert_int_eq(fetch(), ERR_OK);
	ck_assert_uint_eq(stub_holder_asked(0), 1);
	ck_assert_int_eq(quiet_lines(), 0);
}
END_TEST

/* _i: the weather at the first of two holders. */
START_TEST(whatever_one_holder_does_the_other_gives_it)
{
	from.stall_s = _i == HOLDER_STALLS ? 1 : 30;
	add((enum holder_weather)_i);
	add(HOLDER_SOUND);
	ck_assert_msg(fetch() == ERR_OK, "%s", fault.message);
	must_have();
}
END_TEST

/* And whatever the second one does, which goes on from the first one's part. */
START_TEST(whatever_the_next_does_a_third_gives_it)
{
	from.stall_s = _i == HOLDER_STALLS ? 1 : 30;
	add(HOLDER_CUTS);
	add((enum holder_weather)_i);
	add(HOLDER_SOUND);
	ck_assert_msg(fetch() == ERR_OK, "%s", fault.message);
	must_have();
}
END_TEST

START_TEST(no_holder_alone_that_fails_gives_it)
{
	static const enum holder_weather never[] = {HOLDER_LIES,
	    HOLDER_SENDS_MORE, HOLDER_DENIES, HOLDER_HAS_IT_NOT, HOLDER_IS_ILL,
	    HOLDER_SAYS_NOTHING};

	add(never[_i]);
	ck_assert_int_eq(fetch(), ERR_AWAY);
	ck_assert(!files_have(scratch_dir(), &id));
	ck_assert(fault_is_set(&fault));
	/* A denial is told once by the next try: its reason is the fault's. */
	ck_assert(never[_i] == HOLDER_DENIES ? quiet_lines() == 0
					     : quiet_lines() > 0);
	ck_assert_uint_eq(stub_holder_asked(0), 1);
}
END_TEST

START_TEST(a_cut_is_resumed_where_it_was)
{
	add(HOLDER_CUTS);
	ck_assert_int_eq(fetch(), ERR_OK);
	must_have();
	ck_assert_uint_eq(stub_holder_sent(0), BYTES);
}
END_TEST

/* _i: one that refuses in between, the bytes that have come stay. */
START_TEST(a_refusal_leaves_what_has_come)
{
	static const enum holder_weather refusals[] = {
	    HOLDER_DENIES, HOLDER_FORBIDS, HOLDER_HAS_IT_NOT, HOLDER_IS_ILL};

	add(HOLDER_CUTS);
	add(refusals[_i]);
	ck_assert_int_eq(fetch(), ERR_OK);
	must_have();
	ck_assert_uint_eq(stub_holder_sent(0), BYTES);
}
END_TEST

START_TEST(who_lies_is_told_and_not_asked_again)
{
	add(HOLDER_LIES);
	add(HOLDER_CUTS);
	ck_assert_int_eq(fetch(), ERR_OK);
	must_have();
	ck_assert_uint_eq(stub_holder_asked(0), 1);
	ck_assert_int_gt(quiet_lines(), 0);
}
END_TEST

START_TEST(who_has_not_the_token_gets_nothing)
{
	add(HOLDER_SOUND);
	from.token = "Bearer wrong";
	ck_assert_int_eq(fetch(), ERR_AWAY);
	ck_assert_str_eq(fault.place, from.holders[0]);
	ck_assert_ptr_nonnull(strstr(fault.message,
	    "it answered 401: the secret of this node is not that of http://"));
	ck_assert_ptr_nonnull(strstr(fault.message, "secret_file"));
	ck_assert_int_eq(quiet_lines(), 0);
}
END_TEST

/* A file of which one holder has no copy may be at the next one. */
START_TEST(a_holder_without_the_file_is_logged_where_nobody_has_it)
{
	add(HOLDER_HAS_IT_NOT);
	add(HOLDER_HAS_IT_NOT);
	if (_i == 1)
		add(HOLDER_SOUND);
	ck_assert_int_eq(fetch(), _i == 1 ? ERR_OK : ERR_AWAY);
	ck_assert_int_eq(quiet_lines(), _i == 1 ? 0 : 1);
}
END_TEST

START_TEST(nginx_that_may_not_read_the_files_is_told_with_the_command)
{
	add(HOLDER_FORBIDS);
	ck_assert_int_eq(fetch(), ERR_AWAY);
	ck_assert_str_eq(fault.place, from.holders[0]);
	ck_assert_ptr_nonnull(strstr(fault.message,
	    "it answered 403: nginx may not read the folder files of http://"));
	ck_assert_ptr_nonnull(strstr(fault.message, "systemd-tmpfiles"));
	ck_assert_int_eq(quiet_lines(), 0);
}
END_TEST

/* Nobody else tells of it. */
START_TEST(a_denial_is_logged_where_another_holder_gives_the_file)
{
	add(HOLDER_DENIES);
	add(HOLDER_SOUND);
	ck_assert_int_eq(fetch(), ERR_OK);
	must_have();
	ck_assert_int_eq(quiet_lines(), 1);
}
END_TEST

/* As a node that lacks a snapshot tries again every few seconds. */
START_TEST(what_a_holder_answers_is_logged_once)
{
	static const enum holder_weather alike[] = {
	    HOLDER_FORBIDS, HOLDER_HAS_IT_NOT, HOLDER_IS_ILL};

	add(alike[_i]);
	add(HOLDER_HAS_IT_NOT);
	for (unsigned i = 0; i < 4; i++) {
		fault_clear(&fault);
		ck_assert_int_eq(fetch(), ERR_AWAY);
	}
	ck_assert_int_eq(quiet_lines(), alike[_i] == HOLDER_IS_ILL ? 2 : 1);
}
END_TEST

/* _i: whether it refuses, which the log says the end of, too. */
START_TEST(a_change_of_a_holder_is_logged)
{
	const enum holder_weather ill = _i == 1 ? HOLDER_DENIES : HOLDER_IS_ILL;

	log_open("test", LOG_INFO_);
	add(ill);
	add(HOLDER_SOUND);
	for (unsigned i = 0; i < 3; i++) {
		for (unsigned j = 0; j < 2; j++) {
			ck_assert_int_eq(fetch(), ERR_OK);
			files_drop(scratch_dir(), id.name);
			ck_assert_int_eq(quiet_lines(), j == 0 ? 1 : 0);
		}
		stub_holder_set(0, HOLDER_SOUND);
		ck_assert_int_eq(fetch(), ERR_OK);
		files_drop(scratch_dir(), id.name);
		ck_assert_int_eq(quiet_lines(), _i);
		stub_holder_set(0, ill);
	}
}
END_TEST

/* A node that is down says less than a secret that is wrong. */
START_TEST(a_denial_is_the_reason_whatever_others_answer)
{
	add(HOLDER_DENIES);
	from.holders[from.count++] = "http://127.0.0.1:1";
	ck_assert_int_eq(fetch(), ERR_AWAY);
	ck_assert_ptr_nonnull(strstr(fault.message, "secret_file"));
}
END_TEST

START_TEST(a_holder_that_nobody_listens_at_is_passed_over)
{
	from.holders[from.count++] = "http://127.0.0.1:1";
	add(HOLDER_SOUND);
	ck_assert_int_eq(fetch(), ERR_OK);
	must_have();
}
END_TEST

/* The words of a log that is out of reach are of another trouble. */
START_TEST(where_nobody_listens_the_reason_is_told)
{
	from.holders[from.count++] = "http://127.0.0.1:1";
	ck_assert_int_eq(fetch(), ERR_AWAY);
	ck_assert_ptr_nonnull(strstr(fault.message, "connect"));
	ck_assert_ptr_null(strstr(fault.message, "stored"));
}
END_TEST

/* For the next file: a dead host takes seconds to say nothing. */
START_TEST(who_gave_no_answer_is_asked_last_from_then_on)
{
	from.holders[from.count++] = "http://127.0.0.1:1";
	add(HOLDER_SOUND);
	ck_assert_int_eq(fetch(), ERR_OK);
	ck_assert_int_gt(quiet_lines(), 0);
	files_drop(scratch_dir(), id.name);
	ck_assert_int_eq(fetch(), ERR_OK);
	ck_assert_int_eq(quiet_lines(), 0);
	ck_assert_uint_eq(stub_holder_asked(0), 2);
}
END_TEST

START_TEST(without_a_holder_it_is_said)
{
	ck_assert_int_eq(fetch(), ERR_AWAY);
	ck_assert(fault_is_set(&fault));
}
END_TEST

/* A part that is of another file, or longer than this one. */
START_TEST(a_part_that_is_none_is_made_anew)
{
	char name[128];

	add(HOLDER_SOUND);
	ck_assert_int_eq(mkdir(scratch_path("files"), 0755), 0);
	snprintf(name, sizeof(name), "files/%s.part", id.name);
	if (_i == 0)
		scratch_text(name, "of another file");
	else {
		int fd = open(scratch_path(name), O_RDWR | O_CREAT, 0600);

		ck_assert_int_ge(fd, 0);
		ck_assert_int_eq(ftruncate(fd, (off_t)BYTES + _i - 2), 0);
		close(fd);
	}
	ck_assert_int_eq(fetch(), ERR_OK);
	must_have();
}
END_TEST

/* The child is killed at any point of the transfer; then the file comes. */
START_TEST(a_kill_leaves_the_part_for_the_next)
{
	add(HOLDER_CUTS);
	for (unsigned i = 0; i < 20; i++) {
		pid_t pid = fork();

		ck_assert_int_ge(pid, 0);
		if (pid == 0)
			_exit(fetch() == ERR_OK ? 0 : 1);
		usleep(i * 1000);
		kill(pid, SIGKILL);
		ck_assert_int_eq(waitpid(pid, NULL, 0), pid);
		if (files_have(scratch_dir(), &id))
			must_have();
	}
	ck_assert_int_eq(fetch(), ERR_OK);
	must_have();
}
END_TEST

/* In another process, from the holder whose address comes by the pipe. */
static int
fetch_from(int pipe_fd)
{
	char holder[64] = "";

	if (read(pipe_fd, holder, sizeof(holder) - 1) <= 0)
		return 2;
	from.holders[from.count++] = holder;
	return fetch() == ERR_OK ? 0 : 1;
}

START_TEST(two_processes_fetch_it_once)
{
	int pipe_fds[2], status;
	size_t len;
	pid_t pid;

	/* Before the holder's thread, whose locks a child would have for good. */
	ck_assert_int_eq(pipe(pipe_fds), 0);
	pid = fork();
	ck_assert_int_ge(pid, 0);
	if (pid == 0)
		_exit(fetch_from(pipe_fds[0]));
	add(HOLDER_SOUND);
	len = strlen(from.holders[0]);
	ck_assert_int_eq(
	    write(pipe_fds[1], from.holders[0], len), (ssize_t)len);
	ck_assert_int_eq(fetch(), ERR_OK);
	ck_assert_int_eq(waitpid(pid, &status, 0), pid);
	ck_assert_int_eq(status, 0);
	close(pipe_fds[0]);
	close(pipe_fds[1]);
	must_have();
	ck_assert_uint_eq(stub_holder_sent(0), BYTES);
}
END_TEST

/* --- a bucket ------------------------------------------------------------- */

#define PIECE 65536

static struct bucket bucket;

static void
use_bucket(enum holder_weather weather)
{
	stub_holder_pieces(PIECE);
	bucket = (struct bucket){.folder = "grid",
	    .region = "r",
	    .key = "id",
	    .secret = "s",
	    .piece = PIECE,
	    .stall_s = weather == HOLDER_STALLS ? 1 : 30};
	snprintf(bucket.url, sizeof(bucket.url), "%s/bucket",
	    stub_holder_start(weather, file));
	from.bucket = &bucket;
}

START_TEST(file_comes_from_a_bucket_in_pieces)
{
	use_bucket(HOLDER_SOUND);
	ck_assert_msg(fetch() == ERR_OK, "%s", fault.message);
	must_have();
	ck_assert_uint_eq(stub_holder_asked(0), (BYTES + PIECE - 1) / PIECE);
	ck_assert_uint_eq(stub_holder_sent(0), BYTES);
}
END_TEST

/* _i: the weather. What has come of pieces is gone on with. */
START_TEST(whatever_a_bucket_does_what_has_its_name_is_the_file)
{
	enum err err;

	use_bucket((enum holder_weather)_i);
	err = fetch();
	if (err == ERR_OK)
		must_have();
	else
		ck_assert(!files_have(scratch_dir(), &id));
	if (_i == HOLDER_SOUND || _i == HOLDER_CUTS ||
	    _i == HOLDER_SENDS_LESS || _i == HOLDER_STALLS ||
	    _i == HOLDER_KNOWS_NO_RANGE)
		ck_assert_int_eq(err, ERR_OK);
	else if (_i != HOLDER_IS_ELSEWHERE)
		ck_assert_int_eq(err, ERR_AWAY);
	use_bucket(HOLDER_SOUND);
	ck_assert_msg(fetch() == ERR_OK, "%s", fault.message);
	must_have();
}
END_TEST

START_TEST(a_bucket_goes_on_in_the_middle_of_a_piece)
{
	char path[FS_PATH_MAX];
	FILE *part;

	ck_assert_int_eq(files_add_bytes(&(struct files_id){.bytes = 0},
			     scratch_dir(), SPAN("a folder")),
	    ERR_OK);
	ck_assert_int_eq(
	    files_path(path, scratch_dir(), id.name, ".part"), ERR_OK);
	part = fopen(path, "w");
	ck_assert_ptr_nonnull(part);
	ck_assert_uint_eq(fwrite(bytes, 1, PIECE + 1000, part), PIECE + 1000);
	ck_assert_int_eq(fclose(part), 0);
	use_bucket(HOLDER_SOUND);
	ck_assert_msg(fetch() == ERR_OK, "%s", fault.message);
	must_have();
	ck_assert_uint_eq(stub_holder_sent(0), BYTES - PIECE - 1000);
}
END_TEST

START_TEST(a_bucket_is_named_by_its_address)
{
	ck_assert(bucket_is_url(SPAN("https://s3.example:9000/grid.files")));
	ck_assert(bucket_is_url(SPAN("http://127.0.0.1/b")));
	ck_assert(!bucket_is_url(SPAN("https://s3.example")));
	ck_assert(!bucket_is_url(SPAN("https://s3.example/")));
	ck_assert(!bucket_is_url(SPAN("https://s3.example/a/b")));
	ck_assert(!bucket_is_url(SPAN("https://s3.example/a?b")));
	ck_assert(!bucket_is_url(SPAN("ftp://s3.example/b")));
	ck_assert(!bucket_is_url(SPAN("s3.example/b")));
	ck_assert(!bucket_is_url(SPAN("")));
}
END_TEST

START_TEST(an_added_file_is_a_link)
{
	struct stat a, b;
	char path[FS_PATH_MAX];
	struct files_id added;

	scratch_write("x", bytes, BYTES);
	ck_assert_int_eq(
	    files_add(&added, scratch_dir(), scratch_path("x")), ERR_OK);
	ck_assert_str_eq(added.name, id.name);
	ck_assert_uint_eq(added.bytes, BYTES);
	must_have();
	ck_assert_int_eq(
	    files_path(path, scratch_dir(), added.name, ""), ERR_OK);
	ck_assert_int_eq(stat(path, &a), 0);
	ck_assert_int_eq(stat(scratch_path("x"), &b), 0);
	ck_assert_uint_eq(a.st_ino, b.st_ino);
	ck_assert_int_eq(
	    files_add(&added, scratch_dir(), scratch_path("x")), ERR_OK);
	ck_assert_int_eq(
	    files_add_bytes(&added, scratch_dir(), SPAN("abc")), ERR_OK);
	ck_assert_str_eq(added.name,
	    "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
	ck_assert(files_have(scratch_dir(), &added));
}
END_TEST

START_TEST(a_name_is_64_small_digits)
{
	ck_assert(files_is_name(span_of(id.name)));
	ck_assert(!files_is_name(span_make(id.name, 63)));
	id.name[5] = 'A';
	ck_assert(!files_is_name(span_of(id.name)));
	ck_assert(!files_is_name(SPAN("../../etc/passwd")));
}
END_TEST

START_TEST(one_that_is_here_is_put_in_its_place)
{
	char place[FS_PATH_MAX], here[FS_PATH_MAX], aside[FS_PATH_MAX];
	struct files_id added;

	ck_assert_int_eq(fs_path(place, "%s/place", scratch_dir()), ERR_OK);
	ck_assert_int_eq(files_add_bytes(&added, scratch_dir(), file), ERR_OK);
	ck_assert_str_eq(added.name, id.name);
	ck_assert(!files_is_at(scratch_dir(), &id, place));
	/* Another file there, and what a kill has left. */
	ck_assert_int_eq(fs_replace(place, SPAN("old"), 0600), ERR_OK);
	ck_assert_int_eq(fs_path(aside, "%s.tmp", place), ERR_OK);
	ck_assert_int_eq(fs_replace(aside, SPAN("left"), 0600), ERR_OK);
	ck_assert(!files_is_sound(place, &id));
	for (unsigned i = 0; i < 2; i++) {
		ck_assert_int_eq(
		    files_place(scratch_dir(), &id, place), ERR_OK);
		ck_assert(files_is_at(scratch_dir(), &id, place));
		ck_assert(files_is_sound(place, &id));
	}
	/* The place keeps it when no other node needs it any more. */
	files_drop(scratch_dir(), id.name);
	files_drop(scratch_dir(), id.name);
	ck_assert_int_eq(files_path(here, scratch_dir(), id.name, ""), ERR_OK);
	ck_assert_int_ne(access(here, F_OK), 0);
	ck_assert(files_is_sound(place, &id));
	ck_assert_int_eq(files_place(scratch_dir(), &id, place), ERR_NOT_FOUND);
}
END_TEST

/* The threads of the stub live as long as the process. */
const bool run_forks = true;

Suite *
test_suite(void)
{
	Suite *suite = suite_create("files");
	TCase *tc = tcase_create("files");

	tcase_add_checked_fixture(tc, begin, end);
	tcase_set_timeout(tc, 120);
	tcase_add_test(tc, file_comes_whole);
	tcase_add_loop_test(tc, whatever_one_holder_does_the_other_gives_it, 0,
	    HOLDER_WEATHERS);
	tcase_add_loop_test(
	    tc, whatever_the_next_does_a_third_gives_it, 0, HOLDER_WEATHERS);
	tcase_add_loop_test(tc, no_holder_alone_that_fails_gives_it, 0, 6);
	tcase_add_test(tc, a_cut_is_resumed_where_it_was);
	tcase_add_loop_test(tc, a_refusal_leaves_what_has_come, 0, 4);
	tcase_add_test(tc, who_lies_is_told_and_not_asked_again);
	tcase_add_test(tc, who_has_not_the_token_gets_nothing);
	tcase_add_loop_test(
	    tc, a_holder_without_the_file_is_logged_where_nobody_has_it, 0, 2);
	tcase_add_test(
	    tc, nginx_that_may_not_read_the_files_is_told_with_the_command);
	tcase_add_test(
	    tc, a_denial_is_logged_where_another_holder_gives_the_file);
	tcase_add_loop_test(tc, what_a_holder_answers_is_logged_once, 0, 3);
	tcase_add_loop_test(tc, a_change_of_a_holder_is_logged, 0, 2);
	tcase_add_test(tc, a_denial_is_the_reason_whatever_others_answer);
	tcase_add_test(tc, a_holder_that_nobody_listens_at_is_passed_over);
	tcase_add_test(tc, where_nobody_listens_the_reason_is_told);
	tcase_add_test(tc, who_gave_no_answer_is_asked_last_from_then_on);
	tcase_add_test(tc, without_a_holder_it_is_said);
	tcase_add_loop_test(tc, a_part_that_is_none_is_made_anew, 0, 4);
	tcase_add_test(tc, a_kill_leaves_the_part_for_the_next);
	tcase_add_test(tc, two_processes_fetch_it_once);
	tcase_add_test(tc, file_comes_from_a_bucket_in_pieces);
	tcase_add_loop_test(tc,
	    whatever_a_bucket_does_what_has_its_name_is_the_file, 0,
	    HOLDER_WEATHERS);
	tcase_add_test(tc, a_bucket_goes_on_in_the_middle_of_a_piece);
	tcase_add_test(tc, a_bucket_is_named_by_its_address);
	tcase_add_test(tc, an_added_file_is_a_link);
	tcase_add_test(tc, a_name_is_64_small_digits);
	tcase_add_test(tc, one_that_is_here_is_put_in_its_place);
	suite_add_tcase(suite, tc);
	return suite;
}
