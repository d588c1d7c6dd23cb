#include "common/progress.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "common/date.h"
#include "common/fs.h"
#include "common/log.h"

#define NS_PER_SECOND INT64_C(1000000000)
#define DRAW_NS (NS_PER_SECOND / 5)
#define LOG_NS (NS_PER_SECOND * 10)
#define TEXT_MAX 512

static bool
can_redraw(void)
{
	const char *term = getenv("TERM");

	return isatty(STDERR_FILENO) && term != NULL &&
	    strcmp(term, "dumb") != 0;
}

void
progress_begin(struct progress *progress, const char *what, const char *unit,
    uint64_t total, bool quiet)
{
	int64_t now = date_monotonic_ns();

	*progress = (struct progress){.what = what,
	    .unit = unit,
	    .total = total,
	    .start_ns = now,
	    .last_ns = now,
	    .terminal = !quiet && can_redraw(),
	    .quiet = quiet};
}

/* "import sales.csv: 45 %, 1200000 rows, 310000 rows/s, 0:04 left" */
static size_t
describe(char text[TEXT_MAX], const struct progress *progress, int64_t now)
{
	double seconds = (double)(now - progress->start_ns) / NS_PER_SECOND;
	double speed = seconds > 0 ? (double)progress->done / seconds : 0;
	bool counted = progress->item != NULL;
	uint64_t count = counted ? progress->items : progress->done;
	const char *unit = counted ? progress->item : progress->unit;
	char share[32] = "";
	char left[64] = "";
	int len;

	if (progress->total > 0)
		snprintf(share, sizeof(share), " %.0f %%,",
		    100.0 * (double)progress->done / (double)progress->total);
	if (progress->total > progress->done && speed > 0) {
		double rest = (double)(progress->total - progress->done);
		uint64_t wait = (uint64_t)(rest / speed + 0.5);

		snprintf(left, sizeof(left), ", %llu:%02llu left",
		    (unsigned long long)wait / 60,
		    (unsigned long long)wait % 60);
	}
	len = snprintf(text, TEXT_MAX, "%s:%s %llu %s, %.0f %s/s%s",
	    progress->what, share, (unsigned long long)count, unit,
	    seconds > 0 ? (double)count / seconds : 0, unit, left);
	return len < 0 ? 0 : len < TEXT_MAX ? (size_t)len : TEXT_MAX - 1;
}

/* Cut the line to the terminal: a wrapped line could not be erased. */
static size_t
columns(void)
{
	struct winsize size;

	if (ioctl(STDERR_FILENO, TIOCGWINSZ, &size) != 0 || size.ws_col < 2)
		return 79;
	return size.ws_col - 1u;
}

static void
draw(const char *text, size_t len)
{
	static const char wipe[] = "\033[K";
	char line[TEXT_MAX + 16];
	size_t most = columns();
	int size;

	if (len > most)
		len = most;
	size = snprintf(line, sizeof(line), "\r%.*s%s", (int)len, text, wipe);
	/* Ignored: failing to draw is no reason to stop the work. */
	(void)fs_write_all(STDERR_FILENO, line, (size_t)size);
}

void
progress_at(struct progress *progress, uint64_t done)
{
	char text[TEXT_MAX];
	int64_t now;
	size_t len;

	progress->done = done;
	if (progress->quiet)
		return;
	now = date_monotonic_ns();
	if (now - progress->last_ns < (progress->terminal ? DRAW_NS : LOG_NS))
		return;
	progress->last_ns = now;
	len = describe(text, progress, now);
	if (progress->terminal)
		draw(text, len);
	else
		log_info("%s", text);
	progress->drawn = true;
}

void
progress_items(
    struct progress *progress, uint64_t done, const char *item, uint64_t items)
{
	progress->item = item;
	progress->items = items;
	progress_at(progress, done);
}

void
progress_end(struct progress *progress)
{
	if (progress->terminal && progress->drawn)
		draw("", 0);
	progress->drawn = false;
}
