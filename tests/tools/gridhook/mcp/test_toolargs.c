#include "common/mcp/toolargs.h"

#include "tests/support/run.h"
#include "tools/gridhook/mcp/toolset.h"

static const struct {
	const char *tool, *args;
	const char *place, *words; /* of the fault; NULL: fine */
} cases[] = {
    {"get_app_status", "{}", NULL, NULL},
    {"get_app_status", "{\"x\":1}", "arguments", "unknown member: \"x\""},
    {"get_app_status", "[]", "arguments", "must be an object"},
    {"get_app_status", "null", "arguments", "must be an object"},
    {"clipboard_set", "{}", "text", "is missing"},
    {"clipboard_set", "{\"text\":\"\"}", NULL, NULL},
    {"clipboard_set", "{\"text\":null}", "text", "must be a string"},
    {"clipboard_set", "{\"text\":5}", "text", "must be a string"},
    {"open_url", "{\"url\":\"1234567\"}", "url",
	"must have 8 to 2048 characters, not 7"},
    {"open_url", "{\"url\":\"http://x\"}", NULL, NULL},
    /* Seven characters of two bytes each, and eight that are escaped. */
    {"open_url",
	"{\"url\":"
	"\"\xC3\xA9\xC3\xA9\xC3\xA9\xC3\xA9\xC3\xA9\xC3\xA9\xC3\xA9\"}",
	"url", "not 7"},
    {"open_url",
	"{\"url\":\"\\u0061\\u0061\\u0061\\u0061\\u0061\\u0061\\u0061\\ud83d"
	"\\ude00\"}",
	NULL, NULL},
    {"media_key", "{\"key\":\"next\"}", NULL, NULL},
    {"media_key", "{\"key\":\"Next\"}", "key", "must be one of: play_pause"},
    {"media_key", "{\"key\":\"next\\u0000\"}", "key", "must be one of"},
    {"media_key", "{\"key\":\"next\",\"repeat\":0}", "repeat",
	"must be an integer from 1 to 20"},
    {"media_key", "{\"key\":\"next\",\"repeat\":20}", NULL, NULL},
    {"media_key", "{\"key\":\"next\",\"repeat\":21}", "repeat", "from 1"},
    {"media_key", "{\"key\":\"next\",\"repeat\":2.5}", "repeat", "integer"},
    {"media_key", "{\"key\":\"next\",\"repeat\":2.0}", NULL, NULL},
    {"media_key", "{\"key\":\"next\",\"repeat\":\"2\"}", "repeat",
	"must be an integer"},
    {"media_key", "{\"key\":\"next\",\"repeat\":1e99}", "repeat", "integer"},
    {"media_key", "{\"key\":\"x\",\"key\":\"next\"}", NULL, NULL},
    {"find_files", "{\"query\":\"a\",\"include_hidden\":1}", "include_hidden",
	"must be true or false"},
    {"find_files", "{\"query\":\"a\",\"include_hidden\":false}", NULL, NULL},
    {"open_app", "{\"name\":\"x\",\"args\":[\"a\",\"b\"]}", NULL, NULL},
    {"open_app", "{\"name\":\"x\",\"args\":\"a\"}", "args", "must be an array"},
    {"open_app", "{\"name\":\"x\",\"args\":[\"a\",1]}", "args",
	"must be an array of strings"},
    {"open_app",
	"{\"name\":\"x\",\"args\":[0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,"
	"0,0,0,0,0,0,0,0,0,0,0,0]}",
	"args", "too many"},
};

static const struct tool *
tool_named(const char *name)
{
	const struct desk_tool *tool = toolset_find(span_of(name));

	ck_assert_ptr_nonnull(tool);
	return &tool->shown;
}

START_TEST(arguments_are_checked_and_the_fault_says_what_is_wanted)
{
	const struct tool *tool = tool_named(cases[_i].tool);
	struct fault fault = {.place = ""};
	struct jscan doc;
	enum err err;

	ck_assert_int_eq(
	    jscan_parse(&doc, span_of(cases[_i].args), 16, NULL), ERR_OK);
	err = toolargs_check(tool, jscan_root(&doc), &fault);
	if (cases[_i].words == NULL)
		ck_assert_int_eq(err, ERR_OK);
	else {
		ck_assert_int_eq(err, ERR_BAD_INPUT);
		ck_assert_str_eq(fault.place, cases[_i].place);
		ck_assert_msg(strstr(fault.message, cases[_i].words) != NULL,
		    "\"%s\" without \"%s\"", fault.message, cases[_i].words);
	}
	jscan_fini(&doc);
}
END_TEST

START_TEST(absent_arguments_are_none)
{
	struct jval none = {NULL, NULL};
	struct fault fault = {.place = ""};

	ck_assert_int_eq(
	    toolargs_check(tool_named("get_app_status"), none, &fault), ERR_OK);
	ck_assert_int_eq(
	    toolargs_check(tool_named("clipboard_set"), none, &fault),
	    ERR_BAD_INPUT);
}
END_TEST

/* The published schema and the check come from the same rows. */
START_TEST(schema_tells_every_field_and_what_it_may_be)
{
	const struct tool *tool = &toolset[_i].shown;
	const struct tool_field *field;
	struct jval schema, property;
	struct jsonw json;
	struct jscan doc;
	struct buf text;
	int64_t limit;

	buf_init(&text, 65536);
	jsonw_init(&json, &text);
	toolargs_schema(&json, tool);
	ck_assert_int_eq(jsonw_end(&json), ERR_OK);
	ck_assert_int_eq(jscan_parse(&doc, buf_span(&text), 16, NULL), ERR_OK);
	schema = jscan_root(&doc);
	ck_assert(jval_is(jval_member(schema, "type"), SPAN("object")));
	ck_assert_int_eq(
	    jval_type(jval_member(schema, "additionalProperties")), JFALSE);
	for (field = tool->fields; field->name != NULL; field++) {
		property =
		    jval_member(jval_member(schema, "properties"), field->name);
		ck_assert_int_eq(jval_type(property), JOBJECT);
		ck_assert_int_eq(
		    jval_type(jval_member(property, "description")), JSTRING);
		if (field->type != TOOL_INT)
			continue;
		ck_assert(jval_int(jval_member(property, "maximum"), &limit));
		ck_assert_int_eq(limit, field->max);
	}
	ck_assert_uint_eq(jval_count(jval_member(schema, "properties")),
	    (size_t)(field - tool->fields));
	jscan_fini(&doc);
	buf_fini(&text);
}
END_TEST

Suite *
test_suite(void)
{
	Suite *suite = suite_create("gridhook toolargs");
	TCase *tc = tcase_create("toolargs");

	tcase_add_loop_test(tc,
	    arguments_are_checked_and_the_fault_says_what_is_wanted, 0,
	    (int)(sizeof(cases) / sizeof(cases[0])));
	tcase_add_test(tc, absent_arguments_are_none);
	tcase_add_loop_test(
	    tc, schema_tells_every_field_and_what_it_may_be, 0, TOOL_COUNT);
	suite_add_tcase(suite, tc);
	return suite;
}
