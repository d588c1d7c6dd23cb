#include "tools/gridhud/hours.h"

#include <assert.h>

#include "common/span.h"

#define EVERY_DAY 0x7fu
#define DAY_MINUTES 1440

static const char *const names[] = {
    "sun", "mon", "tue", "wed", "thu", "fri", "sat"};

/* Two digits. */
static bool
read_pair(int *out, struct span text, int most)
{
	unsigned tens = (unsigned char)text.ptr[0] - (unsigned)'0';
	unsigned ones = (unsigned char)text.ptr[1] - (unsigned)'0';

	*out = (int)(tens * 10 + ones);
	return tens < 10 && ones < 10 && *out <= most;
}

static bool
read_time(int *out, struct span text)
{
	int hour, minute;

	if (text.len != 5 || text.ptr[2] != ':' ||
	    !read_pair(&hour, text, 24) ||
	    !read_pair(&minute, span_from(text, 3), hour == 24 ? 0 : 59))
		return false;
	*out = hour * 60 + minute;
	return true;
}

static bool
read_day(unsigned *out, struct span text)
{
	for (unsigned i = 0; i < 7; i++) {
		if (!span_eq_nocase(text, span_of(names[i])))
			continue;
		*out = i;
		return true;
	}
	return false;
}

/* "mon-fri+sun" */
static bool
read_days(unsigned *out, struct span text)
{
	struct span piece, last;
	unsigned from, to;

	*out = 0;
	while (span_cut(&piece, &text, '+')) {
		last = span_from(piece, span_find(piece, '-'));
		if (!read_day(&from, span_sub(piece, 0, piece.len - last.len)))
			return false;
		to = from;
		if (last.len > 0 && !read_day(&to, span_from(last, 1)))
			return false;
		for (*out |= 1u << from; from != to; *out |= 1u << from)
			from = (from + 1) % 7;
	}
	return true;
}

static bool
read_range(struct hours_range *range, struct span text)
{
	size_t space = span_find(text, ' ');

	range->days = EVERY_DAY;
	if (space < text.len) {
		if (!read_days(&range->days, span_sub(text, 0, space)))
			return false;
		text = span_trim(span_from(text, space));
	}
	return text.len == 11 && text.ptr[5] == '-' &&
	    read_time(&range->start, span_sub(text, 0, 5)) &&
	    read_time(&range->end, span_sub(text, 6, 5)) &&
	    range->start < DAY_MINUTES;
}

enum err
hours_parse(struct hours *hours, const char *text, const char *place,
    struct fault *fault)
{
	struct span rest = span_of(text);
	struct span piece;

	assert(text != NULL && place != NULL);
	hours->count = 0;
	if (span_trim(rest).len == 0)
		return ERR_OK;
	while (span_cut(&piece, &rest, ',')) {
		if (hours->count == HOURS_MAX ||
		    !read_range(
			&hours->ranges[hours->count], span_trim(piece))) {
			fault_set(fault, place,
			    "is not a time of day: \"%s\" (write 22:00-07:00, "
			    "or mon-fri 22:00-07:00, at most %d with commas "
			    "between)",
			    text, HOURS_MAX);
			hours->count = 0;
			return ERR_BAD_INPUT;
		}
		hours->count++;
	}
	return ERR_OK;
}

static bool
range_contains(const struct hours_range *range, struct wall wall)
{
	unsigned today = 1u << wall.weekday;
	unsigned yesterday = 1u << (wall.weekday + 6) % 7;

	if (range->start < range->end)
		return (range->days & today) != 0 &&
		    wall.minute >= range->start && wall.minute < range->end;
	if (range->start == range->end)
		return false;
	return ((range->days & today) != 0 && wall.minute >= range->start) ||
	    ((range->days & yesterday) != 0 && wall.minute < range->end);
}

bool
hours_contain(const struct hours *hours, struct wall wall)
{
	assert(wall.minute >= 0 && wall.minute < 1440 && wall.weekday < 7);
	for (unsigned i = 0; i < hours->count; i++)
		if (range_contains(&hours->ranges[i], wall))
			return true;
	return false;
}
