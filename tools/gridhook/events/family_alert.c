/* Alerts and monitors: services that watch others and report a change. */
#include "tools/gridhook/events/family_priv.h"

static const struct take alert_takes[] = {
    {FIELD_TITLE, "labels.alertname|annotations.summary"},
    {FIELD_TEXT,
	"annotations.summary|annotations.description|"
	"annotations.message|valueString|labels.alertname"},
    {FIELD_SEVERITY, "labels.severity"},
    {FIELD_STATUS, "status"},
    {FIELD_TIME, "startsAt"},
    {FIELD_ABOUT, "fingerprint"},
    {FIELD_URL, "generatorURL|panelURL|dashboardURL"},
    {FIELD_END, NULL},
};

/* The fault and its meaning, where the sender tells both. */
static void
add_description(struct event *event, struct jval object, struct arena *arena)
{
	struct span more =
	    family_text_at(object, "annotations.description", arena);
	struct joined joined;

	if (more.len == 0 || span_eq(more, event->text) ||
	    !family_join_begin(&joined, arena))
		return;
	family_join(&joined, "", event->text);
	family_join(&joined, "\n", more);
	event->text = buf_span(&joined.buf);
}

static void
mend_alert(struct event *event, struct jval object, const struct hints *hints,
    struct arena *arena)
{
	struct span instance = family_text_at(object, "labels.instance", arena);
	struct span print = family_text_at(object, "fingerprint", arena);
	struct joined joined;

	(void)hints;
	add_description(event, object, arena);
	if (event->status == STATUS_RESOLVED)
		event->priority = PRIORITY_NORMAL;
	else if (event->priority == PRIORITY_UNSET)
		event->priority = PRIORITY_HIGH;
	if (instance.len > 0 && family_join_begin(&joined, arena)) {
		family_join(&joined, "", event->title);
		family_join(&joined, " on ", instance);
		event->title = buf_span(&joined.buf);
	}
	/* The same alert again is old news; that it is over is not. */
	if (print.len > 0 && family_join_begin(&joined, arena)) {
		family_join(&joined, "", print);
		family_join(
		    &joined, ":", family_text_at(object, "startsAt", arena));
		event->dedupe = buf_span(&joined.buf);
	}
}

const struct family family_alert = {
    "alert", EVENT_ALERT, NULL, alert_takes, mend_alert, NULL};

static const struct take kuma_takes[] = {
    {FIELD_TITLE, "monitor.name"},
    {FIELD_TEXT, "msg|heartbeat.msg"},
    {FIELD_URL, "monitor.url"},
    {FIELD_TIME, "heartbeat.time"},
    {FIELD_ABOUT, "monitor.id|monitor.name"},
    {FIELD_END, NULL},
};

static bool
knows_kuma(struct jval object, const struct hints *hints)
{
	(void)hints;
	return !jval_is_absent(jval_member(object, "heartbeat")) &&
	    !jval_is_absent(jval_member(object, "monitor")) &&
	    family_has(object, "msg|heartbeat.msg");
}

static void
mend_kuma(struct event *event, struct jval object, const struct hints *hints,
    struct arena *arena)
{
	int64_t state = -1;

	(void)hints;
	(void)arena;
	jval_int(family_pick(object, "heartbeat.status"), &state);
	event->source = SPAN("uptime-kuma");
	if (state == 0) {
		event->status = STATUS_ERROR;
		event->priority = PRIORITY_HIGH;
	} else if (state == 1)
		event->status = STATUS_OK;
}

static const struct take monitor_takes[] = {
    {FIELD_TITLE, "monitor.name|monitor|title|name"},
    {FIELD_TEXT, "message|msg|errorMessage|description|url|status"},
    {FIELD_STATUS, "status"},
    {FIELD_SOURCE, "source|app"},
    {FIELD_ABOUT, "monitor.id|monitor.name|monitor"},
    {FIELD_URL, "url|monitor.url"},
    {FIELD_END, NULL},
};

static bool
knows_monitor(struct jval object, const struct hints *hints)
{
	(void)hints;
	return family_has(object, "status") &&
	    (family_has(object, "monitor") ||
		!jval_is_absent(jval_member(object, "triggered_alerts")));
}

static void
mend_monitor(struct event *event, struct jval object, const struct hints *hints,
    struct arena *arena)
{
	(void)hints;
	(void)arena;
	if (event->source.len == 0)
		event->source = family_has(object, "monitor") ? SPAN("monitor")
							      : SPAN("beszel");
	if (event->status == STATUS_ERROR || event->status == STATUS_FIRING)
		event->priority = PRIORITY_HIGH;
}

const struct family family_uptime_kuma = {
    "uptime-kuma", EVENT_ALERT, knows_kuma, kuma_takes, mend_kuma, NULL};

const struct family family_monitor = {
    "monitor", EVENT_ALERT, knows_monitor, monitor_takes, mend_monitor, NULL};
