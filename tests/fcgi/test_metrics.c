#include "fcgi/metrics.h"

#include <pthread.h>
#include <stdio.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#include "tests/support/run.h"

static struct metrics *metrics;
static char *text;

static const char *
name_of(unsigned endpoint)
{
	static const char *const names[] = {"grid", "search"};

	return names[endpoint];
}

static void
begin(void)
{
	metrics = metrics_new(2);
	ck_assert_ptr_nonnull(metrics);
	text = NULL;
}

static void
end(void)
{
	free(text);
	metrics_free(metrics);
}

static const char *
written(void)
{
	struct buf buf;

	buf_init(&buf, 1 << 20);
	metrics_write(&buf, metrics, name_of);
	free(text);
	text = buf_take(&buf, NULL);
	ck_assert_ptr_nonnull(text);
	return text;
}

static bool
has_line(const char *line)
{
	size_t len = strlen(line);
	const char *at = written();

	while ((at = strstr(at, line)) != NULL) {
		if ((at == text || at[-1] == '\n') && at[len] == '\n')
			return true;
		at++;
	}
	return false;
}

START_TEST(a_fresh_one_has_zeros_and_no_endpoint)
{
	ck_assert(has_line("gridapi_workers_replaced_total 0"));
	ck_assert(has_line("gridapi_snapshots_open 0"));
	ck_assert(has_line("# TYPE gridapi_request_seconds histogram"));
	ck_assert_ptr_null(strstr(written(), "endpoint="));
}
END_TEST

static const struct {
	int status;
	const char *label;
} statuses[] = {
    {200, "200"},
    {202, "202"},
    {204, "204"},
    {304, "304"},
    {400, "400"},
    {401, "401"},
    {403, "403"},
    {404, "404"},
    {405, "405"},
    {409, "409"},
    {413, "413"},
    {415, "415"},
    {429, "429"},
    {500, "500"},
    {503, "503"},
    {418, "other"},
    {0, "other"},
};

START_TEST(answers_are_counted_by_endpoint_and_status)
{
	char line[128];

	metrics_count(metrics, 1, statuses[_i].status, 1000, 0);
	metrics_count(metrics, 1, statuses[_i].status, 1000, 0);
	snprintf(line, sizeof(line),
	    "gridapi_requests_total{endpoint=\"search\",status=\"%s\"} 2",
	    statuses[_i].label);
	ck_assert(has_line(line));
	ck_assert_ptr_null(strstr(text, "endpoint=\"grid\""));
}
END_TEST

/* The edge itself belongs below, and buckets add up. */
START_TEST(times_fall_into_their_buckets)
{
#define BUCKET "gridapi_request_seconds_bucket{endpoint=\"grid\",le="
	metrics_count(metrics, 0, 200, 50000, 0);
	metrics_count(metrics, 0, 200, 51000, 0);
	metrics_count(metrics, 0, 200, 100000, 0);
	metrics_count(metrics, 0, 200, 3600 * (int64_t)1000000000, 0);
	ck_assert(has_line(BUCKET "\"5e-05\"} 1"));
	ck_assert(has_line(BUCKET "\"0.0001\"} 3"));
	ck_assert(has_line(BUCKET "\"0.00025\"} 3"));
	ck_assert(has_line(BUCKET "\"300\"} 3"));
	ck_assert(has_line(BUCKET "\"+Inf\"} 4"));
	ck_assert(
	    has_line("gridapi_request_seconds_count{endpoint=\"grid\"} 4"));
	ck_assert(has_line("gridapi_request_seconds_sum{endpoint=\"grid\"} "
			   "3600.000201"));
#undef BUCKET
}
END_TEST

/* A computation takes seconds, and ends at [compute] timeout, 300 s. */
static const struct {
	int took_s;
	const char *below, *from;
} computations[] = {
    {2, "1", "2.5"},
    {20, "10", "30"},
    {100, "60", "120"},
    {299, "120", "300"},
};

START_TEST(computations_are_told_apart_by_their_seconds)
{
	char line[128];

	metrics_count(
	    metrics, 0, 200, computations[_i].took_s * (int64_t)1000000000, 0);
	snprintf(line, sizeof(line),
	    "gridapi_request_seconds_bucket{endpoint=\"grid\",le=\"%s\"} 0",
	    computations[_i].below);
	ck_assert(has_line(line));
	snprintf(line, sizeof(line),
	    "gridapi_request_seconds_bucket{endpoint=\"grid\",le=\"%s\"} 1",
	    computations[_i].from);
	ck_assert(has_line(line));
}
END_TEST

