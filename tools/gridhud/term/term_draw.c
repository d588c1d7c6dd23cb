/*
 * Only what is in sight is laid out, from the top line on, so that drawing
 * takes as long with ten messages as with ten thousand.
 */
#include <ncurses.h>
#include <stdio.h>

#include "tools/gridhud/term/term_screen.h"
#include "tools/gridhud/text.h"

/* The bar shows as many as fit whole, and always the last two. */
static const char *const keys[] = {"\xE2\x86\xB5 open", "a acknowledge",
    "/ search", "o link", "m mute", "s stop speech", "A all", "u undo",
    "d do not disturb", "w write", ", settings"};

#define LAST_KEYS "? keys  q quit"

static const char help[] =
    "[Moving]\n"
    "Up, Down, k, j         the message before, the next one\n"
    "PageUp, PageDown       a screen; the wheel scrolls too\n"
    "Home, End, g, G        the oldest, the newest\n"
    "\n"
    "[Finding]\n"
    "/                      search; Enter goes to the newest that fits\n"
    "n, N                   the next older, the next newer that fits\n"
    "Esc                    forget the search\n"
    "\n"
    "[Doing]\n"
    "Enter                  the chosen message, all of it\n"
    "o                      open its link; asks which of several\n"
    "m                      mute its source, or hear it again\n"
    "s                      stop speaking, and forget what waits\n"
    "a                      acknowledge the chosen message\n"
    "A                      acknowledge all that wait for it\n"
    "u                      undo that\n"
    "d                      quiet for an hour, or no longer\n"
    "w                      write a line of your own\n"
    ",                      the settings as they stand\n"
    "r                      attach: try now, or take the server back\n"
    "Ctrl-L                 draw anew\n"
    "q                      leave; gridhook keeps what comes meanwhile\n";

/* --- text ----------------------------------------------------------------- */

/* Text of one style from the cursor on, at most `width` columns. */
static int
put(const struct term *term, struct span text, int style, bool chosen,
    int width)
{
	struct span fits = text_cut_width(text, width);
	struct span rest = fits;
	int used = 0;

	term_style(term, style, chosen);
	while (rest.len > 0) {
		struct span at = rest;
		uint32_t point = text_next(&rest);
		int columns = text_point_width(point);

		used += columns;
		/* A character unknown to the terminal would shift the rest. */
		if (columns == 1 && point > 0x7e &&
		    text_width(span_sub(at, 0, at.len - rest.len)) != 1)
			addstr("\xEF\xBF\xBD");
		else
			addnstr(at.ptr, (int)(at.len - rest.len));
	}
	return used;
}

static void
fill(const struct term *term, int style, bool chosen, int columns)
{
	term_style(term, style, chosen);
	while (columns-- > 0)
		addch(' ');
}

/* --- the bars ------------------------------------------------------------- */

static int
put_state(const struct term *term)
{
	const struct hud *hud = &term->app.hud;
	enum hud_state state = hud_shown(hud);
	int used = 0;

	if (state == HUD_HIDDEN)
		return 0;
	used +=
	    put(term, SPAN("\xE2\x97\x8F "), term_state_style(state), false, 4);
	used += put(
	    term, span_of(hud_name(state)), term_state_style(state), false, 20);
	if (hud->label[0] != '\0') {
		used += put(term, SPAN("  "), TERM_BAR, false, 2);
		used += put(term, span_of(hud->label), TERM_BAR, false,
		    term->width / 3);
	}
	return used;
}

/* The right end, put together first: what does not fit is left out. */
struct pieces {
	struct piece {
		char text[200];
		int style, weight;
	} all[8];
	int count, width;
};

static void
add_piece(struct pieces *pieces, int weight, int style, const char *text)
{
	struct piece *piece = &pieces->all[pieces->count++];

	snprintf(piece->text, sizeof(piece->text), "%s  ", text);
	piece->style = style;
	piece->weight = weight;
	pieces->width += text_width(span_of(piece->text));
}

