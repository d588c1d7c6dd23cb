#include "tools/gridhud/term.h"

#include <fcntl.h>
#include <ncurses.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "common/fold.h"
#include "common/log.h"
#include "tools/gridhud/term_screen.h"
#include "tools/gridhud/text.h"

#define KEY_FOCUS_IN_ (KEY_MAX + 1)
#define KEY_FOCUS_OUT_ (KEY_MAX + 2)
#define CTRL(letter) ((letter)&0x1f)
#define ESCAPE 27
#define WHEEL_LINES 3

bool
term_is_there(void)
{
	return true;
}

/* --- the front ------------------------------------------------------------ */

static void
on_changed(void *arg)
{
	struct term *term = arg;

	term->dirty = true;
}

static void
on_added(void *arg, uint64_t number, bool live)
{
	struct term *term = arg;

	(void)live;
	if (term->at_end)
		term->chosen = number;
	term->dirty = true;
}

static void
on_notice(void *arg, const char *text)
{
	struct term *term = arg;
	struct buf buf;

	buf_init(&buf, 4096);
	text_show_line(&buf, span_of(text));
	snprintf(term->notice, sizeof(term->notice), "%.*s",
	    SPAN_ARG(buf_span(&buf)));
	buf_fini(&buf);
	term->dirty = true;
}

static void
on_bell(void *arg)
{
	(void)arg;
	beep();
}

static const struct front front = {.added = on_added,
    .notice = on_notice,
    .bell = on_bell,
    .changed = on_changed};

/* --- moving --------------------------------------------------------------- */

static struct history *
history_of(const struct term *term)
{
	return term->app.history;
}

static void
scroll_up(struct term *term, unsigned lines)
{
	term->at_end = false;
	for (; lines > 0; lines--)
		if (term->top_line > 0)
			term->top_line--;
		else if (term->top > history_first(history_of(term))) {
			unsigned count = term_lay_out(term, --term->top);

			term->top_line = count > 0 ? count - 1 : 0;
		}
}

/* What is beyond the end is put right when it is drawn. */
static void
scroll_down(struct term *term, unsigned lines)
{
	unsigned count = term_lay_out(term, term->top);

	for (; lines > 0 && !term->at_end; lines--) {
		if (++term->top_line < count)
			continue;
		if (term->top + 1 >= history_end(history_of(term))) {
			term->at_end = true;
			return;
		}
		term->top_line = 0;
		count = term_lay_out(term, ++term->top);
	}
}

/* Lines from the top line to the end of the chosen message. */
static unsigned
lines_to_chosen(struct term *term)
{
	unsigned rows = (unsigned)term_list_rows(term);
	unsigned lines = 0;
	uint64_t number;

	for (number = term->top; number <= term->chosen; number++) {
		lines += term_lay_out(term, number);
		/* Far below: start anew just above it. */
		if (lines > rows * 4) {
			term->top = term->chosen;
			term->top_line = 0;
			return term_lay_out(term, term->chosen);
		}
	}
	return lines - term->top_line;
}

static void
show_chosen(struct term *term)
{
	unsigned rows = (unsigned)term_list_rows(term);
	unsigned lines;

	if (term->chosen + 1 == history_end(history_of(term))) {
		term->at_end = true;
		return;
	}
	term->at_end = false;
	if (term->chosen < term->top ||
	    (term->chosen == term->top && term->top_line > 0)) {
		term->top = term->chosen;
		term->top_line = 0;
		return;
	}
	lines = lines_to_chosen(term);
	if (lines > rows)
		scroll_down(term, lines - rows);
}

static void
choose(struct term *term, int64_t step)
{
	uint64_t first = history_first(history_of(term));
	uint64_t end = history_end(history_of(term));

	if (end == first)
		return;
	if (step < 0 && term->chosen - first < (uint64_t)-step)
		term->chosen = first;
	else if (step > 0 && end - 1 - term->chosen < (uint64_t)step)
		term->chosen = end - 1;
	else
		term->chosen += (uint64_t)step;
	show_chosen(term);
}

/* After scrolling the chosen one is one that is in sight. */
static void
choose_in_sight(struct term *term)
{
	if (term->at_end)
		term->chosen = history_end(history_of(term)) - 1;
	else
		term->chosen = term->top;
}

static void
page(struct term *term, bool up)
{
	unsigned rows = (unsigned)term_list_rows(term);
	unsigned step = rows > 2 ? rows - 2 : 1;

	if (up)
		scroll_up(term, step);
	else
		scroll_down(term, step);
	choose_in_sight(term);
}

