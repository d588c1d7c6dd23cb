#include "tools/gridhud/gtk/filter.h"

#include <assert.h>

#include "common/fold.h"
#include "tools/gridhud/text.h"

#define SEARCH_MAX 4096

void
filter_init(struct filter *filter)
{
	*filter = (struct filter){.unread = false};
	buf_init(&filter->search, SEARCH_MAX);
}

void
filter_fini(struct filter *filter)
{
	buf_fini(&filter->search);
}

void
filter_search(struct filter *filter, struct span text)
{
	buf_clear(&filter->search);
	fold_add(&filter->search, span_trim(text));
	if (buf_end(&filter->search) != ERR_OK)
		buf_clear(&filter->search);
}

bool
filter_is_open(const struct filter *filter)
{
	return !filter->unread && !filter->alerts &&
	    filter->source[0] == '\0' && filter->search.len == 0;
}

static bool
has(struct span text, struct span folded)
{
	return text_find(text, folded, 0, false).ptr != NULL;
}

bool
filter_takes(const struct filter *filter, const struct message *message)
{
	struct span search = buf_span(&filter->search);

	assert(message != NULL);
	if ((filter->unread && !message->unread) ||
	    (filter->alerts && !message->alert))
		return false;
	if (filter->source[0] != '\0' &&
	    !span_eq(message->source, span_of(filter->source)))
		return false;
	return search.len == 0 || has(message->title, search) ||
	    has(message->text, search) || has(message->source, search) ||
	    has(message->error, search);
}