static void
gather_pieces(const struct term *term, struct pieces *pieces)
{
	const struct app *app = &term->app;
	unsigned unread = history_unread(app->history);
	char text[160], time[CLOCK_TEXT_MAX];
	bool listening =
	    app->client.state == CLIENT_ATTACHED && app->server.listening;

	if (unread > 0) {
		snprintf(text, sizeof(text), "%u unread", unread);
		add_piece(pieces, 4, TERM_BAR_LINK, text);
	}
	if (app_is_undisturbed(app)) {
		clock_time_text(time, history_quiet_until(app->history));
		snprintf(text, sizeof(text), "quiet until %s", time);
		add_piece(pieces, 3, TERM_BAR_WARN, text);
	} else if (app_is_quiet(app))
		add_piece(pieces, 3, TERM_BAR_WARN, "quiet hours");
	if (!app->settings.speech || app->settings.engine == ENGINE_NONE)
		add_piece(pieces, 0, TERM_BAR_DIM, "speech off");
	app_link_text(app, text, sizeof(text));
	add_piece(pieces, listening ? 1 : 5,
	    listening ? TERM_BAR_DIM : TERM_BAR_BAD, text);
	clock_time_text(time, clock_now_ms(&app->clock));
	add_piece(pieces, 2, TERM_BAR, time);
}

static struct piece *
lightest(struct pieces *pieces)
{
	struct piece *found = NULL;

	for (struct piece *each = pieces->all;
	     each < pieces->all + pieces->count; each++)
		if (each->text[0] != '\0' &&
		    (found == NULL || each->weight < found->weight))
			found = each;
	return found;
}

static void
draw_top(const struct term *term)
{
	struct pieces pieces = {.count = 0};
	struct piece *least;
	int used = 2;

	move(0, 0);
	put(term, SPAN("  "), TERM_BAR, false, 2);
	used += put(term, span_of(term->app.settings.app), TERM_BAR, false,
	    term->width / 4);
	used += put(term, SPAN("   "), TERM_BAR, false, 3);
	used += put_state(term);
	gather_pieces(term, &pieces);
	while (pieces.width > term->width - used - 1 &&
	    (least = lightest(&pieces)) != NULL) {
		pieces.width -= text_width(span_of(least->text));
		least->text[0] = '\0';
	}
	fill(term, TERM_BAR, false, term->width - used - pieces.width);
	for (int i = 0; i < pieces.count; i++)
		put(term, span_of(pieces.all[i].text), pieces.all[i].style,
		    false, term->width);
}

static int
put_keys(const struct term *term)
{
	int room = term->width - text_width(SPAN(LAST_KEYS)) - 2;
	int used = put(term, SPAN(" "), TERM_BAR_DIM, false, 1);
	int width;

	for (size_t i = 0; i < sizeof(keys) / sizeof(keys[0]); i++) {
		width = text_width(span_of(keys[i])) + 2;
		if (used + width > room)
			continue;
		used += put(term, span_of(keys[i]), TERM_BAR_DIM, false, width);
		used += put(term, SPAN("  "), TERM_BAR_DIM, false, 2);
	}
	return used +
	    put(term, SPAN(LAST_KEYS), TERM_BAR_DIM, false, term->width - used);
}

static void
draw_bottom(const struct term *term)
{
	static const char *const prompts[] = {
	    [PROMPT_SEARCH] = " search: ", [PROMPT_WRITE] = " write: "};
	int used = 0;

	move(term->height - 1, 0);
	if (term->prompt != PROMPT_NONE) {
		struct span typed = span_of(term->typed);

		used = put(term, span_of(prompts[term->prompt]), TERM_BAR_LINK,
		    false, term->width - 1);
		while (text_width(typed) > term->width - used - 2)
			text_next(&typed);
		used += put(term, typed, TERM_BAR, false, term->width - used);
		fill(term, TERM_BAR, false, term->width - used);
		move(term->height - 1, used);
		return;
	}
	if (term->notice[0] != '\0') {
		used = put(term, SPAN(" "), TERM_BAR, false, 1);
		used += put(term, span_of(term->notice), TERM_BAR_WARN, false,
		    term->width - 2);
	} else if (term->mode == TERM_LIST)
		used = put_keys(term);
	else
		used = put(term, SPAN(" Esc back  PageUp, PageDown move"),
		    TERM_BAR_DIM, false, term->width);
	fill(term, TERM_BAR, false, term->width - used);
}

