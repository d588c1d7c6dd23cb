#include "tools/gridhud/words.h"

#include <assert.h>
#include <stdlib.h>

#include "common/buf.h"
#include "common/fold.h"
#include "tools/gridhud/text.h"

#define FOLDED_MAX 16384

struct hud_words {
	struct buf folded; /* one behind the other, a newline after each */
};

enum err
words_new(struct hud_words **out, const char *list)
{
	struct hud_words *words = calloc(1, sizeof(*words));
	struct span rest = span_of(list);
	struct span piece;
	enum err err;

	assert(list != NULL);
	*out = NULL;
	if (words == NULL)
		return ERR_NO_MEMORY;
	buf_init(&words->folded, FOLDED_MAX);
	while (span_cut(&piece, &rest, ',')) {
		size_t before = words->folded.len;

		fold_add(&words->folded, piece);
		if (words->folded.len > before)
			buf_add_char(&words->folded, '\n');
	}
	err = buf_end(&words->folded);
	if (err == ERR_OK)
		*out = words;
	else
		words_free(words);
	return err;
}

void
words_free(struct hud_words *words)
{
	if (words == NULL)
		return;
	buf_fini(&words->folded);
	free(words);
}

struct span
words_find(const struct hud_words *words, struct span text, size_t from)
{
	struct span best = {NULL, 0};
	struct span rest, word, hit;

	assert(from <= text.len);
	if (words == NULL)
		return best;
	rest = buf_span(&words->folded);
	while (span_cut(&word, &rest, '\n')) {
		if (word.len == 0)
			continue;
		hit = text_find(text, word, from, true);
		if (hit.ptr != NULL &&
		    (best.ptr == NULL || hit.ptr < best.ptr ||
			(hit.ptr == best.ptr && hit.len > best.len)))
			best = hit;
	}
	return best;
}
