#include "tools/gridctl/demo/demo_shuffle.h"

#include <assert.h>
#include <stdlib.h>

#include "tools/gridctl/demo/demo_random.h"

static void
split_lines(struct span *lines, struct span text)
{
	struct span line;

	while (span_cut(&line, &text, '\n') && text.ptr != NULL)
		*lines++ = line;
}

static void
shuffle_text(struct buf *buf, uint64_t count, struct demo_random *random)
{
	struct span *lines, swap;
	struct buf mixed;
	uint64_t other;

	if (count == 0)
		return;
	lines = calloc(count, sizeof(*lines));
	if (lines == NULL) {
		buf_fail(buf, ERR_NO_MEMORY);
		return;
	}
	split_lines(lines, buf_span(buf));
	buf_init(&mixed, DEMO_TEXT_MAX);
	for (uint64_t i = 0; i < count; i++) {
		other = i + demo_below(random, (uint32_t)(count - i));
		swap = lines[other];
		lines[other] = lines[i];
		buf_add_span(&mixed, swap);
		buf_add_char(&mixed, '\n');
	}
	free(lines);
	buf_fail(&mixed, buf_end(buf));
	buf_fini(buf);
	*buf = mixed;
}

void
demo_shuffle(struct demo_texts *texts, uint64_t seed, uint64_t window)
{
	assert(texts != NULL);
	static const enum demo_file facts[] = {DEMO_SALES_CSV, DEMO_STOCK_CSV,
	    DEMO_RECEPTIONS_CSV, DEMO_POSITIONS_CSV};
	struct demo_random random;

	if (demo_texts_end(texts) != ERR_OK)
		return;
	for (size_t i = 0; i < sizeof(facts) / sizeof(facts[0]); i++) {
		random = demo_random(seed, DEMO_OF_SHUFFLE, window, i);
		shuffle_text(
		    &texts->text[facts[i]], texts->rows[facts[i]], &random);
	}
}