/* --- lines of a view ------------------------------------------------------ */

static void
draw_line(
    const struct term *term, const struct view_line *line, int row, bool chosen)
{
	const struct view *view = &term->view;
	size_t at = line->start, end = line->start + line->len;
	int used = TERM_GUTTER;

	chosen = chosen && !line->is_day && line->len > 0;
	move(row, 0);
	if (chosen) {
		put(term, SPAN("\xE2\x96\x8C"), STYLE_MARK, true, 1);
		put(term, SPAN(" "), STYLE_TEXT, true, 1);
	} else
		fill(term, STYLE_TEXT, false, TERM_GUTTER);
	while (at < end) {
		size_t stop = at;

		while (stop < end &&
		    view->styles.data[stop] == view->styles.data[at])
			stop++;
		used += put(term, span_make(view->text.data + at, stop - at),
		    view->styles.data[at], chosen, term->width - used);
		at = stop;
	}
	fill(term, STYLE_TEXT, chosen, term->width - used);
}

/* --- the list ------------------------------------------------------------- */

int
term_list_rows(const struct term *term)
{
	int rows = term->height - 2;

	return rows < 1 ? 1 : rows > TERM_ROWS_MAX ? TERM_ROWS_MAX : rows;
}

unsigned
term_lay_out(struct term *term, uint64_t number)
{
	struct app *app = &term->app;
	const struct message *message = history_at(app->history, number);
	const struct message *before =
	    number == 0 ? NULL : history_at(app->history, number - 1);
	struct view_options options = {.width = term->width - TERM_GUTTER,
	    .lines_max = 6,
	    .words = app->words,
	    .search = buf_span(&term->search)};

	if (message == NULL)
		return 0;
	options.muted =
	    message->role == ROLE_EVENT && app_is_muted(app, message->source);
	options.day_line = before == NULL ||
	    !clock_same_day(before->time_ms, message->time_ms);
	if (view_message(&term->view, message, &options) != ERR_OK)
		snprintf(term->notice, sizeof(term->notice), "%s",
		    err_text(ERR_NO_MEMORY));
	return term->view.count;
}

/* The top line that has the newest message's last line at the bottom. */
static void
go_to_end(struct term *term)
{
	uint64_t first = history_first(term->app.history);
	uint64_t number = history_end(term->app.history);
	unsigned rows = (unsigned)term_list_rows(term);
	unsigned lines = 0;

	while (number > first && lines < rows)
		lines += term_lay_out(term, --number);
	term->top = number;
	term->top_line = lines > rows ? lines - rows : 0;
}

static void
keep_in_range(struct term *term)
{
	uint64_t first = history_first(term->app.history);
	uint64_t end = history_end(term->app.history);

	if (term->top < first) {
		term->top = first;
		term->top_line = 0;
	}
	if (term->chosen < first)
		term->chosen = first;
	if (term->chosen >= end && end > first)
		term->chosen = end - 1;
}

static void
draw_empty(const struct term *term)
{
	bool away = term->app.client.state == CLIENT_AWAY;
	struct span text = away
	    ? SPAN("gridhook is not there. Start it: gridhook")
	    : SPAN("Nothing yet. What is pushed to gridhook comes in here.");
	int width = text_width(text);

	for (int row = 1; row <= term_list_rows(term); row++) {
		move(row, 0);
		fill(term, STYLE_TEXT, false, term->width);
	}
	move(term->height / 2,
	    term->width > width + 6 ? (term->width - width) / 2 : 0);
	put(term, text, STYLE_DIM, false, term->width);
}