/* --- searching ------------------------------------------------------------ */

static bool
fits(const struct message *message, struct span search)
{
	return text_find(message->title, search, 0, false).ptr != NULL ||
	    text_find(message->text, search, 0, false).ptr != NULL ||
	    text_find(message->source, search, 0, false).ptr != NULL ||
	    text_find(message->error, search, 0, false).ptr != NULL;
}

/* From the chosen one on, `from` itself included where `here` says so. */
static void
find(struct term *term, bool older, bool here)
{
	uint64_t number = term->chosen;
	const struct message *message;

	if (term->search.len == 0) {
		on_notice(term, "nothing is searched for: / begins a search");
		return;
	}
	for (;; here = false) {
		message = history_at(history_of(term), number);
		if (message == NULL)
			break;
		if ((here || number != term->chosen) &&
		    fits(message, buf_span(&term->search))) {
			term->chosen = number;
			show_chosen(term);
			return;
		}
		number += older ? (uint64_t)-1 : 1;
	}
	on_notice(term,
	    older ? "no older message has it" : "no newer message has it");
}

static void
begin_search(struct term *term)
{
	buf_clear(&term->search);
	fold_add(&term->search, span_of(term->typed));
	if (buf_end(&term->search) != ERR_OK)
		buf_clear(&term->search);
	if (term->search.len == 0)
		return;
	term->chosen = history_end(history_of(term)) - 1;
	find(term, true, true);
}

/* --- the prompt ----------------------------------------------------------- */

static void
open_prompt(struct term *term, enum term_prompt prompt)
{
	term->prompt = prompt;
	term->typed[0] = '\0';
}

static void
drop_last(char *typed)
{
	size_t len = strlen(typed);

	while (len > 0 && ((unsigned char)typed[len - 1] & 0xc0) == 0x80)
		len--;
	if (len > 0)
		len--;
	typed[len] = '\0';
}

static void
close_prompt(struct term *term, bool enter)
{
	enum term_prompt prompt = term->prompt;

	term->prompt = PROMPT_NONE;
	if (!enter)
		return;
	if (prompt == PROMPT_WRITE)
		app_write(&term->app, span_of(term->typed));
	else if (history_end(history_of(term)) >
	    history_first(history_of(term)))
		begin_search(term);
}

static void
prompt_key(struct term *term, int key)
{
	size_t len = strlen(term->typed);

	if (key == ESCAPE || key == CTRL('g') || key == CTRL('c'))
		close_prompt(term, false);
	else if (key == '\n' || key == '\r' || key == KEY_ENTER)
		close_prompt(term, true);
	else if (key == KEY_BACKSPACE || key == 127 || key == CTRL('h'))
		drop_last(term->typed);
	else if (key == CTRL('u'))
		term->typed[0] = '\0';
	else if (key >= 0x20 && key < 0x100 && len + 1 < TERM_PROMPT_MAX) {
		/* Bytes of UTF-8 come one by one. */
		term->typed[len] = (char)key;
		term->typed[len + 1] = '\0';
	}
}

/* --- keys ----------------------------------------------------------------- */

static const struct message *
chosen(const struct term *term)
{
	return history_at(history_of(term), term->chosen);
}

static void
open_link(struct term *term)
{
	const struct message *message = chosen(term);

	if (message != NULL)
		app_open_link(&term->app, message->url);
}

static void
open_page(struct term *term, enum term_mode mode)
{
	if (mode == TERM_MESSAGE && chosen(term) == NULL)
		return;
	term->mode = mode;
	term->page_top = 0;
}

static void
mouse(struct term *term)
{
	uint64_t number;
	MEVENT event;

	if (getmouse(&event) != OK)
		return;
	if (event.bstate & BUTTON4_PRESSED) {
		scroll_up(term, WHEEL_LINES);
		choose_in_sight(term);
	} else if (event.bstate & BUTTON5_PRESSED) {
		scroll_down(term, WHEEL_LINES);
		choose_in_sight(term);
	} else if (event.y >= 1 && event.y <= term_list_rows(term)) {
		number = term->rows[event.y - 1];
		if (number == 0)
			return;
		if (event.bstate & BUTTON1_DOUBLE_CLICKED) {
			term->chosen = number - 1;
			open_page(term, TERM_MESSAGE);
		} else if (event.bstate & (BUTTON1_PRESSED | BUTTON1_CLICKED)) {
			term->chosen = number - 1;
			if (number != history_end(history_of(term)))
				term->at_end = false;
		}
	}
}

