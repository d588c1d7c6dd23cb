/* Actions of keys and of the mouse. */
#include "tools/gridhud/term/term_screen.h"

#include <ncurses.h>

#define CTRL(letter) ((letter)&0x1f)
#define ESCAPE 27
#define WHEEL_LINES 3

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
	else if (history_end(term_history(term)) >
	    history_first(term_history(term)))
		term_search(term);
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
	return history_at(term_history(term), term->chosen);
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
		term_scroll_up(term, WHEEL_LINES);
		term_choose_in_sight(term);
	} else if (event.bstate & BUTTON5_PRESSED) {
		term_scroll_down(term, WHEEL_LINES);
		term_choose_in_sight(term);
	} else if (event.y >= 1 && event.y <= term_list_rows(term)) {
		number = term->rows[event.y - 1];
		if (number == 0)
			return;
		if (event.bstate & BUTTON1_DOUBLE_CLICKED) {
			term->chosen = number - 1;
			open_page(term, TERM_MESSAGE);
		} else if (event.bstate & (BUTTON1_PRESSED | BUTTON1_CLICKED)) {
			term->chosen = number - 1;
			if (number != history_end(term_history(term)))
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
		term_choose(term, -1);
		break;
	case KEY_DOWN:
	case 'j':
		term_choose(term, 1);
		break;
	case KEY_PPAGE:
	case CTRL('b'):
		term_page(term, true);
		break;
	case KEY_NPAGE:
	case CTRL('f'):
	case ' ':
		term_page(term, false);
		break;
	case KEY_HOME:
	case 'g':
		term_choose(term, INT32_MIN);
		break;
	case KEY_END:
	case 'G':
		term_choose(term, INT32_MAX);
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
		term_find(term, true, false);
		break;
	case 'N':
		term_find(term, false, false);
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
		term_open_link(term);
		return true;
	case 'm':
		app_toggle_mute(&term->app, chosen(term));
		return true;
	case 's':
		app_hush(&term->app);
		return true;
	case 'a':
		app_acknowledge_one(&term->app, term->chosen);
		return true;
	case 'A':
		app_acknowledge(&term->app);
		return true;
	case 'u':
		app_undo(&term->app);
		return true;
	case 'd':
		app_toggle_quiet(&term->app);
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

void
term_key(struct term *term, int key)
{
	term->dirty = true;
	if (key == KEY_RESIZE)
		return;
	if (key == TERM_FOCUS_IN || key == TERM_FOCUS_OUT) {
		app_focus(
		    &term->app, key == TERM_FOCUS_IN ? FOCUS_IN : FOCUS_OUT);
		return;
	}
	term->notice[0] = '\0';
	app_saw(&term->app);
	if (hud_shown(&term->app.hud) == HUD_HIDDEN)
		term->app.hud.base = HUD_IDLE; /* any key shows it again */
	else if (term_links_key(term, key))
		return;
	else if (term->prompt != PROMPT_NONE)
		prompt_key(term, key);
	else if (common_key(term, key))
		return;
	else if (term->mode == TERM_LIST)
		list_key(term, key);
	else
		page_key(term, key);
}