START_TEST(an_answer_in_no_time_is_in_the_histogram)
{
	metrics_count(metrics, 0, 200, 10, 0);
	ck_assert(
	    has_line("gridapi_request_seconds_count{endpoint=\"grid\"} 1"));
}
END_TEST

/* Two workers hold something; one dies with it. */
START_TEST(what_a_dead_worker_held_is_held_no_more)
{
	unsigned first = metrics_free_place(metrics), second;

	metrics_own(metrics, first, 1001);
	second = metrics_free_place(metrics);
	metrics_own(metrics, second, 1002);
	ck_assert_uint_ne(first, second);
	metrics_take_place(first);
	metrics_mine(metrics)->snapshots_open += 3;
	metrics_mine(metrics)->requests += 2;
	metrics_mine(metrics)->computations_running++;
	metrics_mine(metrics)->computations_waiting++;
	metrics_take_place(second);
	metrics_mine(metrics)->snapshots_open += 4;
	ck_assert(has_line("gridapi_snapshots_open 7"));
	ck_assert(has_line("gridapi_requests_in_flight 2"));
	metrics->computations_ms = 1500;
	ck_assert(has_line("gridapi_computations_seconds_total 1.500"));
	metrics_disown(metrics, 1001);
	ck_assert(has_line("gridapi_snapshots_open 4"));
	ck_assert(has_line("gridapi_requests_in_flight 0"));
	ck_assert(has_line("gridapi_computations_running 0"));
	ck_assert(has_line("gridapi_computations_waiting 0"));
	ck_assert_uint_eq(metrics_free_place(metrics), first);
}
END_TEST

/* More processes than places: the last place is everybody's. */
START_TEST(there_is_always_a_place)
{
	for (unsigned i = 0; i < METRICS_WORKERS + 5; i++)
		metrics_own(
		    metrics, metrics_free_place(metrics), 1000 + (pid_t)i);
	ck_assert_uint_eq(metrics_free_place(metrics), METRICS_WORKERS - 1);
	metrics_disown(metrics, 1010);
	ck_assert_uint_eq(metrics_free_place(metrics), 10);
}
END_TEST

START_TEST(processes_share_them)
{
	pid_t pid = fork();
	int status;

	ck_assert_int_ge(pid, 0);
	if (pid == 0) {
		metrics_count(metrics, 0, 200, 1000, 0);
		atomic_fetch_add(&metrics->workers_replaced, 3);
		_exit(0);
	}
	ck_assert_int_eq(waitpid(pid, &status, 0), pid);
	ck_assert(has_line("gridapi_workers_replaced_total 3"));
	ck_assert(has_line(
	    "gridapi_requests_total{endpoint=\"grid\",status=\"200\"} 1"));
}
END_TEST

static void *
count_one(void *unused)
{
	metrics_count(metrics, 0, 200, 60000, 1000);
	return unused;
}

/* More threads than there are parts to count in. */
START_TEST(what_threads_count_is_added_up)
{
	char line[128];
	unsigned count = 2 * METRICS_PARTS + 1;

	for (unsigned i = 0; i < count; i++) {
		pthread_t thread;

		ck_assert_int_eq(
		    pthread_create(&thread, NULL, count_one, NULL), 0);
		ck_assert_int_eq(pthread_join(thread, NULL), 0);
	}
	snprintf(
	    line, sizeof(line), "gridapi_sent_bytes_total %u", count * 1000);
	ck_assert(has_line(line));
	snprintf(line, sizeof(line),
	    "gridapi_requests_total{endpoint=\"grid\",status=\"200\"} %u",
	    count);
	ck_assert(has_line(line));
	snprintf(line, sizeof(line),
	    "gridapi_request_seconds_sum{endpoint=\"grid\"} 0.00%u",
	    count * 60);
	ck_assert(has_line(line));
}
END_TEST

