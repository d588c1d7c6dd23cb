/* The header with the state, the filters, and the buttons below the list. */
#include "tools/gridhud/gtk/gtk_priv.h"

#define SEARCH_WAIT_MS 150
#define LINE_MAX_CHARS 4096

void
win_set_name(GtkWidget *widget, const char *name)
{
	gtk_accessible_update_property(
	    GTK_ACCESSIBLE(widget), GTK_ACCESSIBLE_PROPERTY_LABEL, name, -1);
}

/* --- the header ----------------------------------------------------------- */

static GMenuModel *
make_menu(void)
{
	GMenu *menu = g_menu_new(), *part = g_menu_new();

	g_menu_append(part, "Do not disturb for an hour", "win.quiet");
	g_menu_append(part, "Stop speaking", "win.stop");
	g_menu_append_section(menu, NULL, G_MENU_MODEL(part));
	g_object_unref(part);
	part = g_menu_new();
	g_menu_append(part, "Mark all as read", "win.read");
	g_menu_append(part, "Acknowledge all", "win.acknowledge-all");
	g_menu_append(part, "Undo acknowledgement", "win.undo");
	g_menu_append_section(menu, NULL, G_MENU_MODEL(part));
	g_object_unref(part);
	part = g_menu_new();
	g_menu_append(part, "Write a line", "win.write");
	g_menu_append(part, "Attach to gridhook", "win.attach");
	g_menu_append(part, "Settings", "win.settings");
	g_menu_append(part, "Keys", "win.keys");
	g_menu_append(part, "Quit", "win.quit");
	g_menu_append_section(menu, NULL, G_MENU_MODEL(part));
	g_object_unref(part);
	return G_MENU_MODEL(menu);
}

static GtkWidget *
make_title(struct win *win)
{
	GtkWidget *box = gtk_box_new(GTK_ORIENTATION_VERTICAL, 0);
	GtkWidget *line = gtk_box_new(GTK_ORIENTATION_HORIZONTAL, 8);
	GtkWidget *title = gtk_label_new(win->app.settings.app);
	GtkWidget *badge = gtk_label_new("");
	GtkWidget *state = gtk_label_new("");

	gtk_widget_add_css_class(title, "title");
	gtk_widget_add_css_class(badge, "badge");
	gtk_widget_add_css_class(state, "state");
	gtk_label_set_ellipsize(GTK_LABEL(title), PANGO_ELLIPSIZE_END);
	gtk_label_set_ellipsize(GTK_LABEL(state), PANGO_ELLIPSIZE_END);
	gtk_widget_set_halign(line, GTK_ALIGN_CENTER);
	gtk_widget_set_valign(box, GTK_ALIGN_CENTER);
	gtk_box_append(GTK_BOX(line), title);
	gtk_box_append(GTK_BOX(line), badge);
	gtk_box_append(GTK_BOX(box), line);
	gtk_box_append(GTK_BOX(box), state);
	win->title = GTK_LABEL(title);
	win->badge = GTK_LABEL(badge);
	win->state = GTK_LABEL(state);
	return box;
}

GtkWidget *
win_header(struct win *win)
{
	GtkWidget *header = gtk_header_bar_new();
	GtkWidget *search = gtk_toggle_button_new();
	GtkWidget *menu = gtk_menu_button_new();
	GMenuModel *model = make_menu();

	gtk_button_set_icon_name(GTK_BUTTON(search), "edit-find-symbolic");
	gtk_widget_set_tooltip_text(search, "Search (/)");
	win_set_name(search, "Search");
	g_object_bind_property(search, "active", win->search_bar,
	    "search-mode-enabled",
	    G_BINDING_BIDIRECTIONAL | G_BINDING_SYNC_CREATE);
	gtk_menu_button_set_icon_name(
	    GTK_MENU_BUTTON(menu), "open-menu-symbolic");
	gtk_menu_button_set_menu_model(GTK_MENU_BUTTON(menu), model);
	gtk_widget_set_tooltip_text(menu, "Menu");
	win_set_name(menu, "Menu");
	g_object_unref(model);
	gtk_header_bar_pack_start(GTK_HEADER_BAR(header), search);
	gtk_header_bar_pack_end(GTK_HEADER_BAR(header), menu);
	gtk_header_bar_set_title_widget(
	    GTK_HEADER_BAR(header), make_title(win));
	return header;
}

