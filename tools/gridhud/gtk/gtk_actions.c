/* Actions of menus, buttons and keys; each does what a key of the terminal's
 * window does. */
#include <assert.h>

#include "tools/gridhud/gtk/gtk_priv.h"
#include "tools/gridhud/inline.h"

const struct message *
win_chosen(const struct win *win, uint64_t *number)
{
	ModelItem *item =
	    gtk_single_selection_get_selected_item(win->selection);

	if (item == NULL)
		return NULL;
	*number = model_item_number(item);
	return history_at(win->app.history, *number);
}

/* --- what is done --------------------------------------------------------- */

static void
acknowledge(struct win *win)
{
	uint64_t number;

	if (win_chosen(win, &number) != NULL)
		app_acknowledge_one(&win->app, number);
}

static void
acknowledge_all(struct win *win)
{
	app_acknowledge(&win->app);
}

static void
undo(struct win *win)
{
	app_undo(&win->app);
}

static void
mark_read(struct win *win)
{
	app_saw(&win->app);
}

static void
mute(struct win *win)
{
	uint64_t number;

	app_toggle_mute(&win->app, win_chosen(win, &number));
}

static void
stop_speech(struct win *win)
{
	app_hush(&win->app);
}

static void
attach(struct win *win)
{
	app_attach(&win->app);
}

static void
quit(struct win *win)
{
	win->app.quit = true;
}

static void
toggle_quiet(struct win *win)
{
	app_toggle_quiet(&win->app);
}

static void
search(struct win *win)
{
	gtk_search_bar_set_search_mode(win->search_bar, TRUE);
	gtk_widget_grab_focus(GTK_WIDGET(win->search));
}

static void
write_line(struct win *win)
{
	gtk_widget_grab_focus(win->line);
}

/* --- links ---------------------------------------------------------------- */

static void
on_link(GtkButton *button, gpointer data)
{
	struct win *win = data;
	const char *url = g_object_get_data(G_OBJECT(button), "url");

	app_open_link(&win->app, span_of(url));
	gtk_popover_popdown(GTK_POPOVER(
	    gtk_widget_get_ancestor(GTK_WIDGET(button), GTK_TYPE_POPOVER)));
}

static void
on_closed(GtkPopover *popover, gpointer data)
{
	(void)data;
	gtk_widget_unparent(GTK_WIDGET(popover));
}

static void
ask_which(struct win *win, const struct span *links, unsigned count)
{
	GtkWidget *popover = gtk_popover_new();
	GtkWidget *box = gtk_box_new(GTK_ORIENTATION_VERTICAL, 2);

	for (unsigned i = 0; i < count; i++) {
		char *url = g_strndup(links[i].ptr, links[i].len);
		GtkWidget *label = gtk_label_new(url);
		GtkWidget *button = gtk_button_new();

		gtk_label_set_ellipsize(
		    GTK_LABEL(label), PANGO_ELLIPSIZE_MIDDLE);
		gtk_label_set_max_width_chars(GTK_LABEL(label), 48);
		gtk_label_set_xalign(GTK_LABEL(label), 0);
		gtk_button_set_child(GTK_BUTTON(button), label);
		gtk_button_set_has_frame(GTK_BUTTON(button), FALSE);
		win_set_name(button, url);
		g_object_set_data_full(G_OBJECT(button), "url", url, g_free);
		g_signal_connect(button, "clicked", G_CALLBACK(on_link), win);
		gtk_box_append(GTK_BOX(box), button);
	}
	gtk_popover_set_child(GTK_POPOVER(popover), box);
	gtk_widget_set_parent(popover, win->open);
	g_signal_connect(popover, "closed", G_CALLBACK(on_closed), NULL);
	gtk_popover_popup(GTK_POPOVER(popover));
}

static void
open_link(struct win *win)
{
	struct span links[INLINE_LINKS_MAX];
	const struct message *message;
	unsigned count;
	uint64_t number;

	message = win_chosen(win, &number);
	if (message == NULL)
		return;
	count =
	    inline_links(links, message->url, message->text, message->markdown);
	if (count > 1)
		ask_which(win, links, count);
	else
		app_open_link(&win->app, count == 1 ? links[0] : SPAN(""));
}

