#include "tools/gridhook/senders.h"

#include <stdlib.h>
#include <string.h>

#include "common/count.h"
#include "tests/support/quiet.h"
#include "tests/support/run.h"

#define NOW INT64_C(1614265330)

/* Made by Python's hmac. */
#define STRIPE_SIGNATURE \
	"5790023bd77209313f2e32e36caf5921" \
	"bdd2fac398095f83dc2d2ecd5f696f50"
#define PAGER_SIGNATURE \
	"a777724d943eb48dc69bca8a4a6d57a0" \
	"4db3f9ec7e1de4e581e860265bdf3032"

static struct senders *senders;
static struct fault fault;

static void
set_up(void)
{
	quiet_begin();
	fault = (struct fault){.place = ""};
}

static void
tear_down(void)
{
	senders_close(senders);
	senders = NULL;
	quiet_end();
}

static enum err
load(const char *text)
{
	return senders_read(&senders, "file", span_of(text), &fault);
}

/* Headers of a request: names and values in turn, ended by NULL. */
static struct span
header_of(void *arg, const char *name)
{
	const char *const *headers = arg;

	for (; headers[0] != NULL; headers += 2)
		if (strcmp(headers[0], name) == 0)
			return span_of(headers[1]);
	return span_make(NULL, 0);
}

static const char file[] =
    "# who pushes\n"
    "\n"
    "hub github It's a Secret to Everybody\r\n"
    "  shop\tstandard-webhooks   whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw\n"
    "lab gitlab tok\n"
    "apprise basic ann:s3:cret\n"
    "pay stripe whsec_test\n"
    "pager pagerduty key\n"
    "mail svix whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw\n"
    "ci circleci key\n"
    "kite buildkite tok\n"
    "line linear key\n";

static const struct {
	const char *name;
	const char *headers[7];
	const char *body;
	enum sender_proof head;
	bool is_signed;
} cases[] = {
    /* docs.github.com, "Validating webhook deliveries" */
    {"hub",
	{"x-hub-signature-256",
	    "sha256=757107ea0eb2509fc211221cce984b8a37570b6d7586c22c46f4379c8b"
	    "043e17"},
	"Hello, World!", SENDER_SIGNED, true},
    {"hub",
	{"x-hub-signature-256",
	    "sha256=757107ea0eb2509fc211221cce984b8a37570b6d7586c22c46f4379c8b"
	    "043e17"},
	"Hello, World?", SENDER_SIGNED, false},
    {"hub", {"x-hub-signature-256", "sha256="}, "", SENDER_SIGNED, false},
    {"hub",
	{"x-hub-signature-256",
	    "757107ea0eb2509fc211221cce984b8a37570b6d7586c22c46f4379c8b043e17"},
	"Hello, World!", SENDER_SIGNED, false},
    {"hub", {"x-gitlab-token", "tok"}, "", SENDER_NONE, false},
    /* standard-webhooks, its libraries' test */
    {"shop",
	{"webhook-id", "msg_p5jXN8AQM9LWM0D4loKWxJek", "webhook-timestamp",
	    "1614265330", "webhook-signature",
	    "v1,AAAA v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE="},
	"{\"test\": 2432232314}", SENDER_SIGNED, true},
    {"shop",
	{"webhook-id", "msg_p5jXN8AQM9LWM0D4loKWxJek", "webhook-timestamp",
	    "1614264330", "webhook-signature",
	    "v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE="},
	"{\"test\": 2432232314}", SENDER_SIGNED, false},
    {"shop",
	{"webhook-timestamp", "1614265330", "webhook-signature",
	    "v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE="},
	"{\"test\": 2432232314}", SENDER_SIGNED, false},
    /* The same by Svix, under names of its own; they do not mix. */
    {"mail",
	{"svix-id", "msg_p5jXN8AQM9LWM0D4loKWxJek", "svix-timestamp",
	    "1614265330", "svix-signature",
	    "v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE="},
	"{\"test\": 2432232314}", SENDER_SIGNED, true},
    {"mail",
	{"webhook-id", "msg_p5jXN8AQM9LWM0D4loKWxJek", "webhook-timestamp",
	    "1614265330", "svix-signature",
	    "v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE="},
	"{\"test\": 2432232314}", SENDER_SIGNED, false},
    {"shop",
	{"svix-id", "msg_p5jXN8AQM9LWM0D4loKWxJek", "svix-timestamp",
	    "1614265330", "svix-signature",
	    "v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE="},
	"{\"test\": 2432232314}", SENDER_NONE, false},
    {"ci", {"circleci-signature", "v1=" PAGER_SIGNATURE}, "{}", SENDER_SIGNED,
	true},
    {"line", {"linear-signature", PAGER_SIGNATURE}, "{}", SENDER_SIGNED, true},
    {"kite", {"x-buildkite-token", "tok"}, "", SENDER_RIGHT, false},
    {"kite", {"x-buildkite-token", "tak"}, "", SENDER_WRONG, false},
    {"lab", {"x-gitlab-token", "tok"}, "", SENDER_RIGHT, false},
    {"lab", {"x-gitlab-token", "to"}, "", SENDER_WRONG, false},
    {"lab", {"x-gitlab-token", ""}, "", SENDER_WRONG, false},
    {"apprise", {"authorization", "Basic YW5uOnMzOmNyZXQ="}, "", SENDER_RIGHT,
	false},
    {"apprise", {"authorization", "basic YW5uOnMzOmNyZXQ"}, "", SENDER_RIGHT,
	false},
    {"apprise", {"authorization", "Basic YW5uOnMzOmNyZXU="}, "", SENDER_WRONG,
	false},
    {"apprise", {"authorization", "Basic !"}, "", SENDER_WRONG, false},
    {"apprise", {"authorization", "Bas"}, "", SENDER_WRONG, false},
    /* HMAC-SHA256 of "1614265330.{}" under "whsec_test" */
    {"pay",
	{"stripe-signature", "t=1614265330,v1=00,v1=" STRIPE_SIGNATURE ",v0=1"},
	"{}", SENDER_SIGNED, true},
    {"pay", {"stripe-signature", "t=1614265000,v1=" STRIPE_SIGNATURE}, "{}",
	SENDER_SIGNED, false},
    {"pay", {"stripe-signature", "v1=" STRIPE_SIGNATURE}, "{}", SENDER_SIGNED,
	false},
    {"pager", {"x-pagerduty-signature", "v1=00, v1=" PAGER_SIGNATURE}, "{}",
	SENDER_SIGNED, true},
};