/* --- filters -------------------------------------------------------------- */

static gboolean
on_search_time(gpointer data)
{
	struct win *win = data;

	win->search_timer = 0;
	filter_search(
	    &win->filter, span_of(gtk_editable_get_text(win->search)));
	win_refilter(win);
	return G_SOURCE_REMOVE;
}

static void
on_search(GtkEditable *entry, gpointer data)
{
	struct win *win = data;

	(void)entry;
	if (win->search_timer != 0)
		g_source_remove(win->search_timer);
	win->search_timer = g_timeout_add(SEARCH_WAIT_MS, on_search_time, win);
}

static void
on_search_stop(GtkSearchEntry *entry, gpointer data)
{
	struct win *win = data;

	(void)entry;
	gtk_search_bar_set_search_mode(win->search_bar, FALSE);
	gtk_widget_grab_focus(GTK_WIDGET(win->list));
}

static void
on_source(GObject *object, GParamSpec *property, gpointer data)
{
	struct win *win = data;
	guint chosen = gtk_drop_down_get_selected(win->sources);
	const char *name = chosen == 0 || chosen == GTK_INVALID_LIST_POSITION
	    ? ""
	    : gtk_string_list_get_string(win->source_names, chosen);

	(void)object;
	(void)property;
	g_strlcpy(win->filter.source, name, sizeof(win->filter.source));
	win_refilter(win);
}

void
win_add_source(struct win *win, struct span source)
{
	GListModel *names = G_LIST_MODEL(win->source_names);
	guint count = g_list_model_get_n_items(names);
	char name[FILTER_SOURCE_MAX];

	if (source.len == 0 || count > WIN_SOURCES_MAX ||
	    !span_copy(name, sizeof(name), source))
		return;
	for (guint i = 1; i < count; i++)
		if (g_strcmp0(gtk_string_list_get_string(win->source_names, i),
			name) == 0)
			return;
	gtk_string_list_append(win->source_names, name);
}

static GtkWidget *
make_toggle(const char *label, const char *target, GtkToggleButton **group)
{
	GtkWidget *toggle = gtk_toggle_button_new_with_label(label);

	gtk_actionable_set_action_name(GTK_ACTIONABLE(toggle), "win.show");
	gtk_actionable_set_action_target(GTK_ACTIONABLE(toggle), "s", target);
	if (*group != NULL)
		gtk_toggle_button_set_group(GTK_TOGGLE_BUTTON(toggle), *group);
	else
		*group = GTK_TOGGLE_BUTTON(toggle);
	return toggle;
}

static void
make_search(struct win *win)
{
	GtkWidget *entry = gtk_search_entry_new();
	GtkWidget *bar = gtk_search_bar_new();

	win->search = GTK_EDITABLE(entry);
	win->search_bar = GTK_SEARCH_BAR(bar);
	gtk_widget_set_hexpand(entry, TRUE);
	win_set_name(entry, "Search messages");
	gtk_search_bar_set_child(win->search_bar, entry);
	gtk_search_bar_connect_entry(win->search_bar, win->search);
	g_signal_connect(entry, "changed", G_CALLBACK(on_search), win);
	g_signal_connect(entry, "stop-search", G_CALLBACK(on_search_stop), win);
}

GtkWidget *
win_filters(struct win *win)
{
	static const char *const all[] = {"All sources", NULL};
	GtkWidget *box = gtk_box_new(GTK_ORIENTATION_VERTICAL, 0);
	GtkWidget *line = gtk_box_new(GTK_ORIENTATION_HORIZONTAL, 8);
	GtkWidget *toggles = gtk_box_new(GTK_ORIENTATION_HORIZONTAL, 0);
	GtkToggleButton *group = NULL;
	GtkWidget *sources;

	make_search(win);
	gtk_widget_add_css_class(toggles, "linked");
	gtk_box_append(GTK_BOX(toggles), make_toggle("All", "all", &group));
	gtk_box_append(
	    GTK_BOX(toggles), make_toggle("Unread", "unread", &group));
	gtk_box_append(
	    GTK_BOX(toggles), make_toggle("Alerts", "alerts", &group));
	win->source_names = gtk_string_list_new(all);
	sources = gtk_drop_down_new(
	    G_LIST_MODEL(g_object_ref(win->source_names)), NULL);
	win->sources = GTK_DROP_DOWN(sources);
	gtk_widget_set_hexpand(sources, TRUE);
	win_set_name(sources, "Source");
	g_signal_connect(
	    sources, "notify::selected", G_CALLBACK(on_source), win);
	gtk_box_append(GTK_BOX(line), toggles);
	gtk_box_append(GTK_BOX(line), sources);
	gtk_widget_set_margin_start(line, 8);
	gtk_widget_set_margin_end(line, 8);
	gtk_widget_set_margin_top(line, 6);
	gtk_widget_set_margin_bottom(line, 6);
	gtk_box_append(GTK_BOX(box), GTK_WIDGET(win->search_bar));
	gtk_box_append(GTK_BOX(box), line);
	return box;
}

