#include "tools/gridhook/tool/bus.h"

#include <assert.h>
#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <systemd/sd-bus.h>

#include "common/date.h"

struct bus {
	sd_bus *link;
	sd_bus_slot *watch;
	sd_bus_message *caught;
};

static const struct {
	const char *label;
	int (*open)(sd_bus **out);
} kinds[] = {
    [BUS_SESSION] = {"no session bus", sd_bus_open_user},
    [BUS_SYSTEM] = {"no system bus", sd_bus_open_system},
};

/* The bus's own errors, as our codes. */
static const struct {
	const char *name;
	enum err err;
} meanings[] = {
    {SD_BUS_ERROR_SERVICE_UNKNOWN, ERR_NOT_FOUND},
    {SD_BUS_ERROR_NAME_HAS_NO_OWNER, ERR_NOT_FOUND},
    {SD_BUS_ERROR_UNKNOWN_OBJECT, ERR_NOT_FOUND},
    {SD_BUS_ERROR_UNKNOWN_METHOD, ERR_NOT_FOUND},
    {SD_BUS_ERROR_UNKNOWN_INTERFACE, ERR_NOT_FOUND},
    {SD_BUS_ERROR_UNKNOWN_PROPERTY, ERR_NOT_FOUND},
    {SD_BUS_ERROR_ACCESS_DENIED, ERR_DENIED},
    {SD_BUS_ERROR_AUTH_FAILED, ERR_DENIED},
    {SD_BUS_ERROR_INTERACTIVE_AUTHORIZATION_REQUIRED, ERR_DENIED},
    {SD_BUS_ERROR_NO_REPLY, ERR_TIMED_OUT},
    {SD_BUS_ERROR_TIMEOUT, ERR_TIMED_OUT},
    {"org.freedesktop.DBus.Error.TimedOut", ERR_TIMED_OUT},
};

/* A message is only ever ours by pointer. */
static sd_bus_message *
real(struct bus_message *message)
{
	return (sd_bus_message *)message;
}

enum err
bus_open(struct bus **out, enum bus_kind kind, struct fault *fault)
{
	struct bus *bus = calloc(1, sizeof(*bus));
	const char *unique;
	int code;

	assert(kind == BUS_SESSION || kind == BUS_SYSTEM);
	*out = NULL;
	if (bus == NULL)
		return ERR_NO_MEMORY;
	code = kinds[kind].open(&bus->link);
	/* The connection is made only when something is asked of it. */
	if (code >= 0) {
		sd_bus_set_method_call_timeout(
		    bus->link, (uint64_t)BUS_CALL_MS * 1000);
		code = sd_bus_get_unique_name(bus->link, &unique);
	}
	if (code < 0) {
		fault_set(
		    fault, "bus", "%s: %s", kinds[kind].label, strerror(-code));
		bus_close(bus);
		return ERR_NOT_READY;
	}
	*out = bus;
	return ERR_OK;
}

void
bus_close(struct bus *bus)
{
	if (bus == NULL)
		return;
	sd_bus_message_unref(bus->caught);
	sd_bus_slot_unref(bus->watch);
	sd_bus_close_unref(bus->link);
	free(bus);
}

const char *
bus_own_name(struct bus *bus)
{
	const char *name = NULL;

	sd_bus_get_unique_name(bus->link, &name);
	return name == NULL ? "" : name;
}

static enum err
failed(const sd_bus_error *error, int code, const char *method,
    struct fault *fault)
{
	enum err err = err_from_errno(-code);

	if (-code == ETIMEDOUT)
		err = ERR_TIMED_OUT;
	for (size_t i = 0; i < sizeof(meanings) / sizeof(meanings[0]); i++)
		if (sd_bus_error_has_name(error, meanings[i].name))
			err = meanings[i].err;
	if (err == ERR_OK)
		err = ERR_SYSTEM;
	fault_set(fault, method, "%s: %s", method,
	    error->message != NULL ? error->message : strerror(-code));
	return err;
}

enum err
bus_call(struct bus *bus, const struct bus_peer *peer, const char *method,
    struct bus_message **reply, struct fault *fault, const char *types, ...)
{
	sd_bus_error error = SD_BUS_ERROR_NULL;
	sd_bus_message *got = NULL;
	enum err err = ERR_OK;
	va_list args;
	int code;

