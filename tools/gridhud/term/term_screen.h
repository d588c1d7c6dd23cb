/*
 * term_screen: what the files of the terminal's window share.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "tools/gridhud/app/app.h"
#include "tools/gridhud/term/view.h"

#define TERM_GUTTER 2
#define TERM_PROMPT_MAX 1024
#define TERM_ROWS_MAX 500

enum term_mode {
	TERM_LIST,
	TERM_MESSAGE, /* one message, all of it */
	TERM_HELP,
	TERM_SETTINGS,
	TERM_LINKS
};

enum term_prompt { PROMPT_NONE, PROMPT_SEARCH, PROMPT_WRITE };

/* Styles of the bars, behind those of view.h. */
enum term_style {
	TERM_BAR = STYLE_COUNT,
	TERM_BAR_DIM,
	TERM_BAR_GOOD,
	TERM_BAR_BAD,
	TERM_BAR_WARN,
	TERM_BAR_LINK,
	TERM_STYLES
};

struct term {
	struct app app;
	struct view view;
	enum term_mode mode;

	/* The list: its top line, or its end in sight. */
	uint64_t top;
	unsigned top_line;
	bool at_end;
	uint64_t chosen;
	uint64_t rows[TERM_ROWS_MAX]; /* number + 1 of the message there */

	unsigned page_top; /* of the other modes */

	enum term_prompt prompt;
	char typed[TERM_PROMPT_MAX];
	struct buf search; /* folded; empty: none */

	char notice[APP_NOTICE_MAX];
	char title[160]; /* as the terminal has it */
	bool dirty, night, colours, many_colours;
	int64_t minute;
	int height, width;
};

/* --- colours --- */

/* Takes the palette for day or night. */
void term_colours(struct term *term, bool night);

/* Of the bar, for what the window shows of its state. */
int term_state_style(enum hud_state state);

/* Turns a style on; `chosen`: on the chosen message's ground. */
void term_style(const struct term *term, int style, bool chosen);

/* --- drawing --- */

void term_draw(struct term *term);

/* Lays out a message of the list; its number of lines. */
unsigned term_lay_out(struct term *term, uint64_t number);

/* Rows that the list has. */
int term_list_rows(const struct term *term);

/* The text of the page that is shown. */
void term_page_text(const struct term *term, struct buf *buf);

/* --- term.c --- */

#define TERM_FOCUS_IN (KEY_MAX + 1) /* keys of ours, behind those of ncurses */
#define TERM_FOCUS_OUT (KEY_MAX + 2)

struct history *term_history(const struct term *term);

/* A line for the person, until the next key. */
void term_notice(struct term *term, const char *text);

/* --- moving --- */

void term_scroll_up(struct term *term, unsigned lines);
void term_scroll_down(struct term *term, unsigned lines);
void term_page(struct term *term, bool up);

/* Chooses the message so many further on, and shows it. */
void term_choose(struct term *term, int64_t step);

/* After scrolling: the chosen one is one that is in sight. */
void term_choose_in_sight(struct term *term);

/* Searches for what has been typed, from the newest message back. */
void term_search(struct term *term);

/* The next one; from the chosen one itself where `here` says so. */
void term_find(struct term *term, bool older, bool here);

/* --- links --- */

/* Opens the chosen message's link, or the page that asks which. */
void term_open_link(struct term *term);
void term_links_text(const struct term *term, struct buf *buf);

/* A digit on that page; false for any other key. */
bool term_links_key(struct term *term, int key);

/* --- keys --- */

void term_key(struct term *term, int key);
