/* Failed jobs, as schedulers report them, and other pushes that look like failures. */
#include "tools/gridhook/events/normalise.h"

#include "common/count.h"
#include "tests/support/run.h"
#include "tests/tools/gridhook/events/normalise_kit.h"

/* How schedulers write that a job failed: each is read aloud at night. */
static const char *const failures[] = {
    "{\"jobName\":\"backup\",\"status\":\"failed\"}",
    "{\"job_name\":\"backup\",\"status\":\"failed\"}",
    "{\"job\":\"b\",\"success\":false}",
    "{\"job\":{\"name\":\"b\",\"status\":\"failed\"}}",
    "{\"job\":\"b\",\"status\":\"killed\"}",
    "{\"job\":\"b\",\"status\":\"OOMKilled\"}",
    "{\"job\":\"b\",\"status\":\"aborted\"}",
    "{\"job\":\"b\",\"status\":\"OUT_OF_MEMORY\"}",
    "{\"job\":\"b\",\"status\":\"NODE_FAIL\"}",
    "{\"job\":\"b\",\"status\":\"Ended Not OK\"}",
    "{\"job\":\"b\",\"status\":\"failed-with-retry\"}",
    "{\"job\":\"b\",\"status\":\"DeadlineExceeded\"}",
    "{\"job\":\"b\",\"status\":\"timed out\"}",
    "{\"job\":\"b\",\"status\":\"TIMEDOUT\"}",
    "{\"job\":\"b\",\"status\":\"completed\",\"conclusion\":\"fail"
    "ure\"}",
    "{\"job\":\"b\",\"status\":\"completed\",\"ok\":\"false\"}",
    "{\"job\":\"b\",\"status\":\"completed with 3 errors\"}",
    "{\"job\":\"b\",\"state\":\"upstream_failed\"}",
    "{\"job\":\"b\",\"result\":false}",
    "{\"job\":\"b\",\"failed\":true}",
    "{\"job\":\"b\",\"error\":1}",
    "{\"job\":\"b\",\"returncode\":1}",
    "{\"job\":\"b\",\"exit_status\":\"KILL\"}",
    "{\"job\":\"b\",\"exit_status\":\"SIGKILL\"}",
    "{\"job\":{\"name\":\"b\"},\"event\":\"job.failed\"}",
    "{\"name\":\"nightly\",\"status\":\"failed\"}",
    "{\"name\":\"nightly\",\"success\":false}",
    "{\"workflow\":\"nightly\",\"state\":\"Failed\"}",
    "{\"jobName\":\"deploy\",\"buildNumber\":7,\"result\":\"FAIL"
    "URE\"}",
    "{\"name\":\"deploy\",\"url\":\"job/deploy/\",\"build\":{\"num"
    "ber\":18,\"phase\":\"COMPLETED\",\"status\":\"FAILURE\"}}",
    "{\"trigger\":\"failure\",\"status\":\"failed\",\"executionI"
    "d\":5,\"execution\":{\"id\":5,\"status\":\"failed\",\"job\":{"
    "\"name\":\"b\"}}}",
    "{\"event_type\":\"jobs.on_failure\",\"job\":{\"job_id\":\"5"
    "\",\"name\":\"b\"},\"run\":{\"run_id\":\"6\"}}",
    "{\"version\":\"0\",\"source\":\"aws.batch\",\"detail-type\":"
    "\"Batch Job State Change\",\"detail\":{\"jobName\":\"b\",\""
    "jobId\":\"5\",\"status\":\"FAILED\",\"statusReason\":\"r\"}}",
    "{\"job\":\"b\",\"status\":\"failed\",\"speak\":false,\"priori"
    "ty\":\"low\"}",
    "{\"job\":\"b\",\"events\":[{\"status\":\"failed\"}]}",
    "{\"status\":\"failed\",\"job\":\"b\",\"attachments\":[],\"blo"
    "cks\":[],\"embeds\":[]}",
    /* French: composed, decomposed, escaped, upper case */
    "{\"job\":\"b\",\"status\":\"\303\251chec\"}",
    "{\"job\":\"b\",\"status\":\"e\314\201chec\"}",
    "{\"job\":\"b\",\"status\":\"\\u00e9chec\"}",
    "{\"job\":\"b\",\"status\":\"e\\u0301chec\"}",
    "{\"job\":\"b\",\"status\":\"\303\211CHEC\"}",
    "{\"job\":\"b\",\"status\":\"\303\211chou\303\251\"}",
    "{\"job\":\"b\",\"status\":\"\303\251chou\303\251e\"}",
    "{\"job\":\"b\",\"status\":\"EN \303\211CHEC\"}",
    "{\"job\":\"b\",\"status\":\"Erreur\"}",
    "{\"job\":\"b\",\"status\":\"interrompu\"}",
    "{\"job\":\"b\",\"status\":\"plant\303\251\"}",
    "{\"job\":\"b\",\"status\":\"d\303\251lai d\303\251pass\303\251\"}",
    "{\"job\":\"b\",\"status\":\"non r\303\251ussi\"}",
    "{\"job\":\"b\",\"statut\":\"\303\251chec\"}",
    "{\"job\":\"b\",\"\303\251tat\":\"\303\251chec\"}",
    "{\"t\303\242che\":\"b\",\"statut\":\"\303\251chec\"}",
    "{\"nom\":\"b\",\"statut\":\"\303\251chec\"}",
    "{\"job\":\"b\",\"erreur\":\"disque plein\"}",
    "{\"job\":\"b\",\"status\":\"Fehlgeschlagen\"}",
    /* an event, and the job it is about */
    "{\"event\":\"job_failed\",\"name\":\"b\"}",
    "{\"type\":\"job.failed\",\"data\":{\"name\":\"b\"}}",
    "{\"event\":{\"type\":\"job.failed\",\"name\":\"b\"}}",
    "{\"event\":\"JobFailed\"}",
    "{\"type\":\"backup_error\",\"message\":\"disk full\"}",
    "{\"specversion\":\"1.0\",\"id\":\"1\",\"source\":\"/s\","
    "\"type\":\"com.example.job.failed\",\"data\":{\"name\":\"b\"}}",
    "{\"job\":\"b\",\"result\":{\"status\":\"failed\"}}",
    /* signals and flags */
    "{\"job\":\"b\",\"signal\":\"SIGKILL\"}",
    "{\"job\":\"b\",\"signal\":9}",
    "{\"job\":\"b\",\"killed_by\":\"oom\"}",
    "{\"name\":\"b\",\"signal\":\"SIGSEGV\"}",
    "{\"job\":\"b\",\"timed_out\":true}",
    "{\"job\":\"b\",\"exitStatus\":3}",
    "{\"job\":\"b\",\"status\":\"failed: the disk is full, and this line "
    "goes on and on until it is longer than any status that anybody would "
    "write by hand, which shows that a long text is looked at as well as a "
    "short one, from its beginning up to the end of what is searched, at "
    "least\"}",
};

