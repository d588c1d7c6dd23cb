/* Links of a message: the only one is opened, of several one is asked for. */
#include "tools/gridhud/term/term_screen.h"

#include "tools/gridhud/inline.h"

#define ASKED_MAX 9 /* a digit each */

static unsigned
links_of(const struct term *term, struct span links[INLINE_LINKS_MAX])
{
	const struct message *message =
	    history_at(term->app.history, term->chosen);
	unsigned count = message == NULL
	    ? 0
	    : inline_links(
		  links, message->url, message->text, message->markdown);

	return count > ASKED_MAX ? ASKED_MAX : count;
}

void
term_links_text(const struct term *term, struct buf *buf)
{
	struct span links[INLINE_LINKS_MAX];
	unsigned count = links_of(term, links);

	buf_addf(buf, "[Links: 1 to %u opens one]\n", count);
	for (unsigned i = 0; i < count; i++)
		buf_addf(buf, "%u  %.*s\n", i + 1, SPAN_ARG(links[i]));
}

bool
term_links_key(struct term *term, int key)
{
	struct span links[INLINE_LINKS_MAX];
	unsigned count = links_of(term, links);

	if (term->mode != TERM_LINKS || key < '1' || key >= '1' + (int)count)
		return false;
	term->mode = TERM_LIST;
	app_open_link(&term->app, links[key - '1']);
	return true;
}

void
term_open_link(struct term *term)
{
	struct span links[INLINE_LINKS_MAX];
	unsigned count = links_of(term, links);

	if (count > 1) {
		term->mode = TERM_LINKS;
		term->page_top = 0;
	} else
		app_open_link(&term->app, count == 1 ? links[0] : SPAN(""));
}
