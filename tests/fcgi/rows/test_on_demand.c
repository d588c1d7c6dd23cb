/* tests/fcgi/rows/test_on_demand.c: fcgi/rows/on_demand.h, with shell scripts
 * in the
 * place of gridctl. */
#include "fcgi/rows/on_demand.h"

#include <stdio.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "common/fs.h"
#include "common/log.h"
#include "fcgi/server.h"
#include "tests/fcgi/world.h"
#include "tests/support/quiet.h"
#include "tests/support/run.h"
#include "tests/support/scratch.h"

/* Computing is what the script does. */
static void
computing_is(const char *script)
{
	char text[1024];

	snprintf(text, sizeof(text), "#!/bin/sh\n%s\n", script);
	scratch_text("gridctl", text);
	ck_assert_int_eq(chmod(scratch_path("gridctl"), 0755), 0);
	free(world.settings.gridctl);
	world.settings.gridctl = span_dup(span_of(scratch_path("gridctl")));
}

static enum err
compute(void)
{
	struct call call = {.server = world.server,
	    .serving = world.serving,
	    .request = &world.request};

	return on_demand_compute(&call, SPAN("S3"));
}

static const struct {
	const char *script;
	enum err err;
} ends[] = {
    {"exit 0", ERR_OK},
    {"exit 3", ERR_BUSY},
    {"exit 4", ERR_TIMED_OUT},
    {"exit 1", ERR_INTERNAL},
    {"exit 5", ERR_NO_SPACE},
    {"kill -9 $$", ERR_INTERNAL},
    {"sleep 1000", ERR_TIMED_OUT},
    {"trap '' TERM; sleep 1000 & wait", ERR_TIMED_OUT},
};

START_TEST(its_end_is_told)
{
	bool for_ever = strstr(ends[_i].script, "sleep") != NULL;

	world.settings.compute_timeout_s = for_ever ? 1 : 100;
	computing_is(ends[_i].script);
	ck_assert_int_eq(compute(), ends[_i].err);
	ck_assert_int_eq(
	    (int)atomic_load(
		&metrics_mine(world.metrics)->computations_waiting),
	    0);
}
END_TEST

static char caught[256]; /* the last line of the log */

static void
catch_line(enum log_level level, const char *line)
{
	(void)level;
	snprintf(caught, sizeof(caught), "%s", line);
}

START_TEST(a_full_disk_is_told_with_its_place)
{
	char line[256];

	snprintf(line, sizeof(line),
	    "computation failed: %s: supplier=S3 path=%s",
	    err_text(ERR_NO_SPACE), scratch_path("data"));
	computing_is("exit 5");
	log_catch(catch_line);
	ck_assert_int_eq(compute(), ERR_NO_SPACE);
	quiet_begin();
	ck_assert_str_eq(caught, line);
}
END_TEST

START_TEST(program_that_is_not_there_is_a_failure)
{
	free(world.settings.gridctl);
	world.settings.gridctl = span_dup(SPAN("/nowhere/gridctl"));
	ck_assert_int_eq(compute(), ERR_INTERNAL);
	ck_assert_int_eq(quiet_lines(), 1);
}
END_TEST

/* Adds its arguments to the file "said". */
static const char *
says_its_arguments(void)
{
	static char script[512];

	unlink(scratch_path("said"));
	snprintf(
	    script, sizeof(script), "echo \"$@\" >>%s", scratch_path("said"));
	return script;
}

/* The whole of it is a line that ends so. */
static void
must_have_said(const char *words)
{
	char line[1024];
	struct buf said;

	snprintf(
	    line, sizeof(line), "--data %s %s\n", scratch_path("data"), words);
	buf_init(&said, 4096);
	ck_assert_int_eq(fs_read(&said, scratch_path("said")), ERR_OK);
	buf_add_char(&said, '\0');
	ck_assert_str_eq(said.data, line);
	buf_fini(&said);
}

START_TEST(arguments_name_data_and_supplier)
{
	computing_is(says_its_arguments());
	ck_assert_int_eq(compute(), ERR_OK);
	must_have_said("compute --quiet --stale --absent --no-wait "
		       "--slots 4 --limit 300 -- S3");
}
END_TEST

/* A child that ends once open_gate() was called, or the test is over. */
static const char *
gated(const char *first)
{
	static char script[1024];

	unlink(scratch_path("go")); /* of the test before */
	snprintf(script, sizeof(script),
	    "%s; while [ ! -e %s ] && [ -e %s ]; do sleep 0.05; done", first,
	    scratch_path("go"), scratch_dir());
	return script;
}

static void
open_gate(void)
{
	scratch_text("go", "");
}

static void
await_waiting(int count)
{
	while (atomic_load(&metrics_mine(world.metrics)->computations_waiting) <
	    count)
		usleep(1000);
}

static void *
compute_beside(void *context)
{
	(void)context;
	return compute() == ERR_OK ? NULL : &world;
}

START_TEST(who_asks_for_the_same_shares_one_child)
{
	pthread_t threads[6];
	char script[512];
	struct buf said;
	void *failed;

	snprintf(
	    script, sizeof(script), "echo once >>%s", scratch_path("runs"));
	computing_is(gated(script));
	for (unsigned i = 0; i < 6; i++)
		ck_assert_int_eq(
		    pthread_create(&threads[i], NULL, compute_beside, NULL), 0);
	await_waiting(6);
	open_gate();
	for (unsigned i = 0; i < 6; i++) {
		ck_assert_int_eq(pthread_join(threads[i], &failed), 0);
		ck_assert_ptr_null(failed);
	}
	buf_init(&said, 4096);
	ck_assert_int_eq(fs_read(&said, scratch_path("runs")), ERR_OK);
	ck_assert(span_eq(buf_span(&said), SPAN("once\n")));
	buf_fini(&said);
	ck_assert_uint_eq(atomic_load(&world.metrics->computations_done), 1);
}
END_TEST

