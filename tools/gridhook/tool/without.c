/*
 * without: what a build answers in place of a library that it was configured
 * without. The doors of that library are then not compiled.
 */
#include "config.h"

#include <stdlib.h>

#include "tools/gridhook/tool/bus.h"
#include "tools/gridhook/tool/picture.h"
#include "tools/gridhook/tool/x11.h"

#if !HAVE_X11 || !HAVE_DBUS || !HAVE_PNG || !HAVE_JPEG
static enum err
refuse(struct fault *fault, const char *words, const char *what)
{
	fault_set(fault, what,
	    "%s: this build was configured without %s, whose package was "
	    "missing then (the end of configure's output names it)",
	    words, what);
	return ERR_NOT_READY;
}
#endif

#if !HAVE_X11
enum err
x11_open(struct x11 **out, struct fault *fault)
{
	*out = NULL;
	return refuse(fault, "no display", "X11");
}

/* Nothing below is reached: there is no connection to call it with. */
void
x11_close(struct x11 *x11)
{
	(void)x11;
}

enum err
x11_picture(
    struct x11 *x11, int64_t monitor, struct picture *out, struct fault *fault)
{
	(void)x11, (void)monitor, (void)out;
	return refuse(fault, "no display", "X11");
}

enum err
x11_key(
    struct x11 *x11, uint32_t symbol, enum x11_ear *ear, struct fault *fault)
{
	(void)x11, (void)symbol, (void)ear;
	return refuse(fault, "no display", "X11");
}

enum x11_front
x11_to_front(struct x11 *x11,
    bool (*fits)(void *arg, struct span instance, struct span class), void *arg)
{
	(void)x11, (void)fits, (void)arg;
	return X11_FRONT_NO_MANAGER;
}

enum err
x11_selection_read(struct x11 *x11, struct buf *text, bool *cut, int timeout_ms,
    struct fault *fault)
{
	(void)x11, (void)text, (void)cut, (void)timeout_ms;
	return refuse(fault, "no display", "X11");
}

enum err
x11_selection_own(struct x11 *x11, struct fault *fault)
{
	(void)x11;
	return refuse(fault, "no display", "X11");
}

void
x11_selection_serve(struct x11 *x11, struct span text, int life_fd)
{
	(void)x11, (void)text, (void)life_fd;
}

enum err
x11_selection_clear(struct x11 *x11, struct fault *fault)
{
	(void)x11;
	return refuse(fault, "no display", "X11");
}
#endif

#if !HAVE_DBUS
enum err
bus_open(struct bus **out, enum bus_kind kind, struct fault *fault)
{
	*out = NULL;
	return refuse(fault,
	    kind == BUS_SESSION ? "no session bus" : "no system bus", "D-Bus");
}

void
bus_close(struct bus *bus)
{
	(void)bus;
}

const char *
bus_own_name(struct bus *bus)
{
	(void)bus;
	return "";
}

enum err
bus_call(struct bus *bus, const struct bus_peer *peer, const char *method,
    struct bus_message **reply, struct fault *fault, const char *types, ...)
{
	(void)bus, (void)peer, (void)method, (void)reply, (void)types;
	return refuse(fault, "no session bus", "D-Bus");
}

enum err
bus_property(struct bus *bus, const struct bus_peer *peer, const char *name,
    const char *type, struct bus_message **value, struct fault *fault)
{
	(void)bus, (void)peer, (void)name, (void)type, (void)value;
	return refuse(fault, "no session bus", "D-Bus");
}

bool
bus_has_name(struct bus *bus, const char *name)
{
	(void)bus, (void)name;
	return false;
}

enum err
bus_watch(struct bus *bus, const struct bus_peer *peer, const char *signal,
    struct fault *fault)
{
	(void)bus, (void)peer, (void)signal;
	return refuse(fault, "no session bus", "D-Bus");
}

enum err
bus_await(struct bus *bus, int timeout_ms, struct bus_message **out)
{
	(void)bus, (void)timeout_ms, (void)out;
	return ERR_NOT_READY;
}

bool
bus_read(struct bus_message *message, const char *types, ...)
{
	(void)message, (void)types;
	return false;
}

bool
bus_enter_array(struct bus_message *message, const char *entries)
{
	(void)message, (void)entries;
	return false;
}

bool
bus_leave(struct bus_message *message)
{
	(void)message;
	return false;
}

bool
bus_read_entry(struct bus_message *message, const char *key, const char **value)
{
	(void)message, (void)key, (void)value;
	return false;
}

void
bus_message_free(struct bus_message *message)
{
	(void)message;
}
#endif

#if !HAVE_PNG
enum err
picture_read_png(struct picture *out, struct span bytes, struct fault *fault)
{
	(void)out, (void)bytes;
	return refuse(fault, "not supported", "PNG");
}

enum err
picture_write_png(
    const struct picture *picture, struct buf *out, struct fault *fault)
{
	(void)picture, (void)out;
	return refuse(fault, "not supported", "PNG");
}
#endif

#if !HAVE_JPEG
enum err
picture_write_jpeg(
    const struct picture *picture, struct buf *out, struct fault *fault)
{
	(void)picture, (void)out;
	return refuse(fault, "not supported", "JPEG");
}
#endif
