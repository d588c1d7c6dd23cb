#include "tools/gridctl/night/show.h"

#include <stdio.h>
#include <string.h>

#include "common/date.h"
#include "tools/gridctl/cmd.h"

/* Advice for each step that fails. */
static const char *const todo[NIGHT_KINDS] = {
    [NIGHT_TAKE] = "have the delivery sent again under another name",
    [NIGHT_CHECK] = "have the files mended and sent again under another name",
    [NIGHT_IMPORT] = "mend the cause, then let the delivery in again",
    [NIGHT_COMPUTE] = "'gridctl compute --stale' names what cannot be "
		      "computed; old rows are served until then",
    [NIGHT_INDEX] = "'gridctl index'; searches are slower until then",
    [NIGHT_PACK] = "'gridctl pack --all'; first dumps are slower until then",
    [NIGHT_EXPORT] = "make room or mend [export] folder; the next night "
		     "exports the same changes",
    [NIGHT_BACKUP] = "mend the file or folder that is named above, or make "
		     "room, then 'gridctl night run'; the earlier backups are "
		     "kept",
    [NIGHT_SEND] = "mend [backup] send_to or ssh; the backup is here, and the "
		   "next night sends it, too",
    [NIGHT_PRUNE] = "'gridctl prune', which says why",
    [NIGHT_REPORT] = "mend [report]; 'gridctl night status' has the report",
};

static const char *
todo_of(const struct night_step *step)
{
	return step->kind == NIGHT_TAKE && step->delivery[0] == '\0'
	    ? "make the folder, or mend [inbox] folder in night.conf; empty, "
	      "there is no inbox"
	    : todo[step->kind];
}

static void
add_said(struct buf *text, struct span said)
{
	struct span line;

	while (span_cut(&line, &said, '\n')) {
		buf_add_text(text, "    ");
		buf_add_span(text, line);
		buf_add_char(text, '\n');
	}
}

static void
add_failure(struct buf *text, const struct night_step *step,
    const struct night_settings *settings)
{
	add_said(text, span_of(step->said));
	buf_addf(text, "    to do: %s\n", todo_of(step));
	if (step->delivery[0] == '\0')
		return;
	buf_addf(text, "    this one is in %s/%s.refused", settings->inbox,
	    step->delivery);
	if (strstr(step->said, CMD_IF_MEANT) != NULL)
		buf_addf(text,
		    "; if it is right as it is, rename it to %s and run "
		    "'gridctl night run --yes'",
		    step->delivery);
	buf_add_char(text, '\n');
}

static void
add_step(struct buf *text, const struct night_step *step,
    const struct night_settings *settings)
{
	char seconds[32] = "";

	if (step->ended_ms != 0)
		snprintf(seconds, sizeof(seconds), "%.1f",
		    (double)(step->ended_ms - step->began_ms) / 1000);
	buf_addf(text, "  %-8s %-24s %-8s %10s %14s%s\n",
	    night_kind_name(step->kind), step->delivery,
	    night_state_name(step->state), seconds,
	    step->state == NIGHT_DONE ? cmd_count(step->rows) : "",
	    step->tries > 1 ? "  begun again" : "");
	if (step->state == NIGHT_FAILED)
		add_failure(text, step, settings);
}

/* The report is not a part of what it tells. */
static bool
is_open(const struct night *night)
{
	for (unsigned i = 0; i < night->count; i++) {
		const struct night_step *step = &night->steps[i];

		if (step->kind != NIGHT_REPORT &&
		    (step->state == NIGHT_WAITING ||
			step->state == NIGHT_RUNNING))
			return true;
	}
	return false;
}

void
night_show(struct buf *text, const struct night *night,
    const struct night_settings *settings)
{
	char began[DATE_TEXT_MAX];

	cmd_time(began, night->began_ms);
	buf_addf(text, "night of %s: %s\n", began,
	    is_open(night)            ? "not ended"
		: night_failed(night) ? "failed"
				      : "done");
	buf_addf(text, "  %-8s %-24s %-8s %10s %14s\n", "step", "delivery",
	    "state", "seconds", "rows");
	for (unsigned i = 0; i < night->count; i++)
		add_step(text, &night->steps[i], settings);
}

void
night_title(char title[NIGHT_TITLE_MAX], const struct night *night)
{
	char began[DATE_TEXT_MAX];
	const struct night_step *failed = NULL;

	cmd_time(began, night->began_ms);
	for (unsigned i = 0; i < night->count && failed == NULL; i++)
		if (night->steps[i].state == NIGHT_FAILED)
			failed = &night->steps[i];
	if (failed == NULL)
		snprintf(title, NIGHT_TITLE_MAX, "Night of %.10s done", began);
	else
		snprintf(title, NIGHT_TITLE_MAX,
		    "Night of %.10s failed: %s%s%s", began,
		    night_kind_name(failed->kind),
		    failed->delivery[0] == '\0' ? "" : " of ",
		    failed->delivery);
}