START_TEST(what_is_stored_is_told_once_it_was_counted)
{
	int64_t values[STOCK_COUNT] = {[STOCK_COUNTED_S] = 1700000000,
	    [STOCK_SNAPSHOTS_STALE] = 3,
	    [STOCK_BYTES_FREE] = 1 << 30,
	    [STOCK_VALIDATED] = 7,
	    [STOCK_NIGHT_FAILED] = 2,
	    [STOCK_NIGHT_REPORT_S] = 9};

	ck_assert_ptr_null(strstr(written(), "gridapi_snapshots{"));
	metrics_stock(metrics, values);
	ck_assert(
	    has_line("gridapi_data_counted_timestamp_seconds 1700000000"));
	ck_assert(has_line("gridapi_snapshots{state=\"stale\"} 3"));
	ck_assert(has_line("gridapi_snapshots{state=\"current\"} 0"));
	ck_assert(has_line("gridapi_proposals{state=\"validated\"} 7"));
	ck_assert(has_line("gridapi_data_free_bytes 1073741824"));
	ck_assert(has_line("gridapi_night_steps{state=\"failed\"} 2"));
	ck_assert(has_line("gridapi_night_step_seconds{step=\"report\"} 9"));
	ck_assert_ptr_null(strstr(text, "gridapi_night_ended"));
	/* There never was an import, and nothing waits. */
	ck_assert_ptr_null(strstr(text, "gridapi_imported_timestamp"));
	ck_assert_ptr_null(strstr(text, "gridapi_proposals_oldest"));
}
END_TEST

static double
value_of(const char *name)
{
	const char *at = strstr(written(), name);

	while (at != NULL && at[-1] != '\n')
		at = strstr(at + 1, name);
	ck_assert_ptr_nonnull(at);
	return strtod(at + strlen(name), NULL);
}

/* The test is the supervisor, and its child the worker. */
START_TEST(what_processes_use_is_summed)
{
	double cpu = value_of("gridapi_cpu_seconds_total");
	double memory = value_of("gridapi_private_bytes");
	double files = value_of("gridapi_open_files");
	pid_t pid = fork();

	ck_assert_int_ge(pid, 0);
	if (pid == 0) {
		pause();
		_exit(0);
	}
	ck_assert(cpu >= 0 && memory > 4096 && files >= 3);
	ck_assert(has_line("gridapi_workers 0"));
	metrics_own(metrics, 0, pid);
	ck_assert(has_line("gridapi_workers 1"));
	ck_assert(value_of("gridapi_private_bytes") > memory);
	ck_assert(value_of("gridapi_open_files") >= 2 * files - 1);
	ck_assert(value_of("gridapi_cpu_seconds_total") >= cpu);
	kill(pid, SIGKILL);
	waitpid(pid, NULL, 0);
	/* A worker that has just died is no failure of the page. */
	ck_assert(value_of("gridapi_open_files") <= files + 1);
}
END_TEST

START_TEST(each_metric_is_explained_once)
{
	int64_t values[STOCK_COUNT] = {[STOCK_COUNTED_S] = 1,
	    [STOCK_IMPORTED_S] = 1,
	    [STOCK_PENDING_SINCE_S] = 1};
	const char *at;

	metrics_stock(metrics, values);
	at = written();
	while ((at = strstr(at, "# TYPE ")) != NULL) {
		char help[128];
		size_t len = strcspn(at + 7, " ");

		snprintf(help, sizeof(help), "# HELP %.*s ", (int)len, at + 7);
		ck_assert_ptr_nonnull(strstr(text, help));
		ck_assert_ptr_null(strstr(strstr(text, help) + 1, help));
		at += 7;
	}
}
END_TEST

Suite *
test_suite(void)
{
	Suite *suite = suite_create("metrics");
	TCase *tc = tcase_create("metrics");

	tcase_add_checked_fixture(tc, begin, end);
	tcase_add_test(tc, a_fresh_one_has_zeros_and_no_endpoint);
	tcase_add_loop_test(tc, answers_are_counted_by_endpoint_and_status, 0,
	    (int)(sizeof(statuses) / sizeof(statuses[0])));
	tcase_add_test(tc, times_fall_into_their_buckets);
	tcase_add_loop_test(tc, computations_are_told_apart_by_their_seconds, 0,
	    (int)(sizeof(computations) / sizeof(computations[0])));
	tcase_add_test(tc, an_answer_in_no_time_is_in_the_histogram);
	tcase_add_test(tc, what_a_dead_worker_held_is_held_no_more);
	tcase_add_test(tc, there_is_always_a_place);
	tcase_add_test(tc, processes_share_them);
	tcase_add_test(tc, what_threads_count_is_added_up);
	tcase_add_test(tc, what_is_stored_is_told_once_it_was_counted);
	tcase_add_test(tc, what_processes_use_is_summed);
	tcase_add_test(tc, each_metric_is_explained_once);
	suite_add_tcase(suite, tc);
	return suite;
}