	assert(peer->name != NULL && method != NULL);
	va_start(args, types);
	code = sd_bus_call_methodv(bus->link, peer->name, peer->path,
	    peer->interface, method, &error, &got, types, args);
	va_end(args);
	if (code < 0)
		err = failed(&error, code, method, fault);
	sd_bus_error_free(&error);
	if (reply != NULL)
		*reply = (struct bus_message *)got;
	else
		sd_bus_message_unref(got);
	return err;
}

enum err
bus_property(struct bus *bus, const struct bus_peer *peer, const char *name,
    const char *type, struct bus_message **value, struct fault *fault)
{
	sd_bus_error error = SD_BUS_ERROR_NULL;
	sd_bus_message *got = NULL;
	enum err err = ERR_OK;
	int code;

	assert(name != NULL && type != NULL);
	code = sd_bus_get_property(bus->link, peer->name, peer->path,
	    peer->interface, name, &error, &got, type);
	if (code < 0)
		err = failed(&error, code, name, fault);
	sd_bus_error_free(&error);
	*value = (struct bus_message *)got;
	return err;
}

bool
bus_has_name(struct bus *bus, const char *name)
{
	assert(name != NULL);
	return sd_bus_get_name_creds(bus->link, name, 0, NULL) >= 0;
}

static int
on_signal(sd_bus_message *message, void *context, sd_bus_error *error)
{
	struct bus *bus = context;

	(void)error;
	if (bus->caught == NULL)
		bus->caught = sd_bus_message_ref(message);
	return 0;
}

enum err
bus_watch(struct bus *bus, const struct bus_peer *peer, const char *signal,
    struct fault *fault)
{
	int code = sd_bus_match_signal(bus->link, &bus->watch, peer->name,
	    peer->path, peer->interface, signal, on_signal, bus);

	assert(peer->path != NULL && signal != NULL);
	if (code >= 0)
		return ERR_OK;
	fault_set(
	    fault, "bus", "cannot watch for %s: %s", signal, strerror(-code));
	return ERR_SYSTEM;
}

enum err
bus_await(struct bus *bus, int timeout_ms, struct bus_message **out)
{
	int64_t until = date_monotonic_ns() / 1000 + timeout_ms * 1000LL;

	assert(bus->watch != NULL);
	*out = NULL;
	while (bus->caught == NULL) {
		int64_t left = until - date_monotonic_ns() / 1000;
		int code = sd_bus_process(bus->link, NULL);

		if (code == 0 && left <= 0)
			return ERR_TIMED_OUT;
		if (code == 0)
			code = sd_bus_wait(bus->link, (uint64_t)left);
		if (code < 0 && code != -EINTR)
			return ERR_CLOSED;
	}
	*out = (struct bus_message *)bus->caught;
	bus->caught = NULL;
	return ERR_OK;
}

bool
bus_read(struct bus_message *message, const char *types, ...)
{
	va_list args;
	int code;

	assert(message != NULL && types != NULL);
	va_start(args, types);
	code = sd_bus_message_readv(real(message), types, args);
	va_end(args);
	return code > 0;
}

bool
bus_enter_array(struct bus_message *message, const char *entries)
{
	assert(entries != NULL);
	return sd_bus_message_enter_container(
		   real(message), SD_BUS_TYPE_ARRAY, entries) > 0;
}

bool
bus_leave(struct bus_message *message)
{
	return sd_bus_message_exit_container(real(message)) >= 0;
}

/*
 * Reads a pair "sv": true when its key matches; the message then stands behind
 * it.
 */
static bool
read_pair(sd_bus_message *message, const char *key, const char **value)
{
	const char *name = NULL, *type = NULL;
	char kind = 0;

	if (sd_bus_message_read(message, "s", &name) <= 0 ||
	    sd_bus_message_peek_type(message, &kind, &type) <= 0)
		return false;
	if (strcmp(name, key) != 0 || strcmp(type, "s") != 0) {
		sd_bus_message_skip(message, "v");
		return false;
	}
	return sd_bus_message_read(message, "v", "s", value) > 0;
}

bool
bus_read_entry(struct bus_message *message, const char *key, const char **value)
{
	bool found = false;

	assert(key != NULL);
	*value = NULL;
	if (!bus_enter_array(message, "{sv}"))
		return false;
	while (sd_bus_message_enter_container(
		   real(message), SD_BUS_TYPE_DICT_ENTRY, "sv") > 0) {
		const char *text = NULL;

		if (read_pair(real(message), key, &text) && !found) {
			*value = text;
			found = true;
		}
		if (!bus_leave(message))
			return false;
	}
	return bus_leave(message) && found;
}

void
bus_message_free(struct bus_message *message)
{
	sd_bus_message_unref(real(message));
}