START_TEST(waiters_are_capped)
{
	pthread_t thread;
	void *failed;

	world.settings.compute_waiters = 1;
	computing_is(gated(":"));
	ck_assert_int_eq(
	    pthread_create(&thread, NULL, compute_beside, NULL), 0);
	await_waiting(1);
	ck_assert_int_eq(compute(), ERR_BUSY);
	open_gate();
	ck_assert_int_eq(pthread_join(thread, &failed), 0);
	ck_assert_ptr_null(failed);
}
END_TEST

static bool
gone(void *connection)
{
	(void)connection;
	return true;
}

START_TEST(client_that_left_does_not_end_it)
{
	char script[512];
	struct buf said;

	snprintf(script, sizeof(script), "sleep 0.5; echo done >%s",
	    scratch_path("late"));
	computing_is(script);
	world.request.gone = gone;
	ck_assert_int_eq(compute(), ERR_CLOSED);
	while (atomic_load(&world.metrics->computations_done) == 0)
		usleep(1000);
	ck_assert_uint_ge(atomic_load(&world.metrics->computations_ms), 500);
	buf_init(&said, 64);
	ck_assert_int_eq(fs_read(&said, scratch_path("late")), ERR_OK);
	buf_fini(&said);
}
END_TEST

/* The first thread that finds it is time asks; nobody waits for it. */
START_TEST(the_index_is_made_once_in_a_while)
{
	struct call call = {.server = world.server,
	    .serving = world.serving,
	    .request = &world.request};
	struct stat st;

	computing_is(gated(says_its_arguments()));
	for (unsigned i = 0; i < 3; i++)
		on_demand_index(&call);
	while (stat(scratch_path("said"), &st) != 0 || st.st_size == 0)
		usleep(1000);
	open_gate();
	/* While it ends, and when it has ended: none begins. */
	for (unsigned i = 0; i < 100; i++) {
		on_demand_index(&call);
		usleep(2000);
	}
	must_have_said("index --quiet --limit 600");
	ck_assert_int_eq(
	    (int)atomic_load(&world.metrics->computations_done), 0);
}
END_TEST

static char failure[256];
static atomic_bool heard;

static void
hear(enum log_level level, const char *line)
{
	(void)level;
	snprintf(failure, sizeof(failure), "%s", line);
	atomic_store(&heard, true);
}

/* Not as a computation, which nothing is wrong with. */
START_TEST(packing_that_fails_is_told_as_that)
{
	struct call call = {.server = world.server,
	    .serving = world.serving,
	    .request = &world.request};

	log_catch(hear);
	computing_is("exit 1");
	on_demand_pack(&call, SPAN("S3"), PACKED_DUMPS);
	while (!atomic_load(&heard))
		usleep(1000);
	ck_assert_str_eq(failure, "packing of rows failed: supplier=S3 exit=1");
}
END_TEST

static pid_t
pid_in(const char *name)
{
	struct buf text;
	long pid = 0;

	buf_init(&text, 64);
	while (pid == 0) {
		buf_clear(&text);
		if (fs_read(&text, scratch_path(name)) == ERR_OK &&
		    text.len > 0 && text.data[text.len - 1] == '\n')
			pid = strtol(text.data, NULL, 10);
		usleep(1000);
	}
	buf_fini(&text);
	return (pid_t)pid;
}

/* A server is closed whatever is computed, and what it was told of is freed. */
START_TEST(closing_the_server_leaves_it_alone)
{
	char script[1024];
	pid_t pid;

	snprintf(script, sizeof(script), "echo $$ >%s", scratch_path("pid"));
	computing_is(gated(script));
	world.request.gone = gone;
	ck_assert_int_eq(compute(), ERR_CLOSED);
	ck_assert_int_eq(
	    (int)atomic_load(
		&metrics_mine(world.metrics)->computations_running),
	    1);
	serving_free(world.serving);
	server_close(world.server);
	ck_assert_int_eq(
	    (int)atomic_load(
		&metrics_mine(world.metrics)->computations_running),
	    0);
	world.serving = NULL;
	world.server = NULL;
	metrics_free(world.metrics);
	world.metrics = NULL;
	pid = pid_in("pid");
	open_gate();
	while (kill(pid, 0) == 0) /* until the thread has reaped it */
		usleep(1000);
	usleep(50000); /* what the thread does then touches nothing freed */
}
END_TEST

Suite *
test_suite(void)
{
	Suite *suite = suite_create("on_demand");
	TCase *tc = tcase_create("on_demand");

	tcase_add_unchecked_fixture(tc, world_make, world_remove);
	tcase_add_checked_fixture(tc, world_open, world_close);
	tcase_set_timeout(tc, 300);
	tcase_add_loop_test(
	    tc, its_end_is_told, 0, sizeof(ends) / sizeof(ends[0]));
	tcase_add_test(tc, a_full_disk_is_told_with_its_place);
	tcase_add_test(tc, program_that_is_not_there_is_a_failure);
	tcase_add_test(tc, arguments_name_data_and_supplier);
	tcase_add_test(tc, who_asks_for_the_same_shares_one_child);
	tcase_add_test(tc, waiters_are_capped);
	tcase_add_test(tc, client_that_left_does_not_end_it);
	tcase_add_test(tc, the_index_is_made_once_in_a_while);
	tcase_add_test(tc, packing_that_fails_is_told_as_that);
	tcase_add_test(tc, closing_the_server_leaves_it_alone);
	suite_add_tcase(suite, tc);
	return suite;
}