/* --- below the list ------------------------------------------------------- */

/* A label of its own: GTK would read out the mark of a mnemonic. */
void
win_set_label(GtkWidget *button, const char *label)
{
	GtkWidget *child = gtk_label_new_with_mnemonic(label);

	gtk_button_set_child(GTK_BUTTON(button), child);
	win_set_name(button, gtk_label_get_text(GTK_LABEL(child)));
}

static GtkWidget *
make_button(const char *label, const char *action, const char *key)
{
	GtkWidget *button = gtk_button_new();

	win_set_label(button, label);
	gtk_actionable_set_action_name(GTK_ACTIONABLE(button), action);
	gtk_widget_set_tooltip_text(button, key);
	return button;
}

static void
make_notice(struct win *win)
{
	GtkWidget *bar = gtk_revealer_new();
	GtkWidget *line = gtk_box_new(GTK_ORIENTATION_HORIZONTAL, 8);
	GtkWidget *label = gtk_label_new("");

	gtk_label_set_wrap(GTK_LABEL(label), TRUE);
	gtk_label_set_xalign(GTK_LABEL(label), 0);
	gtk_widget_set_hexpand(label, TRUE);
	gtk_widget_add_css_class(line, "notice");
	win->undo = make_button("_Undo", "win.undo", "Key: U");
	gtk_box_append(GTK_BOX(line), label);
	gtk_box_append(GTK_BOX(line), win->undo);
	gtk_revealer_set_child(GTK_REVEALER(bar), line);
	win->notice = GTK_LABEL(label);
	win->notice_bar = GTK_REVEALER(bar);
}

static void
on_written(GtkEntry *entry, gpointer data)
{
	struct win *win = data;
	char *text = g_strdup(gtk_editable_get_text(GTK_EDITABLE(entry)));

	gtk_editable_set_text(GTK_EDITABLE(entry), "");
	app_write(&win->app, span_of(text));
	g_free(text);
}

/* A line of the person's own, for the conversation. */
static GtkWidget *
make_line(struct win *win)
{
	GtkWidget *entry = gtk_entry_new();

	gtk_entry_set_placeholder_text(GTK_ENTRY(entry), "Write a line (W)");
	gtk_entry_set_max_length(GTK_ENTRY(entry), LINE_MAX_CHARS);
	win_set_name(entry, "Write a line");
	gtk_widget_set_margin_start(entry, 8);
	gtk_widget_set_margin_end(entry, 8);
	gtk_widget_set_margin_top(entry, 6);
	gtk_widget_set_margin_bottom(entry, 6);
	g_signal_connect(entry, "activate", G_CALLBACK(on_written), win);
	win->line = entry;
	return entry;
}

GtkWidget *
win_footer(struct win *win)
{
	GtkWidget *box = gtk_box_new(GTK_ORIENTATION_VERTICAL, 0);
	GtkWidget *bar = gtk_action_bar_new();

	make_notice(win);
	win->acknowledge =
	    make_button("_Acknowledge", "win.acknowledge", "Key: A");
	win->open = make_button("_Open link", "win.open", "Key: O");
	win->mute = make_button("_Mute", "win.mute", "Key: M");
	gtk_action_bar_pack_start(GTK_ACTION_BAR(bar), win->acknowledge);
	gtk_action_bar_pack_start(GTK_ACTION_BAR(bar), win->open);
	gtk_action_bar_pack_end(GTK_ACTION_BAR(bar), win->mute);
	gtk_box_append(GTK_BOX(box), GTK_WIDGET(win->notice_bar));
	gtk_box_append(GTK_BOX(box), make_line(win));
	gtk_box_append(GTK_BOX(box), bar);
	return box;
}
