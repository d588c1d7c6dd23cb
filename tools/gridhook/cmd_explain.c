/*
 * Shows what becomes of a push: the family that takes it, what each field comes
 * from and which members are dropped. Nothing is sent.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "common/opt.h"
#include "tools/gridhook/cmd.h"
#include "common/utf8.h"
#include "tools/gridhook/service.h"

#define BODY_MAX ((size_t)4 << 20)
#define DEPTH_MAX 64
#define TAKEN_MAX 512
#define DROPPED_MAX 60
#define SHOWN_MAX 70 /* bytes of a value */

struct options {
	struct opt_list headers;
	const char *rest;
};

#define AT(member) offsetof(struct options, member)

static const struct opt_row rows[] = {
    {"--header", 'H', OPT_LIST, AT(headers), 0, 0, "NAME: VALUE",
	"a header of the request; may be given several times"},
    {"--rest", 0, OPT_TEXT, AT(rest), 0, 0, "TEXT",
	"what follows the push path in the address"},
};

static const struct opt_spec spec = {
    .usage = "gridhook explain [OPTION]... FILE|-",
    .about = "Shows what becomes of a push: which family takes it, what each "
	     "field comes from, and what is dropped. Nothing is sent.",
    .rows = rows,
    .count = sizeof(rows) / sizeof(rows[0]),
    .args_min = 1,
    .args_max = 1,
};

static const char *const names[] = {
    [FIELD_SOURCE] = "source",
    [FIELD_TITLE] = "title",
    [FIELD_TEXT] = "text",
    [FIELD_PRIORITY] = "priority",
    [FIELD_PRIORITY_5] = "priority",
    [FIELD_SEVERITY] = "priority",
    [FIELD_STATUS] = "status",
    [FIELD_TIME] = "time",
    [FIELD_URL] = "link",
    [FIELD_TAGS] = "tags",
    [FIELD_DEDUPE] = "key",
    [FIELD_JOB_ID] = "job-id",
    [FIELD_JOB_NAME] = "job",
    [FIELD_JOB_ERROR] = "job-error",
    [FIELD_ABOUT] = "about",
    [FIELD_JOB_EXIT] = "job-exit",
    [FIELD_JOB_DURATION] = "job-duration",
    [FIELD_JOB_NEXT] = "job-next",
    [FIELD_SPEAK] = "speak",
    [FIELD_SILENT] = "silent",
    [FIELD_MARKDOWN] = "format",
    [FIELD_LINE] = "text",
    [FIELD_LINES] = "text",
};

/* Members that were taken, so that the others can be named. */
struct taken {
	const struct jnode *nodes[TAKEN_MAX];
	unsigned count, events, dropped;
};

static void
print_value(struct span value)
{
	struct span cut = utf8_cut(value, SHOWN_MAX);
	char bytes[SHOWN_MAX * 3 + 1];
	struct buf shown = {
	    .data = bytes, .cap = sizeof(bytes), .max = sizeof(bytes)};

	utf8_show(&shown, cut);
	for (size_t i = 0; i < shown.len; i++)
		if (bytes[i] == '\n' || bytes[i] == '\t')
			bytes[i] = ' ';
	printf("%.*s%s\n", SPAN_ARG(buf_span(&shown)),
	    cut.len < value.len ? "..." : "");
}

static void
on_event(void *arg, const struct family *family, struct jval object)
{
	struct taken *taken = arg;
	const char *file = recipe_file(family);

	(void)object;
	printf("%sfamily %s (%s)\n", taken->events++ == 0 ? "" : "\n",
	    family->name, file == NULL ? "built in" : file);
}

static void
on_take(void *arg, enum field field, const char *path, struct jval value)
{
	struct taken *taken = arg;

	printf("  %-12s <- %s", names[field], path);
	if (jval_is_absent(value)) {
		putchar('\n');
		return;
	}
	printf(" = ");
	print_value(jval_raw(value));
	if (taken->count < TAKEN_MAX)
		taken->nodes[taken->count++] = value.node;
}

static bool
is_taken(const struct taken *taken, const struct jnode *node)
{
	for (unsigned i = 0; i < taken->count; i++)
		if (node->start >= taken->nodes[i]->start &&
		    node->end <= taken->nodes[i]->end)
			return true;
	return false;
}

/* Each value that no field has; as deep as the document, which has a limit. */
static void
print_dropped(struct taken *taken, struct jval value, const char *path)
{
	struct jwalk walk = jwalk_begin(value);
	struct jval name, each;
	char inner[512];
	unsigned index = 0;

	if (jval_type(value) != JOBJECT && jval_type(value) != JARRAY) {
		if (is_taken(taken, value.node) ||
		    taken->dropped++ >= DROPPED_MAX)
			return;
		printf("  %s = ", path);
		print_value(jval_raw(value));
		return;
	}
	while (jwalk_next(&walk, &name, &each)) {
		struct span text = jval_raw(name);
		int len;

		if (jval_is_absent(name))
			len = snprintf(
			    inner, sizeof(inner), "%s.%u", path, index++);
		else
			len = snprintf(inner, sizeof(inner), "%s%s%.*s", path,
			    path[0] == '\0' ? "" : ".", (int)text.len - 2,
			    text.ptr + 1);
		if (len < 0 || (size_t)len >= sizeof(inner))
			continue;
		print_dropped(taken, each, inner);
	}
}

