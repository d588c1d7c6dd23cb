/*
 * Day and night: by the setting, by the time, and by the desktop, which tells
 * its choice by the portal of the session's bus.
 */
#include "tools/gridhud/gtk/gtk_priv.h"

#define PORTAL "org.freedesktop.portal.Desktop"
#define PORTAL_PATH "/org/freedesktop/portal/desktop"
#define PORTAL_SETTINGS "org.freedesktop.portal.Settings"
#define SPACE "org.freedesktop.appearance"
#define NAME "color-scheme"
#define DARK 1

static const char style[] =
    ".message { padding: 8px 12px; }"
    ".message.alert { border-left: 4px solid #e01b24; padding-left: 8px; }"
    ".message .source { font-weight: bold; }"
    ".message .title { font-weight: bold; }"
    ".message .time, .message .badges { font-size: 90%; opacity: 0.75; }"
    ".message .badges.good, .message .badges.bad, .message .badges.warn"
    " { opacity: 1; font-weight: bold; }"
    ".message .dot { color: @accent_ink; }"
    ".badge { background: @accent_ink; color: @accent_paper;"
    " border-radius: 9px; padding: 0 8px; font-weight: bold; }"
    ".state { font-size: 85%; opacity: 0.75; }"
    ".state.bad { opacity: 1; }"
    ".notice { padding: 4px 12px; }"
    ".empty { opacity: 0.75; padding: 24px; }"
    ".bad { color: @bad_ink; } .good { color: @good_ink; }"
    ".warn { color: @warn_ink; }"
    "listview > row:selected { background: alpha(@accent_ink, 0.16);"
    " color: inherit; }"
    "listview > row:selected link { color: @accent_ink; }"
    "listview > row:selected:focus-visible"
    " { outline: 2px solid @accent_ink; outline-offset: -2px; }";

static const char day[] =
    "@define-color accent_ink #1a5fb4; @define-color accent_paper #ffffff;"
    "@define-color bad_ink #b3141c; @define-color good_ink #1b6e3a;"
    "@define-color warn_ink #8a5300;";
static const char night[] =
    "@define-color accent_ink #99c1f1; @define-color accent_paper #1e1e1e;"
    "@define-color bad_ink #ff938c; @define-color good_ink #8ff0a4;"
    "@define-color warn_ink #f8c471;";

static void
apply(struct win *win)
{
	char *text = g_strconcat(win->is_night ? night : day, style, NULL);

	gtk_css_provider_load_from_data(win->css, text, -1);
	g_free(text);
	g_object_set(gtk_settings_get_default(),
	    "gtk-application-prefer-dark-theme", (gboolean)win->is_night, NULL);
}

void
win_theme_refresh(struct win *win)
{
	if (win->is_night == win->app.night)
		return;
	win->is_night = win->app.night;
	apply(win);
}

/* --- the desktop's choice ------------------------------------------------- */

static void
take_scheme(struct win *win, GVariant *value)
{
	GVariant *inner;

	while (g_variant_is_of_type(value, G_VARIANT_TYPE_VARIANT)) {
		inner = g_variant_get_variant(value);
		g_variant_unref(value);
		value = inner;
	}
	if (g_variant_is_of_type(value, G_VARIANT_TYPE_UINT32)) {
		win->app.system_dark = g_variant_get_uint32(value) == DARK;
		win->dirty = true;
	}
	g_variant_unref(value);
}

static void
on_changed(GDBusConnection *bus, const char *sender, const char *path,
    const char *interface, const char *signal, GVariant *parameters,
    gpointer data)
{
	const char *space, *name;
	GVariant *value;

	(void)bus;
	(void)sender;
	(void)path;
	(void)interface;
	(void)signal;
	if (!g_variant_is_of_type(parameters, G_VARIANT_TYPE("(ssv)")))
		return;
	g_variant_get(parameters, "(&s&sv)", &space, &name, &value);
	if (g_strcmp0(space, SPACE) == 0 && g_strcmp0(name, NAME) == 0)
		take_scheme(data, value);
	else
		g_variant_unref(value);
}

static void
on_read(GObject *source, GAsyncResult *result, gpointer data)
{
	GVariant *reply = g_dbus_connection_call_finish(
	    G_DBUS_CONNECTION(source), result, NULL);
	GVariant *value;

	if (reply == NULL) /* a desktop without portals */
		return;
	g_variant_get(reply, "(v)", &value);
	take_scheme(data, value);
	g_variant_unref(reply);
}

static void
on_bus(GObject *source, GAsyncResult *result, gpointer data)
{
	GDBusConnection *bus = g_bus_get_finish(result, NULL);

	(void)source;
	if (bus == NULL)
		return;
	g_dbus_connection_set_exit_on_close(bus, FALSE);
	g_dbus_connection_signal_subscribe(bus, PORTAL, PORTAL_SETTINGS,
	    "SettingChanged", PORTAL_PATH, SPACE, G_DBUS_SIGNAL_FLAGS_NONE,
	    on_changed, data, NULL);
	g_dbus_connection_call(bus, PORTAL, PORTAL_PATH, PORTAL_SETTINGS,
	    "Read", g_variant_new("(ss)", SPACE, NAME), G_VARIANT_TYPE("(v)"),
	    G_DBUS_CALL_FLAGS_NONE, -1, NULL, on_read, data);
}

void
win_theme_init(struct win *win)
{
	win->css = gtk_css_provider_new();
	gtk_style_context_add_provider_for_display(gdk_display_get_default(),
	    GTK_STYLE_PROVIDER(win->css),
	    GTK_STYLE_PROVIDER_PRIORITY_APPLICATION);
	win->is_night = win->app.night;
	apply(win);
	g_bus_get(G_BUS_TYPE_SESSION, NULL, on_bus, win);
}