/* --- the keys' window ----------------------------------------------------- */

static const struct action {
	const char *name;
	guint key; /* 0: none */
	const char *shown; /* the key, for the person */
	const char *help;
	void (*act)(struct win *win);
} actions[];

static void show_keys(struct win *win);

static const struct action actions[] = {
    {"acknowledge", GDK_KEY_a, "A", "Acknowledge the selected message",
	acknowledge},
    {"acknowledge-all", GDK_KEY_A, "Shift+A", "Acknowledge all",
	acknowledge_all},
    {"undo", GDK_KEY_u, "U", "Undo the last acknowledgement", undo},
    {"open", GDK_KEY_o, "O", "Open the selected message's link", open_link},
    {"mute", GDK_KEY_m, "M", "Mute its source, or end that", mute},
    {"read", GDK_KEY_r, "R", "Mark all messages as read", mark_read},
    {"stop", GDK_KEY_s, "S", "Stop speaking", stop_speech},
    {"search", GDK_KEY_slash, "/", "Search", search},
    {"write", GDK_KEY_w, "W", "Write a line into the conversation; Esc leaves",
	write_line},
    {"settings", GDK_KEY_comma, ",", "Settings", win_open_settings},
    {"attach", GDK_KEY_t, "T", "Attach now, or take gridhook back", attach},
    {"keys", GDK_KEY_question, "?", "These keys", show_keys},
    {"quit", GDK_KEY_q, "Q", "Quit", quit},
};

static void
show_keys(struct win *win)
{
	GtkWidget *window = gtk_window_new();
	GtkWidget *grid = gtk_grid_new();

	gtk_grid_set_column_spacing(GTK_GRID(grid), 24);
	gtk_grid_set_row_spacing(GTK_GRID(grid), 6);
	gtk_widget_set_margin_start(grid, 18);
	gtk_widget_set_margin_end(grid, 18);
	gtk_widget_set_margin_top(grid, 18);
	gtk_widget_set_margin_bottom(grid, 18);
	for (size_t i = 0; i < G_N_ELEMENTS(actions); i++) {
		GtkWidget *key = gtk_label_new(actions[i].shown);
		GtkWidget *help = gtk_label_new(actions[i].help);

		gtk_label_set_xalign(GTK_LABEL(key), 0);
		gtk_label_set_xalign(GTK_LABEL(help), 0);
		gtk_widget_add_css_class(key, "source");
		gtk_grid_attach(GTK_GRID(grid), key, 0, (int)i, 1, 1);
		gtk_grid_attach(GTK_GRID(grid), help, 1, (int)i, 1, 1);
	}
	gtk_window_set_title(GTK_WINDOW(window), "Keys");
	gtk_window_set_transient_for(GTK_WINDOW(window), win->window);
	gtk_window_set_child(GTK_WINDOW(window), grid);
	gtk_window_present(GTK_WINDOW(window));
}

/* --- joining them --------------------------------------------------------- */

static void
on_action(GSimpleAction *simple, GVariant *parameter, gpointer data)
{
	const char *name = g_action_get_name(G_ACTION(simple));

	(void)parameter;
	for (size_t i = 0; i < G_N_ELEMENTS(actions); i++)
		if (g_strcmp0(actions[i].name, name) == 0)
			actions[i].act(data);
}

static void
on_quiet(GSimpleAction *simple, GVariant *wanted, gpointer data)
{
	struct win *win = data;

	(void)simple;
	if (g_variant_get_boolean(wanted) != app_is_undisturbed(&win->app))
		toggle_quiet(win);
}

/* "all", "unread" or "alerts". */
static void
on_show(GSimpleAction *simple, GVariant *wanted, gpointer data)
{
	const char *name = g_variant_get_string(wanted, NULL);
	struct win *win = data;

	win->filter.unread = g_strcmp0(name, "unread") == 0;
	win->filter.alerts = g_strcmp0(name, "alerts") == 0;
	g_simple_action_set_state(simple, wanted);
	win_refilter(win);
}