/* False when the end was in sight before the last row. */
static bool
draw_messages(struct term *term)
{
	uint64_t end = history_end(term->app.history);
	uint64_t number = term->top;
	unsigned line = term->top_line;
	int rows = term_list_rows(term);
	int row = 0;

	for (; number < end && row < rows; number++, line = 0) {
		unsigned count = term_lay_out(term, number);

		for (; line < count && row < rows; line++, row++) {
			draw_line(term, &term->view.lines[line], row + 1,
			    number == term->chosen);
			term->rows[row] = number + 1;
		}
		if (line < count)
			return true;
	}
	for (; row < rows; row++) {
		move(row + 1, 0);
		fill(term, STYLE_TEXT, false, term->width);
		term->rows[row] = 0;
	}
	return number < end;
}

static void
draw_list(struct term *term)
{
	if (history_end(term->app.history) ==
	    history_first(term->app.history)) {
		draw_empty(term);
		return;
	}
	keep_in_range(term);
	if (term->at_end)
		go_to_end(term);
	if (!draw_messages(term) && !term->at_end) {
		term->at_end = true;
		go_to_end(term);
		draw_messages(term);
	}
}

/* --- pages ---------------------------------------------------------------- */

void
term_page_text(const struct term *term, struct buf *buf)
{
	if (term->mode == TERM_HELP)
		buf_add_span(buf, span_of(help));
	else if (term->mode == TERM_LINKS)
		term_links_text(term, buf);
	else
		settings_list(&term->app.settings, buf);
}

static void
lay_out_page(struct term *term)
{
	const struct message *message =
	    history_at(term->app.history, term->chosen);
	struct view_options options = {.width = term->width - TERM_GUTTER,
	    .words = term->app.words,
	    .search = buf_span(&term->search),
	    .day_line = true};
	struct buf buf;

	if (term->mode == TERM_MESSAGE) {
		if (message != NULL)
			view_message(&term->view, message, &options);
		return;
	}
	buf_init(&buf, 65536);
	term_page_text(term, &buf);
	view_plain(&term->view, buf_span(&buf), term->width - TERM_GUTTER - 1);
	buf_fini(&buf);
}

static void
draw_page(struct term *term)
{
	int rows = term_list_rows(term);
	unsigned most, line;

	lay_out_page(term);
	most = term->view.count > (unsigned)rows
	    ? term->view.count - (unsigned)rows
	    : 0;
	if (term->page_top > most)
		term->page_top = most;
	line = term->page_top;
	for (int row = 0; row < rows; row++, line++)
		if (line < term->view.count)
			draw_line(
			    term, &term->view.lines[line], row + 1, false);
		else {
			move(row + 1, 0);
			fill(term, STYLE_TEXT, false, term->width);
		}
}

/* --- all of it ------------------------------------------------------------ */

/* As a tool wants it: nothing of the messages, until a key or an alert. */
static void
draw_hidden(const struct term *term)
{
	term_style(term, STYLE_TEXT, false);
	erase();
	move(term->height - 1, 0);
	put(term, SPAN(" hidden (any key shows it)"), STYLE_DIM, false,
	    term->width - 1);
	curs_set(0);
	refresh();
}

void
term_draw(struct term *term)
{
	getmaxyx(stdscr, term->height, term->width);
	if (term->height < 3 || term->width < 10) {
		erase();
		refresh();
		return;
	}
	if (hud_shown(&term->app.hud) == HUD_HIDDEN) {
		draw_hidden(term);
		return;
	}
	if (term->mode == TERM_LIST)
		draw_list(term);
	else
		draw_page(term);
	draw_top(term);
	draw_bottom(term);
	curs_set(term->prompt != PROMPT_NONE);
	refresh();
}