/* The events as the window gets them, without the original. */
static void
print_event(const struct event *event, unsigned number, unsigned count)
{
	const struct event_place place = {
	    .seq = 1, .epoch = "x", .push = SPAN("x"), .count = 1};
	static const char *const shown[] = {"source", "kind", "title", "text",
	    "priority", "status", "url", "tags", "time", "dedupe", "about",
	    "speak", "job"};
	struct event bare = *event;
	struct jscan doc = {.count = 0};
	struct jsonw json;
	struct buf text;

	printf("\nevent %u of %u\n", number, count);
	bare.data = SPAN("");
	buf_init(&text, 1 << 20);
	jsonw_init(&json, &text);
	event_write(&json, &bare, &place);
	if (jsonw_end(&json) == ERR_OK &&
	    jscan_parse(&doc, buf_span(&text), DEPTH_MAX, NULL) == ERR_OK)
		for (size_t i = 0; i < sizeof(shown) / sizeof(shown[0]); i++) {
			printf("  %-12s ",
			    strcmp(shown[i], "url") == 0          ? "link"
				: strcmp(shown[i], "dedupe") == 0 ? "key"
								  : shown[i]);
			print_value(
			    jval_raw(jval_member(jscan_root(&doc), shown[i])));
		}
	jscan_fini(&doc);
	buf_fini(&text);
}

static struct span
header_of(void *arg, const char *name)
{
	const struct opt_list *headers = arg;
	struct span line, given;

	for (int i = 0; i < headers->count; i++) {
		line = span_of(headers->items[i]);
		given = span_trim(span_sub(line, 0, span_find(line, ':')));
		if (span_eq_nocase(given, span_of(name)))
			return span_trim(
			    span_from(line, span_find(line, ':') + 1));
	}
	return SPAN("");
}

static enum err
explain(const struct options *options, struct span body,
    const struct recipes *recipes, struct arena *arena, struct fault *fault)
{
	struct opt_list headers = options->headers;
	struct taken taken = {.count = 0};
	const struct trace trace = {
	    .event = on_event, .took = on_take, .arg = &taken};
	struct hints hints = {.recipes = recipes,
	    .suffix = span_of(options->rest),
	    .header = header_of,
	    .header_arg = &headers,
	    .trace = &trace};
	struct jscan doc = {.count = 0};
	struct events events;
	enum err err;

	err = jscan_parse(&doc, body, DEPTH_MAX, fault);
	if (err == ERR_OK)
		err = normalise(&events, jscan_root(&doc), &hints, arena);
	if (err == ERR_OK) {
		for (unsigned i = 0; i < events.count; i++)
			print_event(events.list[i], i + 1, events.count);
		printf("\ndropped (kept with the event as its data)\n");
		print_dropped(&taken, jscan_root(&doc), "");
		if (taken.dropped > DROPPED_MAX)
			printf("  and %u more\n", taken.dropped - DROPPED_MAX);
		else if (taken.dropped == 0)
			printf("  nothing\n");
	}
	jscan_fini(&doc);
	return err;
}

static enum err
read_body(struct buf *body, const char *path, struct fault *fault)
{
	bool is_stdin = strcmp(path, "-") == 0;
	FILE *file = is_stdin ? stdin : fopen(path, "re");
	char bytes[16384];
	size_t got;

	if (file == NULL) {
		fault_set(fault, path, "cannot be read: %m");
		return ERR_NOT_FOUND;
	}
	while ((got = fread(bytes, 1, sizeof(bytes), file)) > 0)
		buf_add(body, bytes, got);
	if (ferror(file)) {
		fault_set(fault, path, "cannot be read: %m");
		buf_fail(body, ERR_SYSTEM);
	}
	if (!is_stdin)
		fclose(file);
	return buf_end(body);
}

int
cmd_explain(const char *config, int argc, char **argv)
{
	struct options options = {.rest = NULL};
	struct fault fault = {.place = ""};
	struct recipes *recipes = NULL;
	struct arena *arena = NULL;
	struct buf body;
	enum err err;
	int count, code = EXIT_FAILURE;

	(void)config;
	if (!opt_go(&code, &options, &spec, argc, argv, &count))
		return code;
	buf_init(&body, BODY_MAX);
	err = read_body(&body, argv[1], &fault);
	if (err == ERR_OK) {
		recipes = service_read_families();
		arena = arena_new(BODY_MAX * 8);
		err = recipes == NULL || arena == NULL ? ERR_NO_MEMORY : ERR_OK;
	}
	if (err == ERR_OK)
		err =
		    explain(&options, buf_span(&body), recipes, arena, &fault);
	if (err != ERR_OK)
		fprintf(stderr, "gridhook explain: %s: %s\n",
		    fault_is_set(&fault) ? fault.place : argv[1],
		    fault_is_set(&fault) ? fault.message : err_text(err));
	recipes_free(recipes);
	arena_free(arena);
	buf_fini(&body);
	return err == ERR_OK ? EXIT_SUCCESS : EXIT_FAILURE;
}
