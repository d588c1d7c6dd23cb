/* desktop_match: which application a person means. */
#include "tools/gridhook/tool/desktop.h"

#include <assert.h>

#include "common/buf.h"
#include "common/fold.h"

#define FOLDED_MAX 65536
#define SHOWN_MAX 8

/* The better the fit the higher; only the best that fits any counts. */
enum fit {
	FIT_NONE,
	FIT_BEGINNING,
	FIT_LAST_PART,
	FIT_NAME,
	FIT_BARE_ID,
	FIT_ID
};

struct wanted {
	struct span text, folded;
};

/* Folded into `buf`, which is emptied first; empty for what is no text. */
static struct span
folded(struct buf *buf, struct span text)
{
	buf_clear(buf);
	fold_add(buf, text);
	return buf_end(buf) == ERR_OK ? buf_span(buf) : (struct span){.len = 0};
}

static struct span
bare_id(struct span id)
{
	struct span suffix = SPAN(".desktop");

	return span_ends(id, suffix) ? span_sub(id, 0, id.len - suffix.len)
				     : id;
}

/* "org.gnome.Calculator" -> "Calculator" */
static struct span
last_part(struct span id)
{
	size_t at = id.len;

	while (at > 0 && id.ptr[at - 1] != '.')
		at--;
	return span_from(id, at);
}

static bool
is_keyword(struct buf *buf, struct span keywords, struct span wanted)
{
	struct span word;

	while (keywords.len > 0 && span_cut(&word, &keywords, ';'))
		if (word.len > 0 && span_eq(folded(buf, word), wanted))
			return true;
	return false;
}

static enum fit
fit_of(const struct desktop_entry *entry, const struct wanted *wanted,
    struct buf *buf)
{
	struct span bare = bare_id(entry->id), want = wanted->folded;

	if (span_eq(entry->id, wanted->text))
		return FIT_ID;
	if (span_eq(bare, wanted->text))
		return FIT_BARE_ID;
	if (want.len == 0)
		return FIT_NONE;
	if (span_eq(folded(buf, entry->name), want) ||
	    span_eq(folded(buf, entry->plain_name), want))
		return FIT_NAME;
	if (span_eq(folded(buf, bare), want) ||
	    span_eq(folded(buf, last_part(bare)), want))
		return FIT_LAST_PART;
	if (span_starts(folded(buf, entry->name), want) ||
	    span_starts(folded(buf, entry->plain_name), want) ||
	    is_keyword(buf, entry->keywords, want))
		return FIT_BEGINNING;
	return FIT_NONE;
}

/* The candidates by name, for the caller to choose from. */
static enum err
ambiguous(const struct desktop_index *index, const struct wanted *wanted,
    enum fit best, struct fault *fault)
{
	struct buf text, scratch;
	unsigned shown = 0;

	buf_init(&text, FOLDED_MAX);
	buf_init(&scratch, FOLDED_MAX);
	for (size_t i = 0; i < index->count && shown < SHOWN_MAX; i++) {
		if (fit_of(&index->entries[i], wanted, &scratch) != best)
			continue;
		if (shown++ > 0)
			buf_add_text(&text, ", ");
		buf_add_span(&text, bare_id(index->entries[i].id));
	}
	fault_set(fault, "name",
	    "not found: several applications fit \"%.*s\"; name one by its "
	    "id: %.*s",
	    SPAN_ARG(wanted->text), SPAN_ARG(buf_span(&text)));
	buf_fini(&scratch);
	buf_fini(&text);
	return ERR_EXISTS;
}

static enum err
choose(const struct desktop_entry **out, const struct desktop_index *index,
    const struct wanted *wanted, struct buf *buf, struct fault *fault)
{
	enum fit best = FIT_NONE, fit;
	size_t count = 0;

	for (size_t i = 0; i < index->count; i++) {
		fit = fit_of(&index->entries[i], wanted, buf);
		if (fit > best) {
			best = fit;
			count = 0;
			*out = &index->entries[i];
		}
		if (fit == best)
			count++;
	}
	if (best == FIT_NONE) {
		fault_set(fault, "name",
		    "not found: no installed application is called \"%.*s\"",
		    SPAN_ARG(wanted->text));
		return ERR_NOT_FOUND;
	}
	if (count == 1)
		return ERR_OK;
	*out = NULL;
	return ambiguous(index, wanted, best, fault);
}

enum err
desktop_match(const struct desktop_entry **out,
    const struct desktop_index *index, struct span text, struct fault *fault)
{
	struct wanted wanted = {.text = text};
	struct buf want, buf;
	enum err err;

	assert(out != NULL && index != NULL);
	*out = NULL;
	buf_init(&want, FOLDED_MAX);
	buf_init(&buf, FOLDED_MAX);
	wanted.folded = folded(&want, text);
	err = choose(out, index, &wanted, &buf, fault);
	buf_fini(&buf);
	buf_fini(&want);
	return err;
}
