/* Whether this terminal can be drawn on: ncurses itself would end the program,
 * or draw on a terminal that cannot place text. */
#include "tools/gridhud/term/term.h"

#include <assert.h>
#include <stdlib.h>
#include <stdint.h>
#include <unistd.h>
/* The first is what the second wants before it. */
#include <curses.h>
#include <term.h>

bool
term_can_draw(struct fault *fault)
{
	const char *name = getenv("TERM");
	const char *place = NULL;
	int known = 0;
	bool can_place = false;

	assert(fault != NULL);
	if (name == NULL || name[0] == '\0') {
		fault_set(fault, "TERM", "is not set");
		return false;
	}
	if (setupterm(NULL, STDOUT_FILENO, &known) != OK) {
		fault_set(fault, "TERM",
		    "\"%s\" is a terminal that is not known here (apt install "
		    "ncurses-term)",
		    name);
		return false;
	}
	place = tigetstr("cup");
	/* ncurses says (char *)-1 of a capability that is no text. */
	can_place = place != NULL && (intptr_t)place != -1 && place[0] != '\0';
	if (!can_place)
		fault_set(fault, "TERM",
		    "\"%s\" is a terminal that cannot place text", name);
	del_curterm(cur_term);
	return can_place;
}
