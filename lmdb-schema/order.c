/*
 * Numbers: a radix sort, byte by byte, skipping bytes in which all values
 * agree. Texts: the same over their first eight bytes; runs of equal texts are
 * sorted by the next eight, until they are short enough for a merge sort.
 */
#include "lmdb-schema/order.h"

#include <assert.h>
#include <endian.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "common/num.h"

struct item {
	uint64_t key;
	uint32_t index;
};

/* Stable; the result is in `items`. `spare` has the same size. */
static void
radix(struct item *items, struct item *spare, uint32_t count)
{
	struct item *from = items, *to = spare;

	for (unsigned shift = 0; shift < 64; shift += 8) {
		uint32_t at[256] = {0}, sum = 0;

		for (uint32_t i = 0; i < count; i++)
			at[from[i].key >> shift & 255]++;
		if (at[from[0].key >> shift & 255] == count)
			continue;
		for (unsigned b = 0; b < 256; b++) {
			uint32_t here = at[b];

			at[b] = sum;
			sum += here;
		}
		for (uint32_t i = 0; i < count; i++)
			to[at[from[i].key >> shift & 255]++] = from[i];
		struct item *swap = from;

		from = to;
		to = swap;
	}
	if (from != items)
		memcpy(items, from, count * sizeof(*items));
}

/*
 * Reverses the order of runs of equal items, as `same` compares, and keeps the
 * order within each run.
 */
static void
reverse_runs(uint32_t *desc, const uint32_t *asc, uint32_t count,
    bool (*same)(const void *values, uint32_t a, uint32_t b),
    const void *values)
{
	uint32_t out = 0;

	for (uint32_t end = count; end > 0;) {
		uint32_t start = end - 1;

		while (start > 0 && same(values, asc[start - 1], asc[end - 1]))
			start--;
		memcpy(desc + out, asc + start, (end - start) * sizeof(*desc));
		out += end - start;
		end = start;
	}
}

static bool
same_number(const void *values, uint32_t a, uint32_t b)
{
	const int64_t *numbers = values;

	return numbers[a] == numbers[b];
}

static bool
same_text(const void *values, uint32_t a, uint32_t b)
{
	const struct span *texts = values;

	return span_eq(texts[a], texts[b]);
}

static struct item *
make_items(uint32_t count)
{
	return calloc(count + 1, 2 * sizeof(struct item));
}

enum err
order_numbers(
    uint32_t *asc, uint32_t *desc, const int64_t *values, uint32_t count)
{
	struct item *items = make_items(count);
	uint32_t with = 0, without = 0;

	assert(asc != desc || count == 0);
	if (items == NULL)
		return ERR_NO_MEMORY;
	for (uint32_t i = 0; i < count; i++)
		if (values[i] != NUM_NULL) {
			items[with].key =
			    (uint64_t)values[i] ^ UINT64_C(1) << 63;
			items[with++].index = i;
		}
	if (with > 1)
		radix(items, items + count, with);
	for (uint32_t i = 0; i < with; i++)
		asc[i] = items[i].index;
	for (uint32_t i = 0; i < count; i++)
		if (values[i] == NUM_NULL)
			asc[with + without++] = i;
	reverse_runs(desc, asc, with, same_number, values);
	memcpy(desc + with, asc + with, without * sizeof(*desc));
	free(items);
	return ERR_OK;
}

#define SMALL_RUN 24

/* The eight bytes from `at` on, big-endian, padded with zeros. */
static uint64_t
eight_bytes(struct span text, size_t at)
{
	uint64_t key = 0;

	if (at < text.len)
		memcpy(
		    &key, text.ptr + at, text.len - at < 8 ? text.len - at : 8);
	return be64toh(key);
}

static void
insertion(struct item *items, uint32_t count, const struct span *texts)
{
	for (uint32_t i = 1; i < count; i++) {
		struct item item = items[i];
		uint32_t to = i;

		while (to > 0 &&
		    span_cmp(texts[items[to - 1].index], texts[item.index]) >
			0) {
			items[to] = items[to - 1];
			to--;
		}
		items[to] = item;
	}
}

/*
 * Sorts texts that agree in their first `at` bytes. The depth is bounded by
 * the longest text / 8.
 */
static void
sort_texts(struct item *items, struct item *spare, uint32_t count,
    const struct span *texts, size_t at)
{
	bool more = false;

	if (count < 2)
		return;
	if (count <= SMALL_RUN) {
		insertion(items, count, texts);
		return;
	}
	for (uint32_t i = 0; i < count; i++) {
		items[i].key = eight_bytes(texts[items[i].index], at);
		more |= texts[items[i].index].len > at;
	}
	if (!more)
		return;
	radix(items, spare, count);
	for (uint32_t start = 0, end; start < count; start = end) {
		for (end = start + 1;
		     end < count && items[end].key == items[start].key;)
			end++;
		sort_texts(items + start, spare, end - start, texts, at + 8);
	}
}

enum err
order_texts(
    uint32_t *asc, uint32_t *desc, const struct span *texts, uint32_t count)
{
	struct item *items = make_items(count);
	uint32_t with = 0, without = 0;

	assert(asc != desc || count == 0);
	if (items == NULL)
		return ERR_NO_MEMORY;
	for (uint32_t i = 0; i < count; i++)
		if (texts[i].ptr != NULL)
			items[with++].index = i;
	sort_texts(items, items + count, with, texts, 0);
	for (uint32_t i = 0; i < with; i++)
		asc[i] = items[i].index;
	for (uint32_t i = 0; i < count; i++)
		if (texts[i].ptr == NULL)
			asc[with + without++] = i;
	reverse_runs(desc, asc, with, same_text, texts);
	memcpy(desc + with, asc + with, without * sizeof(*desc));
	free(items);
	return ERR_OK;
}
