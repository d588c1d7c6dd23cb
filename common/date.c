/*
 * Days and civil dates turn into each other by arithmetic alone: years are
 * counted from March, so that the leap day is the last day of its year, and in
 * eras of 400 years, which all have the same number of days.
 */
#include "common/date.h"

#include <assert.h>
#include <time.h>

#include "common/num.h"

#define MS_PER_SECOND INT64_C(1000)
#define MS_PER_MINUTE (60 * MS_PER_SECOND)
#define MS_PER_HOUR (60 * MS_PER_MINUTE)
#define MS_PER_DAY (24 * MS_PER_HOUR)

#define DAYS_PER_ERA 146097
#define YEARS_PER_ERA 400
#define EPOCH_OFFSET 719468 /* days from 0000-03-01 to 1970-01-01 */

#define DAY_MIN (-719162) /* 0001-01-01 */
#define DAY_MAX 2932896 /* 9999-12-31 */
#define MONTH_MIN (1 * 12)
#define MONTH_MAX (9999 * 12 + 11)

struct civil {
	unsigned year;
	unsigned month; /* 1..12 */
	unsigned day;
};

int32_t
date_day_of(int year, int month, int day)
{
	int y = month <= 2 ? year - 1 : year;
	int era = (y >= 0 ? y : y - (YEARS_PER_ERA - 1)) / YEARS_PER_ERA;
	int year_of_era = y - era * YEARS_PER_ERA;
	int from_march = month <= 2 ? month + 9 : month - 3;
	int day_of_year = (153 * from_march + 2) / 5 + day - 1;
	int day_of_era = year_of_era * 365 + year_of_era / 4 -
	    year_of_era / 100 + day_of_year;

	assert(month >= 1 && month <= 12);
	return era * DAYS_PER_ERA + day_of_era - EPOCH_OFFSET;
}

