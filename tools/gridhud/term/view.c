/*
 * A message's text is first written into a draft, a style for each byte; marks
 * of Markdown are gone from it. The draft is then broken into lines that are
 * copied behind their indents.
 */
#include "tools/gridhud/term/view.h"

#include <assert.h>
#include <stdlib.h>

#include "tools/gridhud/app/clock.h"
#include "tools/gridhud/inline.h"
#include "tools/gridhud/text.h"

#define VIEW_MAX ((size_t)1 << 20)
#define INDENT 7 /* "21:04  " */
#define WIDTH_MIN 20
#define BADGES 24 /* columns that are left to them */

void
view_init(struct view *view)
{
	*view = (struct view){.lines = NULL};
	buf_init(&view->text, VIEW_MAX);
	buf_init(&view->styles, VIEW_MAX);
}

void
view_fini(struct view *view)
{
	buf_fini(&view->text);
	buf_fini(&view->styles);
	free(view->lines);
}

/* --- putting lines -------------------------------------------------------- */

static void
clear(struct view *view)
{
	buf_clear(&view->text);
	buf_clear(&view->styles);
	view->count = 0;
	view->err = ERR_OK;
}

static void
line_begin(struct view *view)
{
	struct view_line *lines;

	if (view->count == view->cap) {
		unsigned cap = view->cap == 0 ? 32 : view->cap * 2;

		lines = realloc(view->lines, cap * sizeof(*lines));
		if (lines == NULL) {
			view->err = ERR_NO_MEMORY;
			return;
		}
		view->lines = lines;
		view->cap = cap;
	}
	view->lines[view->count++] =
	    (struct view_line){.start = view->text.len};
}

static void
put_styled(struct view *view, struct span text, const char *styles)
{
	if (view->count == 0 || view->err != ERR_OK)
		return;
	buf_add_span(&view->text, text);
	buf_add(&view->styles, styles, text.len);
	view->lines[view->count - 1].len += text.len;
	if (buf_end(&view->text) != ERR_OK || buf_end(&view->styles) != ERR_OK)
		view->err = ERR_NO_MEMORY;
}

static void
put(struct view *view, struct span text, enum style style)
{
	char styles[256];
	struct span piece;

	memset(styles, style, sizeof(styles));
	while (text.len > 0) {
		piece = span_sub(text, 0, sizeof(styles));
		put_styled(view, piece, styles);
		text = span_from(text, piece.len);
	}
}

static void
indent(struct view *view, int columns)
{
	static const char blanks[] = "                                ";

	put(view, span_make(blanks, (size_t)columns), STYLE_TEXT);
}

/* --- the draft ------------------------------------------------------------ */

struct draft {
	struct buf text, styles;
};

static void
draft_add(struct draft *draft, struct span text, enum style style)
{
	buf_add_span(&draft->text, text);
	for (size_t i = 0; i < text.len; i++)
		buf_add_char(&draft->styles, (char)style);
}

static enum style
style_of(const struct inline_piece *piece, enum style base)
{
	if (piece->url.len > 0)
		return STYLE_LINK;
	if (piece->code)
		return STYLE_CODE;
	if (piece->bold)
		return STYLE_BOLD;
	return piece->italic ? STYLE_ITALIC : base;
}

static void
draft_inline(
    struct draft *draft, struct span line, bool markdown, enum style base)
{
	struct inline_reader reader;
	struct inline_piece piece;

	inline_begin(&reader, line, markdown);
	while (inline_next(&reader, &piece))
		draft_add(draft, piece.text, style_of(&piece, base));
}

static void
draft_line(struct draft *draft, struct span line, bool *in_code)
{
	size_t hashes = 0;

	if (span_starts(line, SPAN("```"))) {
		*in_code = !*in_code;
		return;
	}
	while (hashes < line.len && line.ptr[hashes] == '#')
		hashes++;
	if (*in_code)
		draft_add(draft, line, STYLE_CODE);
	else if (hashes > 0 && hashes <= 6 && hashes < line.len &&
	    line.ptr[hashes] == ' ')
		draft_inline(
		    draft, span_from(line, hashes + 1), true, STYLE_BOLD);
	else if (span_starts(line, SPAN("- ")) ||
	    span_starts(line, SPAN("* "))) {
		draft_add(draft, SPAN("\xE2\x80\xA2 "), STYLE_DIM);
		draft_inline(draft, span_from(line, 2), true, STYLE_TEXT);
	} else
		draft_inline(draft, line, true, STYLE_TEXT);
	draft_add(draft, SPAN("\n"), STYLE_TEXT);
}

