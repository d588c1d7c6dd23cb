/* A line of the file for each thing that happened: written and read. */
#include "common/members.h"
#include "tools/gridhud/history/history_priv.h"

#include "common/jsonr.h"
#include "common/log.h"

/* --- writing -------------------------------------------------------------- */

void
history_line_begin(struct history *history, struct jsonw *json)
{
	buf_clear(&history->line);
	jsonw_init(json, &history->line);
	jsonw_object_begin(json);
}

void
history_line_end(struct history *history, struct jsonw *json)
{
	jsonw_object_end(json);
	if (jsonw_end(json) == ERR_OK)
		buf_add_char(&history->line, '\n');
}

void
history_line_flag(struct history *history, const char *name)
{
	struct jsonw json;

	history_line_begin(history, &json);
	members_bool(&json, name, true);
	history_line_end(history, &json);
}

void
history_line_message(struct history *history, const struct message *message)
{
	struct jsonw json;

	history_line_begin(history, &json);
	if (message->seq > 0 && history->epoch[0] != '\0')
		members_string(&json, "e", history->epoch);
	jsonw_key(&json, "m");
	message_write(&json, message);
	history_line_end(history, &json);
}

void
history_line_alert(struct history *history, uint64_t seq, bool on)
{
	struct jsonw json;

	history_line_begin(history, &json);
	members_int(&json, "alert", (int64_t)seq);
	members_bool(&json, "on", on);
	history_line_end(history, &json);
}

void
history_line_quiet(struct history *history)
{
	struct jsonw json;

	history_line_begin(history, &json);
	members_int(&json, "quiet_until", history->quiet_until_ms);
	history_line_end(history, &json);
}

void
history_line_mute(struct history *history, struct span source, bool on)
{
	struct jsonw json;

	history_line_begin(history, &json);
	members_text(&json, "mute", source);
	members_bool(&json, "on", on);
	history_line_end(history, &json);
}

void
history_line_epoch(struct history *history)
{
	struct jsonw json;

	history_line_begin(history, &json);
	members_string(&json, "e", history->epoch);
	members_int(&json, "s", (int64_t)history->last);
	history_line_end(history, &json);
}

/* --- reading -------------------------------------------------------------- */

static enum err
take_message(struct history *history, const struct jsonr_value *value)
{
	struct message *message;
	enum err err = history_make_room(history);

	if (err == ERR_OK)
		err = message_read(&message, value);
	if (err == ERR_OK)
		history_keep(history, message);
	return err;
}

static enum err
take_line(struct history *history, const struct jsonr_value *line)
{
	const struct jsonr_value *message = jsonr_member(line, "m");
	struct span epoch = jsonr_as_string(jsonr_member(line, "e"));
	struct span source = jsonr_as_string(jsonr_member(line, "mute"));

	if (epoch.len > 0) {
		if (!span_copy(history->epoch, sizeof(history->epoch), epoch))
			return ERR_BAD_INPUT;
		history->last = (uint64_t)jsonr_as_int(jsonr_member(line, "s"));
	}
	if (message != NULL)
		return take_message(history, message);
	if (jsonr_as_bool(jsonr_member(line, "read")))
		history_all_read(history);
	if (jsonr_as_bool(jsonr_member(line, "acknowledged")))
		history_all_acknowledged(history);
	if (jsonr_member(line, "alert") != NULL)
		history_alert(history,
		    (uint64_t)jsonr_as_int(jsonr_member(line, "alert")),
		    jsonr_as_bool(jsonr_member(line, "on")));
	if (jsonr_member(line, "quiet_until") != NULL)
		history->quiet_until_ms =
		    jsonr_as_int(jsonr_member(line, "quiet_until"));
	if (jsonr_member(line, "said") != NULL)
		history_all_said(history,
		    (uint64_t)jsonr_as_int(jsonr_member(line, "said")));
	if (source.len > 0)
		return history_mute(
		    history, source, jsonr_as_bool(jsonr_member(line, "on")));
	return ERR_OK;
}

enum err
history_read_line(struct history *history, struct span text)
{
	static const struct jsonr_limits limits = {.bytes = LINE_MAX_BYTES};
	struct fault fault = {.place = ""};
	struct jsonr *doc = NULL;
	enum err err;

	err = jsonr_parse(&doc, text, &limits, &fault);
	if (err == ERR_OK)
		err = take_line(history, jsonr_root(doc));
	jsonr_free(doc);
	if (err == ERR_OK || err == ERR_NO_MEMORY)
		return err;
	log_warn("history: a line was passed over: file=%s offset=%lld "
		 "reason=%s",
	    history->path, (long long)history->read, fault.message);
	return ERR_OK;
}
