#include "fcgi/mcp/wording.h"

#include <assert.h>
#include <string.h>

#include "common/mcp/tool.h"
#include "fcgi/http/condition.h"
#include "fcgi/http/params.h"

#define ISSUES_BYTES_MAX 600
#define ISSUE_BYTES_MAX 400

static const struct {
	const char *parameter, *argument;
} names[] = {
    {"fournisseur", "supplier"},
    {"changes", "codeins"},
    {"auteur", "author"},
    {"etat", "states"},
    {"du", "from"},
    {"au", "until"},
    {"depuis", "cursor"},
    {"niveau", "level"},
    {"withData", "with_data"},
    {"q", "search"},
};

/* Parameters of the API that narrow the rows, and are no columns. */
static const struct {
	const char *parameter, *filter;
} filters[] = {
    {"gamme", "write codeGamme=eq.B, or codeGamme=in.(A,B)"},
    {"nomenclature", "write code1=eq.10, code2=eq.1010 or code3=eq.101010"},
    {"aValider", "write gammeAValider=is.not_null"},
};

static const struct {
	const char *said, *meant;
} phrases[] = {
    {"/fournisseurs lists them", "list_suppliers with search finds its code"},
    {"must be one of details.allowed, or some of them separated by commas",
	"names what is no column to sort by"},
    {"names what is no column: see details.unknown", "names what is no column"},
    {"arrivee, separated by commas", "arrivee"},
    {"must be meta.suivant of", "must be cursor of"},
    {"Begin again without depuis", "Begin again without cursor"},
    {"must not be before du", "must not be before from"},
    {"is no parameter here", "is no column"},
};

#define COUNT(table) (sizeof(table) / sizeof((table)[0]))

struct span
wording_argument(struct span parameter)
{
	assert(parameter.ptr != NULL || parameter.len == 0);
	for (size_t i = 0; i < COUNT(names); i++)
		if (span_eq(parameter, span_of(names[i].parameter)))
			return span_of(names[i].argument);
	return parameter;
}

/* How many bytes of `said` the phrase is that begins there, or 0. */
static size_t
phrase_at(struct span said, const char **meant)
{
	for (size_t i = 0; i < COUNT(phrases); i++)
		if (span_starts(said, span_of(phrases[i].said))) {
			*meant = phrases[i].meant;
			return strlen(phrases[i].said);
		}
	return 0;
}

void
wording_add(struct buf *text, struct span said)
{
	const char *meant = NULL;

	assert(text != NULL);
	while (said.len > 0) {
		size_t len = phrase_at(said, &meant);

		if (len > 0)
			buf_add_span(text, span_of(meant));
		else
			buf_add_char(text, said.ptr[0]);
		said = span_from(said, len > 0 ? len : 1);
	}
}

bool
wording_has_argument(const struct tool *tool, struct span name)
{
	for (const struct tool_field *field = tool->fields; field->name != NULL;
	     field++)
		if (span_eq(name, span_of(field->name)))
			return true;
	return false;
}

/* "changes[3].codein" is codeins[3]; range and reason are one for all. */
static void
add_path(struct buf *issue, struct span path)
{
	size_t end = span_find(path, ']');
	struct span whole = span_sub(path, 0, span_find(path, '['));
	struct span last = span_from(path, end + 2 <= path.len ? end + 2 : end);

	if (whole.len == path.len) {
		buf_add_span(issue,
		    path.len > 0 ? wording_argument(path)
				 : SPAN("The arguments:"));
		return;
	}
	if (span_eq(last, SPAN("gamme")) || span_eq(last, SPAN("motif"))) {
		buf_add_span(issue, last);
		return;
	}
	buf_add_span(issue, wording_argument(whole));
	buf_add_span(issue, span_sub(path, whole.len, end + 1 - whole.len));
}

static void
add_issue(struct buf *text, struct span issue)
{
	if (issue.len == 0 || text->len + issue.len > ISSUES_BYTES_MAX ||
	    (text->len > 0 &&
		memmem(text->data, text->len, issue.ptr, issue.len) != NULL))
		return;
	if (text->len > 0)
		buf_add_text(text, "; ");
	buf_add_span(text, issue);
}

void
wording_issues(struct buf *text, struct jval issues, struct arena *arena)
{
	struct jwalk walk = jwalk_begin(issues);
	struct jval none, each;
	struct buf issue;

	assert(text->len == 0);
	buf_init(&issue, 65536);
	while (jwalk_next(&walk, &none, &each)) {
		struct span parameter =
		    jval_text(jval_member(each, "parameter"), arena);
		struct span message =
		    span_sub(jval_text(jval_member(each, "message"), arena), 0,
			ISSUE_BYTES_MAX);

		buf_clear(&issue);
		add_path(&issue,
		    parameter.len > 0
			? parameter
			: jval_text(jval_member(each, "path"), arena));
		buf_add_char(&issue, ' ');
		wording_add(&issue, message);
		add_issue(text, buf_span(&issue));
	}
	buf_fail(text, buf_end(&issue));
	buf_fini(&issue);
}

static bool
is_parameter(struct span name)
{
	for (unsigned i = 0; i < param_count; i++)
		if (span_eq(name, span_of(param_infos[i].name)))
			return true;
	return false;
}

bool
wording_refuses(struct buf *text, const struct tool *tool, struct span filter)
{
	struct span argument = wording_argument(filter);

	if (condition_is_name(filter) || !is_parameter(filter))
		return false;
	buf_addf(text, "\"%.*s\" in filters is no column", SPAN_ARG(filter));
	for (size_t i = 0; i < COUNT(filters); i++)
		if (span_eq(filter, span_of(filters[i].parameter)))
			buf_addf(text, ": %s", filters[i].filter);
	if (wording_has_argument(tool, argument))
		buf_addf(text, ": it is the argument %.*s", SPAN_ARG(argument));
	buf_add_char(text, '.');
	return true;
}