static void
draft_text(struct draft *draft, const struct message *message)
{
	struct span rest = message->text;
	bool in_code = false;
	struct span line;

	while (!message->markdown && span_cut(&line, &rest, '\n')) {
		draft_inline(draft, line, false, STYLE_TEXT);
		draft_add(draft, SPAN("\n"), STYLE_TEXT);
	}
	while (span_cut(&line, &rest, '\n'))
		draft_line(draft, line, &in_code);
}

static void
mark_hit(struct draft *draft, struct span hit, enum style style)
{
	memset(
	    draft->styles.data + (hit.ptr - draft->text.data), style, hit.len);
}

static void
mark_hits(struct draft *draft, const struct view_options *options)
{
	struct span text = buf_span(&draft->text);
	struct span hit;

	if (buf_end(&draft->text) != ERR_OK ||
	    buf_end(&draft->styles) != ERR_OK || text.len == 0)
		return;
	for (size_t at = 0;
	     (hit = words_find(options->words, text, at)).ptr != NULL;
	     at = (size_t)(hit.ptr - text.ptr) + hit.len)
		mark_hit(draft, hit, STYLE_WORD);
	for (size_t at = 0; options->search.len > 0 &&
	     (hit = text_find(text, options->search, at, false)).ptr != NULL;
	     at = (size_t)(hit.ptr - text.ptr) + hit.len)
		mark_hit(draft, hit, STYLE_FOUND);
}

/* --- breaking ------------------------------------------------------------- */

/* How much of the paragraph goes on a line; *next is where the next begins. */
static size_t
break_at(struct span text, int width, size_t *next)
{
	struct span fits = text_cut_width(text, width);
	size_t end = fits.len;

	*next = end;
	if (fits.len == text.len)
		return end;
	if (text.ptr[end] == ' ') {
		*next = end + 1;
		return end;
	}
	while (end > 0 && text.ptr[end - 1] != ' ')
		end--;
	if (end == 0) { /* one word that is longer than a line */
		if (fits.len == 0)
			*next = text.len - text_cut_count(text, 1).len > 0
			    ? text_cut_count(text, 1).len
			    : text.len;
		return *next;
	}
	*next = end;
	return end - 1;
}

/* Tabs as blanks, so that widths are right. */
static void
settle_tabs(struct draft *draft)
{
	for (size_t i = 0; i < draft->text.len; i++)
		if (draft->text.data[i] == '\t')
			draft->text.data[i] = ' ';
}

/* False when the ceiling of lines is reached. */
static bool
put_paragraph(struct view *view, const struct draft *draft, struct span text,
    const struct view_options *options, unsigned *lines)
{
	int width = options->width - INDENT - 1;
	size_t next, len;

	do {
		if (options->lines_max > 0 && *lines == options->lines_max)
			return false;
		len = break_at(text, width, &next);
		line_begin(view);
		indent(view, INDENT);
		put_styled(view, span_sub(text, 0, len),
		    draft->styles.data + (text.ptr - draft->text.data));
		++*lines;
		text = span_from(text, next);
	} while (text.len > 0);
	return true;
}

static void
put_draft(
    struct view *view, struct draft *draft, const struct view_options *options)
{
	struct span rest, text;
	unsigned lines = 0;

	mark_hits(draft, options);
	settle_tabs(draft);
	rest = buf_span(&draft->text);
	while (rest.len > 0 && strchr("\n ", rest.ptr[rest.len - 1]) != NULL)
		rest.len--;
	if (rest.len == 0)
		return;
	while (span_cut(&text, &rest, '\n')) {
		if (put_paragraph(view, draft, text, options, &lines))
			continue;
		line_begin(view);
		indent(view, INDENT);
		put(view, SPAN("\xE2\x80\xA6 (Enter shows all of it)"),
		    STYLE_DIM);
		return;
	}
}

/* --- a message's parts ---------------------------------------------------- */

static void
put_day(struct view *view, const struct message *message, int width)
{
	char day[CLOCK_TEXT_MAX];
	int left;

	clock_day_text(day, message->time_ms);
	line_begin(view);
	view->lines[view->count - 1].is_day = true;
	left = (width - text_width(span_of(day)) - 2) / 2;
	for (int i = 1; i < left; i++)
		put(view, SPAN("\xE2\x94\x80"), STYLE_DIM);
	put(view, SPAN(" "), STYLE_DIM);
	put(view, span_of(day), STYLE_DIM);
	put(view, SPAN(" "), STYLE_DIM);
	for (int i = 1; i < left; i++)
		put(view, SPAN("\xE2\x94\x80"), STYLE_DIM);
	line_begin(view);
}