/* `day` lies between DAY_MIN and DAY_MAX. */
static inline struct civil
civil_of(int32_t day)
{
	unsigned shifted = (unsigned)(day + EPOCH_OFFSET);
	unsigned era = shifted / DAYS_PER_ERA;
	unsigned day_of_era = shifted % DAYS_PER_ERA;
	unsigned year_of_era = (day_of_era - day_of_era / 1460 +
				   day_of_era / 36524 - day_of_era / 146096) /
	    365;
	unsigned day_of_year = day_of_era -
	    (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
	unsigned from_march = (5 * day_of_year + 2) / 153;
	unsigned month = from_march < 10 ? from_march + 3 : from_march - 9;

	return (struct civil){
	    .year = era * YEARS_PER_ERA + year_of_era + (month <= 2),
	    .month = month,
	    .day = day_of_year - (153 * from_march + 2) / 5 + 1,
	};
}

static inline bool
is_day(int32_t day)
{
	return day >= DAY_MIN && day <= DAY_MAX;
}

static inline bool
is_month(int32_t month)
{
	return month >= MONTH_MIN && month <= MONTH_MAX;
}

static inline unsigned
days_in_month(unsigned year, unsigned month)
{
	static const unsigned char days[] = {
	    31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31};
	bool leap = year % 4 == 0 && (year % 100 != 0 || year % 400 == 0);

	return days[month - 1] + (month == 2 && leap);
}

/* The value of two digits, or 100 when they are no digits. */
static inline unsigned
pair_at(const char *at)
{
	unsigned tens = (unsigned char)at[0] - (unsigned)'0';
	unsigned ones = (unsigned char)at[1] - (unsigned)'0';

	return tens > 9 || ones > 9 ? 100 : tens * 10 + ones;
}

/* Two digits, from `min` to `max` (below 100). */
static inline bool
read_pair(unsigned *out, const char *at, unsigned min, unsigned max)
{
	*out = pair_at(at);
	return *out >= min && *out <= max;
}

static inline bool
read_year(unsigned *out, const char *at)
{
	unsigned century = pair_at(at);
	unsigned year = pair_at(at + 2);

	*out = century * 100 + year;
	return century < 100 && year < 100 && *out > 0;
}

/* "YYYY-MM-DD", ten bytes. */
static inline bool
read_day(int32_t *out, const char *at)
{
	unsigned year;
	unsigned month;
	unsigned day;

	if (!read_year(&year, at) || at[4] != '-' ||
	    !read_pair(&month, at + 5, 1, 12) || at[7] != '-' ||
	    !read_pair(&day, at + 8, 1, days_in_month(year, month)))
		return false;
	*out = date_day_of((int)year, (int)month, (int)day);
	return true;
}

bool
date_day(int32_t *out, struct span text)
{
	return text.len == 10 && read_day(out, text.ptr);
}

static inline bool
read_month(int32_t *out, const char *year_at, const char *month_at)
{
	unsigned year;
	unsigned month;

	if (!read_year(&year, year_at) || !read_pair(&month, month_at, 1, 12))
		return false;
	*out = (int32_t)(year * 12 + month - 1);
	return true;
}

bool
date_month(int32_t *out, struct span text)
{
	return text.len == 6 && read_month(out, text.ptr, text.ptr + 4);
}

bool
date_month_dashed(int32_t *out, struct span text)
{
	return text.len == 7 && text.ptr[4] == '-' &&
	    read_month(out, text.ptr, text.ptr + 5);
}

/* "HH:MM:SS", eight bytes; a seconds field of 60 is accepted. */
static bool
read_time(int64_t *out_ms, const char *at)
{
	unsigned hour;
	unsigned minute;
	unsigned second;

	if (!read_pair(&hour, at, 0, 23) || at[2] != ':' ||
	    !read_pair(&minute, at + 3, 0, 59) || at[5] != ':' ||
	    !read_pair(&second, at + 6, 0, 60))
		return false;
	*out_ms = hour * MS_PER_HOUR + minute * MS_PER_MINUTE +
	    second * MS_PER_SECOND;
	return true;
}

/*
 * Cuts a fraction such as ".250" off the front, if there is one; digits below 1
 * ms are dropped.
 */
static bool
cut_fraction(int64_t *out_ms, struct span *text)
{
	int64_t scale = MS_PER_SECOND;
	size_t at = 1;

	*out_ms = 0;
	if (text->len == 0 || text->ptr[0] != '.')
		return true;
	for (; at < text->len; at++) {
		unsigned digit = (unsigned char)text->ptr[at] - (unsigned)'0';

		if (digit > 9)
			break;
		scale /= 10;
		*out_ms += digit * scale;
	}
	*text = span_from(*text, at);
	return at > 1;
}

/* "Z", or "+01:00": the whole span. */
static bool
read_offset(int64_t *out_ms, struct span text)
{
	const char *at = text.ptr;
	unsigned hour;
	unsigned minute;

	*out_ms = 0;
	if (text.len == 1)
		return *at == 'Z' || *at == 'z';
	if (text.len != 6 || (at[0] != '+' && at[0] != '-') || at[3] != ':' ||
	    !read_pair(&hour, at + 1, 0, 23) ||
	    !read_pair(&minute, at + 4, 0, 59))
		return false;
	*out_ms = hour * MS_PER_HOUR + minute * MS_PER_MINUTE;
	if (at[0] == '-')
		*out_ms = -*out_ms;
	return true;
}

bool
date_instant(int64_t *out_ms, struct span text)
{
	struct span rest = span_from(text, 19);
	int32_t day;
	int64_t time;
	int64_t fraction;
	int64_t offset;
	int64_t ms;

	if (text.len < 20 || !read_day(&day, text.ptr) ||
	    (text.ptr[10] != 'T' && text.ptr[10] != 't') ||
	    !read_time(&time, text.ptr + 11) ||
	    !cut_fraction(&fraction, &rest) || !read_offset(&offset, rest))
		return false;
	ms = day * MS_PER_DAY + time - offset;
	/* A leap second ends its day; it counts as the second after it. */
	if (pair_at(text.ptr + 17) == 60 && ms % MS_PER_DAY != 0)
		return false;
	ms += fraction;
	if (date_day_from_ms(ms) == DATE_NULL)
		return false;
	*out_ms = ms;
	return true;
}

static inline void
put_year(char *to, unsigned year)
{
	num_put_pair(to, year / 100);
	num_put_pair(to + 2, year % 100);
}

size_t
date_day_text(char text[DATE_TEXT_MAX], int32_t day)
{
	struct civil civil;

	text[0] = '\0';
	if (!is_day(day))
		return 0;
	civil = civil_of(day);
	put_year(text, civil.year);
	text[4] = '-';
	num_put_pair(text + 5, civil.month);
	text[7] = '-';
	num_put_pair(text + 8, civil.day);
	text[10] = '\0';
	return 10;
}

size_t
date_month_text(char text[DATE_TEXT_MAX], int32_t month)
{
	text[0] = '\0';
	if (!is_month(month))
		return 0;
	put_year(text, (unsigned)month / 12);
	num_put_pair(text + 4, (unsigned)month % 12 + 1);
	text[6] = '\0';
	return 6;
}

size_t
date_month_dashed_text(char text[DATE_TEXT_MAX], int32_t month)
{
	text[0] = '\0';
	if (!is_month(month))
		return 0;
	put_year(text, (unsigned)month / 12);
	text[4] = '-';
	num_put_pair(text + 5, (unsigned)month % 12 + 1);
	text[7] = '\0';
	return 7;
}

/* "T12:00:00.250Z" and its NUL; returns the length. */
static size_t
put_time(char *to, unsigned ms)
{
	unsigned second = ms / 1000;

	to[0] = 'T';
	num_put_pair(to + 1, second / 3600);
	to[3] = ':';
	num_put_pair(to + 4, second / 60 % 60);
	to[6] = ':';
	num_put_pair(to + 7, second % 60);
	to[9] = '.';
	to[10] = (char)('0' + ms % 1000 / 100);
	num_put_pair(to + 11, ms % 100);
	to[13] = 'Z';
	to[14] = '\0';
	return 14;
}

size_t
date_instant_text(char text[DATE_TEXT_MAX], int64_t ms)
{
	int32_t day = date_day_from_ms(ms);
	size_t len = date_day_text(text, day);

	if (len == 0)
		return 0;
	return len + put_time(text + len, (unsigned)(ms - day * MS_PER_DAY));
}

int32_t
date_day_from_ms(int64_t ms)
{
	int64_t day = ms / MS_PER_DAY - (ms % MS_PER_DAY < 0);

	if (day < DAY_MIN || day > DAY_MAX)
		return DATE_NULL;
	return (int32_t)day;
}

int32_t
date_month_of_day(int32_t day)
{
	struct civil civil;

	if (!is_day(day))
		return DATE_NULL;
	civil = civil_of(day);
	return (int32_t)(civil.year * 12 + civil.month - 1);
}

int32_t
date_month_last_day(int32_t month)
{
	if (!is_month(month))
		return DATE_NULL;
	return date_day_of(month / 12, month % 12 + 1,
	    (int)days_in_month((unsigned)month / 12, (unsigned)month % 12 + 1));
}

int64_t
date_now_ms(void)
{
	struct timespec now;

	clock_gettime(CLOCK_REALTIME, &now);
	return now.tv_sec * MS_PER_SECOND + now.tv_nsec / 1000000;
}

int64_t
date_monotonic_ns(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return now.tv_sec * INT64_C(1000000000) + now.tv_nsec;
}
