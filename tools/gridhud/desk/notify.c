#include "tools/gridhud/desk/notify.h"

#include <assert.h>
#include <errno.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <systemd/sd-bus.h>

#include "common/buf.h"
#include "common/log.h"

#define SERVICE "org.freedesktop.Notifications"
#define PATH "/org/freedesktop/Notifications"
#define ITEMS_MAX 32 /* that can be replaced, opened, acknowledged */
#define ABOUT_MAX 320
#define TITLE_MAX 256
#define BODY_MAX 2048
#define CALL_US (5 * 1000 * 1000)

/* The desktop file of the window: the service takes its icon and name. */
#define WINDOW "gridhud"

struct item {
	bool is_used, is_alert;
	uint64_t key;
	uint32_t id; /* the service's; 0 until it has answered */
	char about[ABOUT_MAX];
	sd_bus_slot *slot; /* of the answer that is awaited */
	struct notify *notify;
};

struct notify {
	sd_bus *bus;
	sd_bus_slot *signals, *asked;
	const struct notify_ops *ops;
	void *arg;
	char *app_name;
	bool is_markup; /* the body's < and & have a meaning */
	bool failed; /* the last one was not shown, which has been told */
	unsigned next; /* the item that is used next */
	struct item items[ITEMS_MAX];
};

bool
notify_is_there(void)
{
	return true;
}

static void
item_clear(struct item *item)
{
	sd_bus_slot_unref(item->slot);
	*item = (struct item){.is_used = false, .notify = item->notify};
}

/* --- what comes in -------------------------------------------------------- */

static struct item *
find_id(struct notify *notify, uint32_t id)
{
	for (unsigned i = 0; i < ITEMS_MAX; i++)
		if (notify->items[i].is_used && notify->items[i].id == id &&
		    id != 0)
			return &notify->items[i];
	return NULL;
}

static int
on_signal(sd_bus_message *message, void *arg, sd_bus_error *error)
{
	struct notify *notify = arg;
	const char *action = "";
	struct item *item;
	uint32_t id = 0;
	uint64_t key;

	(void)error;
	if (sd_bus_message_is_signal(message, SERVICE, "NotificationClosed")) {
		if (sd_bus_message_read(message, "u", &id) > 0 &&
		    (item = find_id(notify, id)) != NULL)
			item_clear(item);
		return 0;
	}
	if (!sd_bus_message_is_signal(message, SERVICE, "ActionInvoked") ||
	    sd_bus_message_read(message, "us", &id, &action) <= 0)
		return 0;
	item = find_id(notify, id);
	if (item == NULL)
		return 0;
	key = item->key;
	if (strcmp(action, "acknowledge") == 0)
		notify->ops->acknowledge(notify->arg, key);
	else if (strcmp(action, "default") == 0)
		notify->ops->open(notify->arg, key);
	return 0;
}

static int
on_shown(sd_bus_message *reply, void *arg, sd_bus_error *error)
{
	struct item *item = arg;
	struct notify *notify = item->notify;
	bool failed = sd_bus_message_is_method_error(reply, NULL) != 0;

	(void)error;
	item->slot = sd_bus_slot_unref(item->slot);
	if (failed || sd_bus_message_read(reply, "u", &item->id) <= 0)
		item_clear(item);
	if (failed && !notify->failed)
		notify->ops->failed(
		    notify->arg, sd_bus_message_get_error(reply)->message);
	notify->failed = failed;
	return 0;
}

static int
on_capabilities(sd_bus_message *reply, void *arg, sd_bus_error *error)
{
	struct notify *notify = arg;
	const char *name;

	(void)error;
	notify->asked = sd_bus_slot_unref(notify->asked);
	if (sd_bus_message_is_method_error(reply, NULL) ||
	    sd_bus_message_enter_container(reply, 'a', "s") < 0)
		return 0;
	notify->is_markup = false;
	while (sd_bus_message_read(reply, "s", &name) > 0)
		notify->is_markup |= strcmp(name, "body-markup") == 0;
	return 0;
}

/* --- what goes out -------------------------------------------------------- */

static void
add_text(struct buf *out, struct span text, size_t most, bool is_markup)
{
	if (text.len > most) {
		text.len = most;
		while (text.len > 0 &&
		    ((unsigned char)text.ptr[text.len] & 0xc0) == 0x80)
			text.len--;
	}
	for (size_t i = 0; i < text.len; i++)
		if (is_markup && text.ptr[i] == '&')
			buf_add_text(out, "&amp;");
		else if (is_markup && text.ptr[i] == '<')
			buf_add_text(out, "&lt;");
		else if (is_markup && text.ptr[i] == '>')
			buf_add_text(out, "&gt;");
		else
			buf_add_char(out, text.ptr[i]);
	buf_add_char(out, '\0');
}

static struct item *
item_for(struct notify *notify, const struct notify_message *message)
{
	struct item *item;

	for (unsigned i = 0; i < ITEMS_MAX && message->about.len > 0; i++) {
		item = &notify->items[i];
		if (item->is_used &&
		    span_eq(span_of(item->about), message->about)) {
			item->slot = sd_bus_slot_unref(item->slot);
			return item;
		}
	}
	item = &notify->items[notify->next++ % ITEMS_MAX];
	item_clear(item);
	return item;
}