static void
forget_search(struct term *term)
{
	buf_clear(&term->search);
}

static void
list_key(struct term *term, int key)
{
	switch (key) {
	case KEY_UP:
	case 'k':
		choose(term, -1);
		break;
	case KEY_DOWN:
	case 'j':
		choose(term, 1);
		break;
	case KEY_PPAGE:
	case CTRL('b'):
		page(term, true);
		break;
	case KEY_NPAGE:
	case CTRL('f'):
	case ' ':
		page(term, false);
		break;
	case KEY_HOME:
	case 'g':
		choose(term, INT32_MIN);
		break;
	case KEY_END:
	case 'G':
		choose(term, INT32_MAX);
		break;
	case '\n':
	case '\r':
	case KEY_ENTER:
		open_page(term, TERM_MESSAGE);
		break;
	case '/':
		open_prompt(term, PROMPT_SEARCH);
		break;
	case 'n':
		find(term, true, false);
		break;
	case 'N':
		find(term, false, false);
		break;
	case ESCAPE:
		forget_search(term);
		break;
	case 'q':
		term->app.quit = true;
		break;
	case KEY_MOUSE:
		mouse(term);
		break;
	default:
		break;
	}
}

static void
page_key(struct term *term, int key)
{
	unsigned rows = (unsigned)term_list_rows(term);

	switch (key) {
	case ESCAPE:
	case 'q':
	case '\n':
	case '\r':
	case KEY_ENTER:
		term->mode = TERM_LIST;
		break;
	case KEY_UP:
	case 'k':
		term->page_top -= term->page_top > 0;
		break;
	case KEY_DOWN:
	case 'j':
		term->page_top++;
		break;
	case KEY_PPAGE:
		term->page_top -= term->page_top > rows ? rows : term->page_top;
		break;
	case KEY_NPAGE:
	case ' ':
		term->page_top += rows;
		break;
	default:
		break;
	}
}

/* Keys that mean the same everywhere; false for any other. */
static bool
common_key(struct term *term, int key)
{
	switch (key) {
	case 'o':
		open_link(term);
		return true;
	case 'm':
		app_toggle_mute(&term->app, chosen(term));
		return true;
	case 's':
		app_hush(&term->app);
		return true;
	case 'a':
		app_acknowledge(&term->app);
		return true;
	case 'w':
		open_prompt(term, PROMPT_WRITE);
		return true;
	case 'r':
		app_attach(&term->app);
		return true;
	case ',':
		open_page(term, TERM_SETTINGS);
		return true;
	case '?':
		open_page(term, TERM_HELP);
		return true;
	case CTRL('l'):
		clearok(stdscr, TRUE);
		return true;
	default:
		return false;
	}
}

static void
obey(struct term *term, int key)
{
	term->dirty = true;
	if (key == KEY_RESIZE)
		return;
	if (key == KEY_FOCUS_IN_ || key == KEY_FOCUS_OUT_) {
		app_focus(
		    &term->app, key == KEY_FOCUS_IN_ ? FOCUS_IN : FOCUS_OUT);
		return;
	}
	term->notice[0] = '\0';
	app_saw(&term->app);
	if (term->prompt != PROMPT_NONE)
		prompt_key(term, key);
	else if (common_key(term, key))
		return;
	else if (term->mode == TERM_LIST)
		list_key(term, key);
	else
		page_key(term, key);
}

static void
on_ready(void *arg)
{
	struct term *term = arg;
	int key;

	while ((key = getch()) != ERR)
		obey(term, key);
}

/* --- the title ------------------------------------------------------------ */

static bool
has_title(void)
{
	static const char *const names[] = {"xterm", "tmux", "screen", "rxvt",
	    "alacritty", "foot", "st-", "konsole", "gnome", "vte", "kitty",
	    "wezterm", "contour"};
	const char *name = getenv("TERM");
	size_t i;

	for (i = 0; name != NULL && i < sizeof(names) / sizeof(names[0]); i++)
		if (strncmp(name, names[i], strlen(names[i])) == 0)
			return true;
	return false;
}

