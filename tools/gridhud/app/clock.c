#include "tools/gridhud/app/clock.h"

#include <assert.h>
#include <string.h>
#include <time.h>

#include "common/date.h"

int64_t
clock_now_ms(const struct clock *clock)
{
	return date_now_ms() + clock->shift_ms;
}

int64_t
clock_steady_ms(void)
{
	return date_monotonic_ns() / 1000000;
}

static struct tm
local(int64_t ms)
{
	time_t seconds = (time_t)(ms / 1000);
	struct tm tm = {.tm_mday = 1};

	localtime_r(&seconds, &tm);
	return tm;
}

struct wall
clock_wall(int64_t ms)
{
	struct tm tm = local(ms);

	return (struct wall){tm.tm_hour * 60 + tm.tm_min, tm.tm_wday};
}

void
clock_time_text(char text[CLOCK_TEXT_MAX], int64_t ms)
{
	struct tm tm = local(ms);

	if (strftime(text, CLOCK_TEXT_MAX, "%H:%M", &tm) == 0)
		text[0] = '\0';
}

void
clock_day_text(char text[CLOCK_TEXT_MAX], int64_t ms)
{
	struct tm tm = local(ms);

	if (strftime(text, CLOCK_TEXT_MAX, "%A %e %B", &tm) == 0)
		text[0] = '\0';
}

bool
clock_same_day(int64_t a_ms, int64_t b_ms)
{
	struct tm a = local(a_ms);
	struct tm b = local(b_ms);

	return a.tm_yday == b.tm_yday && a.tm_year == b.tm_year;
}

bool
clock_pretend(struct clock *clock, const char *text)
{
	int64_t now = date_now_ms();
	struct tm tm = local(now);
	const char *end = strptime(text, "%Y-%m-%dT%H:%M", &tm);
	time_t then;

	assert(text != NULL);
	tm.tm_sec = 0;
	if (end != NULL && *end == ':')
		end = strptime(end, ":%S", &tm);
	else if (end == NULL) {
		tm = local(now);
		tm.tm_sec = 0;
		end = strptime(text, "%H:%M", &tm);
		if (end != NULL && *end == ':')
			end = strptime(end, ":%S", &tm);
	}
	if (end == NULL || *end != '\0')
		return false;
	tm.tm_isdst = -1;
	then = mktime(&tm);
	if (then == (time_t)-1)
		return false;
	clock->shift_ms = (int64_t)then * 1000 - now;
	return true;
}
