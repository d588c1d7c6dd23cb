/* Moving in the list, and searching it. */
#include "tools/gridhud/term/term_screen.h"

#include <assert.h>

#include "common/fold.h"
#include "tools/gridhud/text.h"

/* --- moving --------------------------------------------------------------- */

void
term_scroll_up(struct term *term, unsigned lines)
{
	term->at_end = false;
	for (; lines > 0; lines--)
		if (term->top_line > 0)
			term->top_line--;
		else if (term->top > history_first(term_history(term))) {
			unsigned count = term_lay_out(term, --term->top);

			term->top_line = count > 0 ? count - 1 : 0;
		}
}

/* term_draw() corrects a place beyond the end. */
void
term_scroll_down(struct term *term, unsigned lines)
{
	unsigned count = term_lay_out(term, term->top);

	for (; lines > 0 && !term->at_end; lines--) {
		if (++term->top_line < count)
			continue;
		if (term->top + 1 >= history_end(term_history(term))) {
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

	for (uint64_t number = term->top; number <= term->chosen; number++) {
		lines += term_lay_out(term, number);
		/* Far below: start again just above it. */
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

	if (term->chosen + 1 == history_end(term_history(term))) {
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
		term_scroll_down(term, lines - rows);
}

void
term_choose(struct term *term, int64_t step)
{
	uint64_t first = history_first(term_history(term));
	uint64_t end = history_end(term_history(term));

	assert(step != 0);
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

void
term_choose_in_sight(struct term *term)
{
	if (term->at_end)
		term->chosen = history_end(term_history(term)) - 1;
	else
		term->chosen = term->top;
}

void
term_page(struct term *term, bool up)
{
	unsigned rows = (unsigned)term_list_rows(term);
	unsigned step = rows > 2 ? rows - 2 : 1;

	if (up)
		term_scroll_up(term, step);
	else
		term_scroll_down(term, step);
	term_choose_in_sight(term);
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

void
term_find(struct term *term, bool older, bool here)
{
	uint64_t number = term->chosen;
	const struct message *message;

	if (term->search.len == 0) {
		term_notice(term, "nothing is searched for: / begins a search");
		return;
	}
	for (;; here = false) {
		message = history_at(term_history(term), number);
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
	term_notice(term,
	    older ? "no older message has it" : "no newer message has it");
}

void
term_search(struct term *term)
{
	buf_clear(&term->search);
	fold_add(&term->search, span_of(term->typed));
	if (buf_end(&term->search) != ERR_OK)
		buf_clear(&term->search);
	if (term->search.len == 0)
		return;
	term->chosen = history_end(term_history(term)) - 1;
	term_find(term, true, true);
}
