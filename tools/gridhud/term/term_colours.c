#include <assert.h>
#include <ncurses.h>

#include "tools/gridhud/term/term_screen.h"

/* A ground of -1 is the page's own. */
struct ink {
	short fore, ground;
	attr_t attributes;
};

/* With 256 colours, the page's ground first. */
static const struct palette {
	short ground, chosen, bar;
	struct ink inks[TERM_STYLES];
} palettes[2] = {
    {255, 254, 252,
	{
	    [STYLE_TEXT] = {236, -1, 0},
	    [STYLE_DIM] = {245, -1, 0},
	    [STYLE_SOURCE] = {25, -1, A_BOLD},
	    [STYLE_TITLE] = {232, -1, A_BOLD},
	    [STYLE_BOLD] = {232, -1, A_BOLD},
	    [STYLE_ITALIC] = {236, -1, A_ITALIC},
	    [STYLE_CODE] = {90, -1, 0},
	    [STYLE_LINK] = {26, -1, A_UNDERLINE},
	    [STYLE_MARK] = {26, -1, 0},
	    [STYLE_GOOD] = {28, -1, 0},
	    [STYLE_BAD] = {160, -1, A_BOLD},
	    [STYLE_WARN] = {130, -1, A_BOLD},
	    [STYLE_USER] = {29, -1, A_BOLD},
	    [STYLE_ASSISTANT] = {91, -1, A_BOLD},
	    [STYLE_WORD] = {232, 222, A_BOLD},
	    [STYLE_FOUND] = {232, 228, 0},
	    [TERM_BAR] = {236, 252, 0},
	    [TERM_BAR_DIM] = {242, 252, 0},
	    [TERM_BAR_GOOD] = {22, 252, A_BOLD},
	    [TERM_BAR_BAD] = {160, 252, A_BOLD},
	    [TERM_BAR_WARN] = {130, 252, A_BOLD},
	    [TERM_BAR_LINK] = {25, 252, A_BOLD},
	}},
    {234, 236, 237,
	{
	    [STYLE_TEXT] = {251, -1, 0},
	    [STYLE_DIM] = {243, -1, 0},
	    [STYLE_SOURCE] = {110, -1, A_BOLD},
	    [STYLE_TITLE] = {255, -1, A_BOLD},
	    [STYLE_BOLD] = {255, -1, A_BOLD},
	    [STYLE_ITALIC] = {251, -1, A_ITALIC},
	    [STYLE_CODE] = {180, -1, 0},
	    [STYLE_LINK] = {75, -1, A_UNDERLINE},
	    [STYLE_MARK] = {75, -1, 0},
	    [STYLE_GOOD] = {114, -1, 0},
	    [STYLE_BAD] = {210, -1, A_BOLD},
	    [STYLE_WARN] = {215, -1, A_BOLD},
	    [STYLE_USER] = {150, -1, A_BOLD},
	    [STYLE_ASSISTANT] = {183, -1, A_BOLD},
	    [STYLE_WORD] = {233, 215, A_BOLD},
	    [STYLE_FOUND] = {233, 186, 0},
	    [TERM_BAR] = {252, 237, 0},
	    [TERM_BAR_DIM] = {246, 237, 0},
	    [TERM_BAR_GOOD] = {114, 237, A_BOLD},
	    [TERM_BAR_BAD] = {210, 237, A_BOLD},
	    [TERM_BAR_WARN] = {215, 237, A_BOLD},
	    [TERM_BAR_LINK] = {117, 237, A_BOLD},
	}},
};

/*
 * With eight colours, on the terminal's own ground, light or dark: red and
 * magenta can be read on both, blue, cyan, green and yellow cannot.
 */
static const struct ink eight[TERM_STYLES] = {
    [STYLE_TEXT] = {-1, -1, 0},
    [STYLE_DIM] = {-1, -1, A_DIM},
    [STYLE_SOURCE] = {COLOR_MAGENTA, -1, A_BOLD},
    [STYLE_TITLE] = {-1, -1, A_BOLD},
    [STYLE_BOLD] = {-1, -1, A_BOLD},
    [STYLE_ITALIC] = {-1, -1, A_ITALIC},
    [STYLE_CODE] = {COLOR_MAGENTA, -1, 0},
    [STYLE_LINK] = {-1, -1, A_UNDERLINE},
    [STYLE_MARK] = {COLOR_MAGENTA, -1, 0},
    [STYLE_GOOD] = {-1, -1, 0},
    [STYLE_BAD] = {COLOR_RED, -1, A_BOLD},
    [STYLE_WARN] = {COLOR_RED, -1, 0},
    [STYLE_USER] = {-1, -1, A_BOLD},
    [STYLE_ASSISTANT] = {COLOR_MAGENTA, -1, A_BOLD},
    [STYLE_WORD] = {-1, -1, A_REVERSE | A_BOLD},
    [STYLE_FOUND] = {-1, -1, A_REVERSE},
    [TERM_BAR] = {-1, -1, A_REVERSE},
    [TERM_BAR_DIM] = {-1, -1, A_REVERSE},
    [TERM_BAR_GOOD] = {-1, -1, A_REVERSE},
    [TERM_BAR_BAD] = {-1, -1, A_REVERSE | A_BOLD},
    [TERM_BAR_WARN] = {-1, -1, A_REVERSE | A_BOLD},
    [TERM_BAR_LINK] = {-1, -1, A_REVERSE | A_BOLD},
};

/* Pairs: 1 for the page, then two for each style, plain and chosen. */
static short
pair_of(int style, bool chosen)
{
	return (short)(2 + style * 2 + chosen);
}

void
term_colours(struct term *term, bool night)
{
	const struct palette *palette = &palettes[night];

	term->night = night;
	for (int style = 0; term->colours && style < TERM_STYLES; style++) {
		const struct ink *ink =
		    term->many_colours ? &palette->inks[style] : &eight[style];
		bool own = ink->ground >= 0 || !term->many_colours;
		short ground = own ? ink->ground : palette->ground;
		short chosen = own ? ink->ground : palette->chosen;

		init_pair(pair_of(style, false), ink->fore, ground);
		init_pair(pair_of(style, true), ink->fore, chosen);
	}
	if (term->colours)
		bkgd((chtype)COLOR_PAIR(pair_of(STYLE_TEXT, false)));
}

void
term_style(const struct term *term, int style, bool chosen)
{
	const struct ink *ink;
	short pair;

	assert(style >= 0 && style < TERM_STYLES);
	ink = term->many_colours ? &palettes[term->night].inks[style]
				 : &eight[style];
	pair = term->colours ? pair_of(style, chosen) : 0;
	attr_set(ink->attributes, pair, NULL);
}

int
term_state_style(enum hud_state state)
{
	static const int styles[HUD_COUNT] = {[HUD_IDLE] = TERM_BAR_GOOD,
	    [HUD_LISTENING] = TERM_BAR_LINK,
	    [HUD_THINKING] = TERM_BAR_LINK,
	    [HUD_SPEAKING] = TERM_BAR_LINK,
	    [HUD_ALERT] = TERM_BAR_BAD,
	    [HUD_ERROR] = TERM_BAR_BAD,
	    [HUD_HIDDEN] = TERM_BAR_DIM};

	return styles[state];
}