/* The application's name was given by the person: no escape is in it. */
static void
set_title(struct term *term)
{
	unsigned unread = history_unread(history_of(term));
	char title[sizeof(term->title)];
	struct buf name;

	buf_init(&name, 1024);
	text_show_line(&name, span_of(term->app.settings.app));
	if (unread > 0 && term->app.settings.title_unread)
		snprintf(title, sizeof(title), "(%u) %.*s", unread,
		    SPAN_ARG(buf_span(&name)));
	else
		snprintf(
		    title, sizeof(title), "%.*s", SPAN_ARG(buf_span(&name)));
	buf_fini(&name);
	if (strcmp(title, term->title) == 0 || !has_title())
		return;
	snprintf(term->title, sizeof(term->title), "%s", title);
	printf("\033]2;%s\033\\", title);
	fflush(stdout);
}

/* --- each round ----------------------------------------------------------- */

static void
on_round(void *arg)
{
	struct term *term = arg;
	int64_t minute = clock_now_ms(&term->app.clock) / 60000;
	bool was_at_end = term->at_end;

	if (minute != term->minute || term->night != term->app.night)
		term->dirty = true;
	if (!term->dirty)
		return;
	term->minute = minute;
	if (term->night != term->app.night)
		term_colours(term, term->app.night);
	term_draw(term);
	term->dirty = false;
	set_title(term);
	term->app.at_end = term->at_end;
	if (term->at_end && !was_at_end && term->app.focus == FOCUS_IN)
		app_saw(&term->app);
}

/* --- the screen ----------------------------------------------------------- */

static void
tell_terminal(const char *codes)
{
	fputs(codes, stdout);
	fflush(stdout);
}

static void
open_screen(struct term *term)
{
	initscr();
	cbreak();
	noecho();
	nonl();
	keypad(stdscr, TRUE);
	nodelay(stdscr, TRUE);
	set_escdelay(25);
	define_key("\033[I", KEY_FOCUS_IN_);
	define_key("\033[O", KEY_FOCUS_OUT_);
	if (term->app.settings.mouse)
		mousemask(BUTTON1_PRESSED | BUTTON1_CLICKED |
			BUTTON1_DOUBLE_CLICKED | BUTTON4_PRESSED |
			BUTTON5_PRESSED,
		    NULL);
	mouseinterval(150);
	term->colours = has_colors() && getenv("NO_COLOR") == NULL;
	if (term->colours) {
		start_color();
		use_default_colors();
		term->many_colours =
		    COLORS >= 256 && COLOR_PAIRS > 2 + TERM_STYLES * 2;
	}
	term_colours(term, term->app.night);
	tell_terminal("\033[22;2t\033[?1004h");
}

static void
close_screen(void)
{
	endwin();
	tell_terminal("\033[?1004l\033[23;2t");
}

/*
 * The log would write over the screen: it goes beside the history, and the
 * file is begun anew each time.
 */
static void
move_log(const struct term *term)
{
	char path[FS_PATH_MAX], log[FS_PATH_MAX];
	int fd;

	if (isatty(STDERR_FILENO) == 0 ||
	    settings_history(path, &term->app.settings) != ERR_OK ||
	    fs_path(log, "%s.log", path) != ERR_OK)
		return;
	fd = open(log, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
	if (fd < 0)
		return;
	dup2(fd, STDERR_FILENO);
	close(fd);
}

int
term_run(const struct term_options *options)
{
	struct fault fault = {.place = ""};
	struct term *term = calloc(1, sizeof(*term));
	enum err err = ERR_NO_MEMORY;
	int code = EXIT_FAILURE;

	if (term == NULL) {
		fprintf(stderr, "gridhud: %s\n", err_text(err));
		return code;
	}
	view_init(&term->view);
	buf_init(&term->search, 4096);
	term->at_end = term->dirty = true;
	err = app_open(
	    &term->app, options->config, options->now, &front, term, &fault);
	if (err == ERR_OK) {
		uint64_t end = history_end(history_of(term));

		term->chosen = end > 0 ? end - 1 : 0;
		term->app.on_terminal = true;
		move_log(term);
		open_screen(term);
		err =
		    app_run(&term->app, STDIN_FILENO, on_ready, on_round, term);
		close_screen();
		code = err == ERR_OK ? EXIT_SUCCESS : EXIT_FAILURE;
	} else
		fprintf(
		    stderr, "gridhud: %s: %s\n", fault.place, fault.message);
	app_close(&term->app);
	view_fini(&term->view);
	buf_fini(&term->search);
	free(term);
	return code;
}
