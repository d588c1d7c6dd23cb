/* tests/tools/gridctl/hook/test_event.c: tools/gridctl/hook/event.h */
#include "tools/gridctl/hook/event.h"

#include <stdlib.h>
#include <string.h>

#include "tests/support/run.h"

#define TEXT(text) \
	{ \
		text, sizeof(text) - 1 \
	}
#define BODY SPAN("{\"test\": 2432232314}")

/* The values are those that the libraries of Standard Webhooks are tested with. */
START_TEST(the_signature_is_that_of_the_reference)
{
	struct event_headers headers;
	uint8_t secret[HOOK_SECRET_MAX];
	size_t len;

	ck_assert(event_secret(
	    secret, &len, SPAN("whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw")));
	event_sign(&headers, span_make(secret, len),
	    "msg_p5jXN8AQM9LWM0D4loKWxJek", INT64_C(1614265330999), BODY);
	ck_assert_str_eq(
	    headers.list[1], "webhook-id: msg_p5jXN8AQM9LWM0D4loKWxJek");
	ck_assert_str_eq(headers.list[2], "webhook-timestamp: 1614265330");
	ck_assert_str_eq(headers.list[3],
	    "webhook-signature: "
	    "v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE=");
	ck_assert_ptr_null(headers.list[EVENT_HEADERS]);
}
END_TEST

static const struct {
	const char *text;
	size_t len; /* 0: it is refused */
} secrets[] = {
    {"whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw", 24},
    {"whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaS", 0},
    {"whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLa!w", 0},
    {"MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw", 0},
    {"whsec_", 0},
    {"", 0},
};

START_TEST(secrets_are_read_strictly_and_written_alike)
{
	char text[EVENT_SECRET_TEXT_MAX];
	uint8_t secret[HOOK_SECRET_MAX];
	size_t len = 0;
	bool good = event_secret(secret, &len, span_of(secrets[_i].text));

	ck_assert_int_eq(good, secrets[_i].len > 0);
	if (!good)
		return;
	ck_assert_uint_eq(len, secrets[_i].len);
	event_secret_text(text, span_make(secret, len));
	ck_assert_str_eq(text, secrets[_i].text);
}
END_TEST

START_TEST(a_secret_of_over_64_bytes_is_refused)
{
	char text[128] = "whsec_";
	uint8_t secret[HOOK_SECRET_MAX];
	size_t len;

	memset(text + 6, 'A', 88); /* 66 bytes */
	ck_assert(!event_secret(secret, &len, span_of(text)));
}
END_TEST

static const struct {
	struct audit_entry entry;
	const char *body;
} entries[] = {
    {{.number = 7,
	 .when_ms = 1000,
	 .event = TEXT("computed"),
	 .actor = TEXT("gridctl"),
	 .codein = TEXT("S\"1"),
	 .motif = TEXT("019a1b2c3d4e5f60")},
	"{\"type\":\"computed\",\"timestamp\":\"1970-01-01T00:00:01.000Z\","
	"\"data\":{\"numero\":7,\"codeFournisseur\":\"S\\\"1\","
	"\"snapshot\":\"019a1b2c3d4e5f60\",\"par\":\"gridctl\"}}"},
    {{.number = 8,
	 .when_ms = 1000,
	 .event = TEXT("imported"),
	 .actor = TEXT("gridctl"),
	 .codein = TEXT("facts"),
	 .motif = TEXT("1")},
	"{\"type\":\"imported\",\"timestamp\":\"1970-01-01T00:00:01.000Z\","
	"\"data\":{\"numero\":8,\"donnees\":\"facts\",\"generation\":\"1\","
	"\"par\":\"gridctl\"}}"},
    {{.number = 9,
	 .when_ms = 1000,
	 .event = TEXT("failed"),
	 .actor = TEXT("gridctl import"),
	 .motif = TEXT("why")},
	"{\"type\":\"failed\",\"timestamp\":\"1970-01-01T00:00:01.000Z\","
	"\"data\":{\"numero\":9,\"codeFournisseur\":null,"
	"\"raison\":\"why\",\"par\":\"gridctl import\"}}"},
    {{.number = 1,
	 .when_ms = 1000,
	 .event = TEXT("proposed"),
	 .actor = TEXT("robot"),
	 .supplier = TEXT("S"),
	 .codein = TEXT("A1"),
	 .gamme = TEXT("B"),
	 .before = TEXT("A")},
	"{\"type\":\"proposed\",\"timestamp\":\"1970-01-01T00:00:01.000Z\","
	"\"data\":{\"numero\":1,\"etat\":\"proposee\","
	"\"codeFournisseur\":\"S\",\"codein\":\"A1\",\"gamme\":\"B\","
	"\"gammePrecedente\":\"A\",\"motif\":null,\"proposeePar\":\"robot\","
	"\"proposeeLe\":\"1970-01-01T00:00:01.000Z\",\"decideePar\":null,"
	"\"decideeLe\":null,\"remplace\":null}}"},
};

START_TEST(bodies_are_those_of_the_guide)
{
	struct buf body;

	buf_init(&body, EVENT_BODY_MAX);
	ck_assert_int_eq(event_write(&body, &entries[_i].entry), ERR_OK);
	buf_add_char(&body, '\0');
	ck_assert_str_eq(body.data, entries[_i].body);
	buf_fini(&body);
}
END_TEST

Suite *
test_suite(void)
{
	Suite *suite = suite_create("event");
	TCase *tc = tcase_create("event");

	tcase_add_test(tc, the_signature_is_that_of_the_reference);
	tcase_add_loop_test(tc, secrets_are_read_strictly_and_written_alike, 0,
	    sizeof(secrets) / sizeof(secrets[0]));
	tcase_add_test(tc, a_secret_of_over_64_bytes_is_refused);
	tcase_add_loop_test(tc, bodies_are_those_of_the_guide, 0,
	    sizeof(entries) / sizeof(entries[0]));
	suite_add_tcase(suite, tc);
	return suite;
}