/* A key that no entry has taken. */
static gboolean
on_key(GtkEventControllerKey *keys, guint key, guint code,
    GdkModifierType state, gpointer data)
{
	struct win *win = data;

	(void)keys;
	(void)code;
	if (key == GDK_KEY_Escape) {
		win_focus_list(win);
		return TRUE;
	}
	if ((state & GDK_CONTROL_MASK) != 0 && key == GDK_KEY_f) {
		search(win);
		return TRUE;
	}
	if ((state & GDK_CONTROL_MASK) != 0 && key == GDK_KEY_q) {
		quit(win);
		return TRUE;
	}
	if ((state & (GDK_CONTROL_MASK | GDK_ALT_MASK | GDK_SUPER_MASK)) != 0)
		return FALSE;
	if (key == GDK_KEY_d) {
		toggle_quiet(win);
		return TRUE;
	}
	for (size_t i = 0; i < G_N_ELEMENTS(actions); i++)
		if (actions[i].key == key) {
			actions[i].act(win);
			return TRUE;
		}
	return FALSE;
}

static void
add_stateful(GSimpleActionGroup *group, GSimpleAction *action, GCallback act,
    struct win *win)
{
	g_signal_connect(action, "change-state", act, win);
	g_action_map_add_action(G_ACTION_MAP(group), G_ACTION(action));
	g_object_unref(action);
}

void
win_add_actions(struct win *win)
{
	GSimpleActionGroup *group = g_simple_action_group_new();
	GtkEventController *keys = gtk_event_controller_key_new();

	for (size_t i = 0; i < G_N_ELEMENTS(actions); i++) {
		GSimpleAction *simple =
		    g_simple_action_new(actions[i].name, NULL);

		g_signal_connect(
		    simple, "activate", G_CALLBACK(on_action), win);
		g_action_map_add_action(G_ACTION_MAP(group), G_ACTION(simple));
		g_object_unref(simple);
	}
	add_stateful(group,
	    g_simple_action_new_stateful(
		"quiet", NULL, g_variant_new_boolean(FALSE)),
	    G_CALLBACK(on_quiet), win);
	add_stateful(group,
	    g_simple_action_new_stateful(
		"show", G_VARIANT_TYPE_STRING, g_variant_new_string("all")),
	    G_CALLBACK(on_show), win);
	win->actions = G_ACTION_MAP(group);
	gtk_widget_insert_action_group(
	    GTK_WIDGET(win->window), "win", G_ACTION_GROUP(group));
	g_signal_connect(keys, "key-pressed", G_CALLBACK(on_key), win);
	gtk_widget_add_controller(GTK_WIDGET(win->window), keys);
}

static void
enable(struct win *win, const char *name, bool on)
{
	g_simple_action_set_enabled(
	    G_SIMPLE_ACTION(g_action_map_lookup_action(win->actions, name)),
	    on);
}

void
win_actions_refresh(struct win *win)
{
	uint64_t number = 0;
	const struct message *message = win_chosen(win, &number);
	bool is_event = message != NULL && message->role == ROLE_EVENT;
	bool is_muted;

	assert(win->actions != NULL);
	enable(win, "acknowledge", message != NULL && message->alert);
	enable(win, "acknowledge-all", history_alerts(win->app.history) > 0);
	enable(win, "undo", win->app.undo_count > 0);
	enable(win, "read", history_unread(win->app.history) > 0);
	enable(win, "open", message != NULL);
	enable(win, "mute", is_event);
	g_simple_action_set_state(
	    G_SIMPLE_ACTION(g_action_map_lookup_action(win->actions, "quiet")),
	    g_variant_new_boolean(app_is_undisturbed(&win->app)));
	is_muted = is_event && app_is_muted(&win->app, message->source);
	if (is_muted == win->mute_ends)
		return;
	win->mute_ends = is_muted;
	win_set_label(win->mute, is_muted ? "End _mute" : "_Mute");
}