START_TEST(failed_jobs_are_read_aloud)
{
	const struct hints none = {.source = SPAN("")};
	struct events events = normalise_kit_take(failures[_i], &none);

	ck_assert_uint_eq(events.count, 1);
	normalise_kit_compare(normalise_kit_written(events.list[0]),
	    "{\"kind\":\"job\",\"status\":\"error\",\"speak\":true}");
	ck_assert_int_ge(events.list[0]->priority, PRIORITY_HIGH);
	ck_assert(events.list[0]->job_name.len > 0);
}
END_TEST

static const char *const not_failures[] = {
    "{\"jobName\":\"backup\",\"status\":\"success\"}",
    "{\"job\":\"b\",\"success\":true}",
    "{\"job\":\"b\",\"status\":\"completed, 0 errors\"}",
    "{\"job\":\"b\",\"status\":\"Completed without any "
    "errors\"}",
    "{\"job\":\"b\",\"status\":\"ok\",\"error\":\"none\",\"errors\":0"
    ",\"failed\":0}",
    "{\"job\":\"b\",\"status\":\"ok\",\"error\":false,\"errors\":[]"
    "}",
    "{\"job\":\"b\",\"status\":\"cancelled\"}",
    "{\"job\":\"b\",\"status\":\"skipped\"}",
    "{\"job\":\"b\",\"status\":\"running\"}",
    "{\"job\":\"b\",\"result\":\"UNSTABLE\"}",
    "{\"job\":\"b\",\"returncode\":0}",
    "{\"job\":\"b\",\"unit\":\"a.service\",\"result\":\"success\",\""
    "exit_status\":\"TERM\"}",
    "{\"job\":\"plumber\",\"text\":\"looks for one who never "
    "failed\"}",
    "{\"name\":\"nightly\",\"status\":\"ok\"}",
    "{\"name\":\"web\",\"status\":\"down\"}",
    "{\"name\":\"Ann\",\"text\":\"the backup failed\"}",
    "{\"job\":\"b\",\"status\":\"termin\303\251 sans erreur\"}",
    "{\"job\":\"b\",\"status\":\"r\303\251ussi, pas d'erreur\"}",
    "{\"job\":\"b\",\"status\":\"annul\303\251\"}",
    "{\"job\":\"b\",\"status\":\"ok\",\"erreur\":\"aucune\"}",
    "{\"job\":\"b\",\"status\":\"ok\",\"signal\":null}",
    "{\"job\":\"b\",\"status\":\"fehlerfrei\"}",
    "{\"name\":\"Ann\",\"signal\":\"buy\"}",
    "{\"event\":\"job_finished\",\"name\":\"b\"}",
    "{\"type\":\"payment.failed\",\"data\":{\"name\":\"Ann\"}}",
    "{\"name\":\"Ann\",\"data\":{\"status\":\"error\"}}",
};

START_TEST(all_else_is_not)
{
	const struct hints none = {.source = SPAN("")};
	struct events events = normalise_kit_take(not_failures[_i], &none);

	normalise_kit_compare(
	    normalise_kit_written(events.list[0]), "{\"speak\":null}");
	ck_assert(events.list[0]->kind != EVENT_JOB ||
	    events.list[0]->status != STATUS_ERROR);
}
END_TEST

Suite *
test_suite(void)
{
	Suite *suite = suite_create("gridhook failed jobs");
	TCase *tc = tcase_create("failed jobs");

	tcase_add_checked_fixture(
	    tc, normalise_kit_set_up, normalise_kit_tear_down);
	tcase_add_loop_test(tc, failed_jobs_are_read_aloud, 0, COUNT(failures));
	tcase_add_loop_test(tc, all_else_is_not, 0, COUNT(not_failures));
	suite_add_tcase(suite, tc);
	return suite;
}