START_TEST(senders_prove_who_they_are)
{
	const struct senders_request request = {
	    header_of, (void *)(uintptr_t)cases[_i].headers};
	const struct sender *sender;

	ck_assert_int_eq(load(file), ERR_OK);
	sender = senders_find(senders, span_of(cases[_i].name));
	ck_assert_ptr_nonnull(sender);
	ck_assert_int_eq(sender_head(sender, &request), cases[_i].head);
	ck_assert(sender_signed(sender, &request, span_of(cases[_i].body),
		      NOW) == cases[_i].is_signed);
}
END_TEST

START_TEST(senders_are_found_by_the_first_part_of_the_address)
{
	ck_assert_int_eq(load(file), ERR_OK);
	ck_assert_ptr_nonnull(senders_find(senders, SPAN("hub/o/r")));
	ck_assert_ptr_null(senders_find(senders, SPAN("hubs")));
	ck_assert_ptr_null(senders_find(senders, SPAN("")));
	ck_assert(sender_has_long_secret(senders_find(senders, SPAN("hub"))));
	ck_assert(!sender_has_long_secret(senders_find(senders, SPAN("lab"))));
}
END_TEST

static const struct {
	const char *text, *place, *part;
} faults[] = {
    {"\nhub", "file:2", "no scheme"},
    {"hub github", "file:1", "secret is missing"},
    {"hub nothing s", "file:1", "no scheme"},
    {"h/b github s", "file:1", "letters, digits"},
    {"a basic s", "file:1", "USER:PASSWORD"},
    {"a standard-webhooks whsec_!", "file:1", "base64"},
    {"a standard-webhooks whsec_", "file:1", "base64"},
    {"a github s3cret\na gitlab s3cret", "file:2", "above"},
};

START_TEST(faults_name_the_line_and_no_secret)
{
	ck_assert_int_eq(load(faults[_i].text), ERR_BAD_INPUT);
	ck_assert_str_eq(fault.place, faults[_i].place);
	ck_assert_ptr_nonnull(strstr(fault.message, faults[_i].part));
	ck_assert_ptr_null(strstr(fault.message, "s3cret"));
}
END_TEST

Suite *
test_suite(void)
{
	Suite *suite = suite_create("senders");
	TCase *tc = tcase_create("senders");

	tcase_add_checked_fixture(tc, set_up, tear_down);
	tcase_add_loop_test(tc, senders_prove_who_they_are, 0, COUNT(cases));
	tcase_add_test(tc, senders_are_found_by_the_first_part_of_the_address);
	tcase_add_loop_test(
	    tc, faults_name_the_line_and_no_secret, 0, COUNT(faults));
	suite_add_tcase(suite, tc);
	return suite;
}