static const struct {
	const char *text;
	enum style style;
} badges[] = {
    [STATUS_NONE] = {"", STYLE_DIM},
    [STATUS_OK] = {"\xE2\x9C\x93 ok", STYLE_GOOD},
    [STATUS_ERROR] = {"\xE2\x9C\x97 failed", STYLE_BAD},
    [STATUS_WARNING] = {"! warning", STYLE_WARN},
    [STATUS_FIRING] = {"! firing", STYLE_BAD},
    [STATUS_RESOLVED] = {"\xE2\x9C\x93 resolved", STYLE_GOOD},
    [STATUS_SKIPPED] = {"skipped", STYLE_DIM},
    [STATUS_CANCELLED] = {"cancelled", STYLE_DIM},
};

static void
put_note(struct view *view, const char *text, enum style style)
{
	put(view, SPAN("  "), STYLE_TEXT);
	put(view, span_of(text), style);
}

static void
put_badges(struct view *view, const struct message *message, bool muted)
{
	if (message->status != STATUS_NONE)
		put_note(view, badges[message->status].text,
		    badges[message->status].style);
	if (message->priority == PRIORITY_CRITICAL)
		put_note(view, "critical", STYLE_BAD);
	else if (message->priority == PRIORITY_HIGH)
		put_note(view, "high", STYLE_WARN);
	if (message->alert)
		put_note(view, "\xE2\x97\x86 not acknowledged", STYLE_BAD);
	if (message->settled)
		put_note(view, "settled", STYLE_DIM);
	if (message->duplicate)
		put_note(view, "again", STYLE_DIM);
	if (message->replayed)
		put_note(view, "while away", STYLE_DIM);
	if (muted)
		put_note(view, "muted", STYLE_DIM);
	if (message->unread)
		put_note(view, "\xE2\x97\x8F", STYLE_MARK);
}

static void
put_head(struct view *view, const struct message *message,
    const struct view_options *options)
{
	static const enum style styles[] = {[ROLE_EVENT] = STYLE_SOURCE,
	    [ROLE_USER] = STYLE_USER,
	    [ROLE_ASSISTANT] = STYLE_ASSISTANT,
	    [ROLE_SYSTEM] = STYLE_SOURCE};
	char time[CLOCK_TEXT_MAX];
	int room = options->width - INDENT - BADGES;

	clock_time_text(time, message->time_ms);
	line_begin(view);
	put(view, span_of(time), STYLE_DIM);
	put(view, SPAN("  "), STYLE_TEXT);
	put(view, text_cut_width(message->source, room > 8 ? room : 8),
	    styles[message->role]);
	put_badges(view, message, options->muted);
}

static void
put_part(struct view *view, struct span text, enum style style,
    const struct view_options *options)
{
	struct draft draft;

	if (text.len == 0)
		return;
	buf_init(&draft.text, VIEW_MAX);
	buf_init(&draft.styles, VIEW_MAX);
	draft_add(&draft, text, style);
	put_draft(view, &draft, options);
	buf_fini(&draft.text);
	buf_fini(&draft.styles);
}

static void
put_text(struct view *view, const struct message *message,
    const struct view_options *options)
{
	struct draft draft;

	buf_init(&draft.text, VIEW_MAX);
	buf_init(&draft.styles, VIEW_MAX);
	draft_text(&draft, message);
	put_draft(view, &draft, options);
	buf_fini(&draft.text);
	buf_fini(&draft.styles);
}

static void
put_link(struct view *view, const struct message *message, int width)
{
	struct span url = text_cut_width(message->url, width - INDENT - 3);

	if (url.len == 0)
		return;
	line_begin(view);
	indent(view, INDENT);
	put(view, url, STYLE_LINK);
	if (url.len < message->url.len)
		put(view, SPAN("\xE2\x80\xA6"), STYLE_LINK);
}

enum err
view_message(struct view *view, const struct message *message,
    const struct view_options *given)
{
	struct view_options options;

	assert(message != NULL && given != NULL);
	options = *given;
	if (options.width < WIDTH_MIN)
		options.width = WIDTH_MIN;
	clear(view);
	if (options.day_line)
		put_day(view, message, options.width);
	put_head(view, message, &options);
	if (!span_eq(message->title, message->source))
		put_part(view, message->title, STYLE_TITLE, &options);
	if (!span_eq(message->text, message->title))
		put_text(view, message, &options);
	/* Some senders put the error into the text as well. */
	if (message->error.len > 0 && !span_eq(message->error, message->text))
		put_part(view, message->error, STYLE_BAD, &options);
	put_link(view, message, options.width);
	line_begin(view);
	return view->err;
}

enum err
view_plain(struct view *view, struct span text, int width)
{
	struct span line;
	size_t len, next;

	assert(width > 0);
	clear(view);
	while (span_cut(&line, &text, '\n'))
		do {
			len = break_at(line, width, &next);
			line_begin(view);
			put(view, span_sub(line, 0, len),
			    line.len > 0 && line.ptr[0] == '[' ? STYLE_TITLE
							       : STYLE_TEXT);
			line = span_from(line, next);
		} while (line.len > 0);
	return view->err;
}