/* The actions and the hints: which buttons, how loud. */
static int
put_ways(sd_bus_message *call, const struct notify_message *message)
{
	int code = sd_bus_message_open_container(call, 'a', "s");

	if (code >= 0 && message->has_link)
		code = sd_bus_message_append(call, "ss", "default", "Open");
	if (code >= 0 && message->is_alert)
		code = sd_bus_message_append(
		    call, "ss", "acknowledge", "Acknowledge");
	if (code >= 0)
		code = sd_bus_message_close_container(call);
	if (code >= 0)
		code = sd_bus_message_append(call, "a{sv}", 3, "urgency", "y",
		    message->is_critical ? 2 : 1, "desktop-entry", "s", WINDOW,
		    "suppress-sound", "b", (int)message->is_silent);
	return code;
}

static int
send(struct notify *notify, struct item *item,
    const struct notify_message *message, const char *title, const char *body)
{
	sd_bus_message *call = NULL;
	int code;

	code = sd_bus_message_new_method_call(
	    notify->bus, &call, SERVICE, PATH, SERVICE, "Notify");
	if (code >= 0)
		code = sd_bus_message_append(
		    call, "susss", notify->app_name, item->id, "", title, body);
	if (code >= 0)
		code = put_ways(call, message);
	if (code >= 0)
		code = sd_bus_message_append(call, "i", (int32_t)-1);
	if (code >= 0)
		code = sd_bus_call_async(
		    notify->bus, &item->slot, call, on_shown, item, CALL_US);
	sd_bus_message_unref(call);
	return code;
}

void
notify_show(struct notify *notify, const struct notify_message *message)
{
	struct buf title, body;
	struct item *item;
	int code = -ENOMEM;

	assert(message != NULL);
	if (notify == NULL)
		return;
	buf_init(&title, TITLE_MAX * 8);
	buf_init(&body, BODY_MAX * 8);
	add_text(&title, message->title, TITLE_MAX, false);
	add_text(&body, message->body, BODY_MAX, notify->is_markup);
	item = item_for(notify, message);
	item->notify = notify;
	item->is_used = true;
	item->is_alert = message->is_alert;
	item->key = message->key;
	if (!span_copy(item->about, sizeof(item->about), message->about))
		item->about[0] = '\0';
	if (buf_end(&title) == ERR_OK && buf_end(&body) == ERR_OK)
		code = send(notify, item, message, title.data, body.data);
	if (code < 0) {
		log_warn(
		    "a notification was not sent: reason=%s", strerror(-code));
		item_clear(item);
	}
	buf_fini(&title);
	buf_fini(&body);
}

void
notify_sweep(
    struct notify *notify, bool (*waits)(void *arg, uint64_t key), void *arg)
{
	struct item *item;

	assert(waits != NULL);
	for (unsigned i = 0; notify != NULL && i < ITEMS_MAX; i++) {
		item = &notify->items[i];
		if (!item->is_used || !item->is_alert || item->id == 0 ||
		    waits(arg, item->key))
			continue;
		if (sd_bus_call_method_async(notify->bus, NULL, SERVICE, PATH,
			SERVICE, "CloseNotification", NULL, NULL, "u",
			item->id) < 0)
			log_warn("a notification was not withdrawn");
		item_clear(item);
	}
}

/* --- the connection ------------------------------------------------------- */

enum err
notify_open(struct notify **out, const char *app_name,
    const struct notify_ops *ops, void *arg)
{
	struct notify *notify = calloc(1, sizeof(*notify));
	int code;

	assert(app_name != NULL && ops != NULL);
	*out = NULL;
	if (notify == NULL)
		return ERR_NO_MEMORY;
	*notify = (struct notify){.ops = ops, .arg = arg, .is_markup = true};
	notify->app_name = span_dup(span_of(app_name));
	code =
	    notify->app_name == NULL ? -ENOMEM : sd_bus_open_user(&notify->bus);
	if (code >= 0)
		code = sd_bus_match_signal_async(notify->bus, &notify->signals,
		    SERVICE, PATH, SERVICE, NULL, on_signal, NULL, notify);
	if (code >= 0)
		code = sd_bus_call_method_async(notify->bus, &notify->asked,
		    SERVICE, PATH, SERVICE, "GetCapabilities", on_capabilities,
		    notify, "");
	if (code < 0) {
		notify_close(notify);
		return code == -ENOMEM ? ERR_NO_MEMORY : ERR_NOT_READY;
	}
	*out = notify;
	return ERR_OK;
}

void
notify_close(struct notify *notify)
{
	if (notify == NULL)
		return;
	for (unsigned i = 0; i < ITEMS_MAX; i++)
		item_clear(&notify->items[i]);
	sd_bus_slot_unref(notify->signals);
	sd_bus_slot_unref(notify->asked);
	sd_bus_flush_close_unref(notify->bus);
	free(notify->app_name);
	free(notify);
}

int
notify_fd(const struct notify *notify)
{
	return notify == NULL ? -1 : sd_bus_get_fd(notify->bus);
}

short
notify_events(const struct notify *notify)
{
	int events = notify == NULL ? 0 : sd_bus_get_events(notify->bus);

	return events < 0 ? POLLIN : (short)events;
}

bool
notify_process(struct notify *notify)
{
	int code;

	assert(notify != NULL);
	do
		code = sd_bus_process(notify->bus, NULL);
	while (code > 0);
	return code >= 0;
}
