/* notify_user: org.freedesktop.Notifications on the session bus. */
#include "tools/gridhook/tool/tool.h"

#include <assert.h>
#include <stdlib.h>

#include "tools/gridhook/tool/bus.h"

#define TITLE_MAX 1024
#define MESSAGE_MAX 16384

static const struct bus_peer service = {"org.freedesktop.Notifications",
    "/org/freedesktop/Notifications", "org.freedesktop.Notifications"};

/* In the order of the values that the service knows: 0, 1, 2. */
static const char *const urgencies[] = {"low", "normal", "critical"};

static bool
read_urgency(uint8_t *out, struct span text)
{
	for (uint8_t i = 0; i < 3; i++)
		if (span_eq(text, span_of(urgencies[i]))) {
			*out = i;
			return true;
		}
	return false;
}

/* Whether it reads the body as markup, and so wants < and & written out. */
static enum err
wants_markup(bool *out, struct bus *bus, struct fault *fault)
{
	struct bus_message *reply = NULL;
	const char *name;
	enum err err;

	*out = false;
	err = bus_call(bus, &service, "GetCapabilities", &reply, fault, NULL);
	if (err == ERR_OK && bus_enter_array(reply, "s"))
		while (bus_read(reply, "s", &name))
			*out = *out || strcmp(name, "body-markup") == 0;
	bus_message_free(reply);
	return err;
}

static void
add_markup(struct buf *out, struct span text)
{
	for (size_t i = 0; i < text.len; i++)
		switch (text.ptr[i]) {
		case '&':
			buf_add_text(out, "&amp;");
			break;
		case '<':
			buf_add_text(out, "&lt;");
			break;
		case '>':
			buf_add_text(out, "&gt;");
			break;
		default:
			buf_add_char(out, text.ptr[i]);
		}
}

struct notice {
	char *title, *body;
	const char *app_name;
	uint8_t urgency;
	int32_t timeout_ms; /* -1: as the service thinks fit */
};

/* The desktop file of the window that shows messages: gridhud.desktop. */
#define WINDOW "gridhud"

static enum err
send(struct bus *bus, const struct notice *notice, uint32_t *id,
    struct fault *fault)
{
	struct bus_message *reply = NULL;
	enum err err;

	err = bus_call(bus, &service, "Notify", &reply, fault, "susssasa{sv}i",
	    notice->app_name, (uint32_t)0, "", notice->title, notice->body, 0,
	    2, "urgency", "y", notice->urgency, "desktop-entry", "s", WINDOW,
	    notice->timeout_ms);
	if (err == ERR_OK && !bus_read(reply, "u", id))
		err = ERR_BAD_INPUT;
	bus_message_free(reply);
	return err;
}

/* The cause, behind the words that a caller may look for. */
static enum err
no_service(enum err err, const struct fault *cause, struct fault *fault)
{
	if (err == ERR_TIMED_OUT)
		fault_set(fault, "notify_user",
		    "timed out after %d ms: the notification service does not "
		    "answer",
		    BUS_CALL_MS);
	else
		fault_set(fault, "notify_user", "no notification service: %s",
		    fault_is_set(cause) ? cause->message : err_text(err));
	return err;
}

static enum err
show(struct bus *bus, struct notice *notice, struct span message,
    struct answer *answer, struct fault *fault)
{
	struct fault cause;
	struct buf body;
	uint32_t id = 0;
	bool markup;
	enum err err;

	fault_clear(&cause);
	buf_init(&body, 8 * MESSAGE_MAX);
	err = wants_markup(&markup, bus, &cause);
	if (err != ERR_OK)
		return no_service(err, &cause, fault);
	if (markup)
		add_markup(&body, message);
	else
		buf_add_span(&body, message);
	notice->body = buf_take(&body, NULL);
	if (notice->body == NULL)
		return buf_end(&body);
	err = send(bus, notice, &id, &cause);
	if (err != ERR_OK)
		return no_service(err, &cause, fault);
	answer_text(answer, "Notification %u is shown.", id);
	return ERR_OK;
}

enum err
notify_user(
    const struct tool_call *call, struct answer *answer, struct fault *fault)
{
	struct notice notice = {.app_name = NULL};
	struct span title, message, urgency;
	struct bus *bus = NULL;
	int64_t timeout_ms;
	enum err err;

	assert(call->settings != NULL && answer != NULL);
	notice.app_name = call->settings->app_name;
	if (!call_text(call, &title, "title", NULL, TITLE_MAX, fault) ||
	    !call_text(call, &message, "message", NULL, MESSAGE_MAX, fault) ||
	    !call_text(call, &urgency, "urgency", "normal", 16, fault) ||
	    !call_int(call, &timeout_ms, "timeout_ms", -1, 0, 600000, fault))
		return ERR_BAD_INPUT;
	if (!read_urgency(&notice.urgency, urgency)) {
		fault_set(fault, "urgency",
		    "not allowed: urgency is low, normal or critical");
		return ERR_BAD_INPUT;
	}
	notice.timeout_ms = (int32_t)timeout_ms;
	notice.title = span_dup(title);
	err = notice.title == NULL ? ERR_NO_MEMORY
				   : bus_open(&bus, BUS_SESSION, fault);
	if (err == ERR_OK)
		err = show(bus, &notice, message, answer, fault);
	bus_close(bus);
	free(notice.title);
	free(notice.body);
	return err;
}
