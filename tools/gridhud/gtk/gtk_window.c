#include <assert.h>
#include <stdio.h>
#include <stdlib.h>

#include "tools/gridhud/gtk/gtk_priv.h"

#define READ_WAIT_MS 2500 /* in sight for so long: read */
#define NOTICE_WAIT_MS 8000
#define TOP_PIXELS 8

/* --- what is shown of the application ------------------------------------- */

/* Keys go to what has the focus, which must not be on the other page. */
static void
show_page(struct win *win, bool empty)
{
	GtkWidget *list = GTK_WIDGET(win->list);
	GtkWidget *label = GTK_WIDGET(win->empty);
	GtkWidget *focus = gtk_window_get_focus(win->window);
	bool moves = focus == NULL || focus == list || focus == label ||
	    gtk_widget_is_ancestor(focus, list);

	win->is_empty = empty;
	gtk_stack_set_visible_child(win->pages,
	    empty ? label
		  : gtk_widget_get_ancestor(list, GTK_TYPE_SCROLLED_WINDOW));
	if (moves)
		gtk_widget_grab_focus(empty ? label : list);
}

void
win_focus_list(struct win *win)
{
	gtk_widget_grab_focus(
	    win->is_empty ? GTK_WIDGET(win->empty) : GTK_WIDGET(win->list));
}

static void
refresh_empty(struct win *win)
{
	bool none = g_list_model_get_n_items(G_LIST_MODEL(win->model)) == 0;
	const char *text = "Nothing yet. What is pushed to gridhook comes in "
			   "here.";

	if (!filter_is_open(&win->filter))
		text = "No message is like this.";
	else if (win->app.client.state == CLIENT_AWAY)
		text = "gridhook is not running.\nStart it: gridhook, or "
		       "systemctl --user start gridhook";
	gtk_label_set_text(win->empty, text);
	win_set_name(GTK_WIDGET(win->empty), text);
	if (none != win->is_empty)
		show_page(win, none);
}

static void
state_text(const struct win *win, char *text, size_t size)
{
	const struct app *app = &win->app;
	char link[200], time[CLOCK_TEXT_MAX], quiet[80] = "";

	app_link_text(app, link, sizeof(link));
	clock_time_text(time, history_quiet_until(app->history));
	if (app_is_undisturbed(app))
		snprintf(
		    quiet, sizeof(quiet), " \xC2\xB7 quiet until %s", time);
	else if (app_is_quiet(app))
		snprintf(quiet, sizeof(quiet), " \xC2\xB7 quiet hours");
	snprintf(text, size, "%s%s%s%s \xC2\xB7 %s",
	    hud_name(hud_shown(&app->hud)),
	    app->hud.label[0] != '\0' ? ": " : "", app->hud.label, quiet, link);
}

static void
refresh_title(struct win *win)
{
	unsigned unread = history_unread(win->app.history);
	const char *name = win->app.settings.app;
	char text[400];

	if (unread > 0 && win->app.settings.title_unread)
		snprintf(text, sizeof(text), "(%u) %s", unread, name);
	else
		snprintf(text, sizeof(text), "%s", name);
	gtk_window_set_title(win->window, text);
	gtk_label_set_text(win->title, name);
	snprintf(text, sizeof(text), "%u", unread);
	gtk_label_set_text(win->badge, text);
	gtk_widget_set_visible(GTK_WIDGET(win->badge), unread > 0);
	snprintf(text, sizeof(text), "%u unread", unread);
	win_set_name(GTK_WIDGET(win->badge), text);
	state_text(win, text, sizeof(text));
	gtk_label_set_text(win->state, text);
	if (hud_shown(&win->app.hud) == HUD_ALERT)
		gtk_widget_add_css_class(GTK_WIDGET(win->state), "bad");
	else
		gtk_widget_remove_css_class(GTK_WIDGET(win->state), "bad");
}

/* As a tool wants it; an alert brings the window back. */
static void
refresh_shown(struct win *win)
{
	bool shown = hud_shown(&win->app.hud) != HUD_HIDDEN;

	if (!shown && win->app.client.state == CLIENT_SUPERSEDED)
		win->app.quit = true; /* it could never be seen again */
	if (shown == win->is_shown)
		return;
	win->is_shown = shown;
	gtk_widget_set_visible(GTK_WIDGET(win->window), shown);
}

static void
refresh(struct win *win)
{
	win_theme_refresh(win);
	win_rows_refresh(win);
	win_actions_refresh(win);
	refresh_title(win);
	refresh_empty(win);
	refresh_shown(win);
	gtk_widget_set_visible(win->undo, win->app.undo_count > 0);
}

void
win_scroll_to_newest(struct win *win)
{
	if (g_list_model_get_n_items(G_LIST_MODEL(win->model)) > 0)
		gtk_widget_activate_action(
		    GTK_WIDGET(win->list), "list.scroll-to-item", "u", 0);
}

void
win_refilter(struct win *win)
{
	model_refilter(win->model);
	win_scroll_to_newest(win);
	win->dirty = true;
	refresh(win);
}

/* After each round of the application. */
static void
on_round(void *arg)
{
	struct win *win = arg;
	/* The newest stays the chosen one where it was that. */
	bool at_end = win->app.at_end;
	bool follows =
	    at_end && gtk_single_selection_get_selected(win->selection) == 0;

	if (win->app.quit) {
		g_main_loop_quit(win->loop);
		return;
	}
	if (model_catch_up(win->model)) {
		win->dirty = true;
		if (follows)
			gtk_single_selection_set_selected(win->selection, 0);
		if (at_end)
			win_scroll_to_newest(win);
	}
	if (!win->dirty && win->is_night == win->app.night)
		return;
	win->dirty = false;
	refresh(win);
}

/* --- the front ------------------------------------------------------------ */

static void
on_added(void *arg, uint64_t number, bool live)
{
	struct win *win = arg;

	(void)live;
	win_add_source(win, history_at(win->app.history, number)->source);
	win->dirty = true;
}

static gboolean
on_notice_time(gpointer data)
{
	struct win *win = data;

	gtk_revealer_set_reveal_child(win->notice_bar, FALSE);
	return G_SOURCE_REMOVE;
}

static void
on_notice(void *arg, const char *text)
{
	struct win *win = arg;

	if (win->window == NULL || !g_utf8_validate(text, -1, NULL))
		return;
	gtk_label_set_text(win->notice, text);
	gtk_revealer_set_reveal_child(win->notice_bar, TRUE);
	g_timeout_add(NOTICE_WAIT_MS, on_notice_time, win);
	win->dirty = true;
}

static void
on_bell(void *arg)
{
	(void)arg;
	gdk_display_beep(gdk_display_get_default());
}

static void
on_changed(void *arg)
{
	((struct win *)arg)->dirty = true;
}

static const struct front front = {.added = on_added,
    .notice = on_notice,
    .bell = on_bell,
    .changed = on_changed};

/* --- what is in sight ----------------------------------------------------- */

static gboolean
on_read_time(gpointer data)
{
	struct win *win = data;

	win->read_timer = 0;
	if (win->app.focus == FOCUS_IN && win->app.at_end)
		app_saw(&win->app);
	return G_SOURCE_REMOVE;
}

/* The newest message is in sight of a person: it will have been read. */
static void
look_at_sight(struct win *win)
{
	bool seen = win->app.focus == FOCUS_IN && win->app.at_end;

	if (win->read_timer != 0)
		g_source_remove(win->read_timer);
	win->read_timer =
	    seen ? g_timeout_add(READ_WAIT_MS, on_read_time, win) : 0;
}

static void
on_active(GtkWindow *window, GParamSpec *property, gpointer data)
{
	struct win *win = data;

	(void)property;
	win->app.focus = gtk_window_is_active(window) ? FOCUS_IN : FOCUS_OUT;
	win->dirty = true;
	look_at_sight(win);
}

static void
on_scroll(GtkAdjustment *adjustment, gpointer data)
{
	struct win *win = data;
	bool at_end = gtk_adjustment_get_value(adjustment) < TOP_PIXELS;

	if (at_end == win->app.at_end)
		return;
	win->app.at_end = at_end;
	look_at_sight(win);
}

/* --- the list ------------------------------------------------------------- */

static void
on_activate(GtkListView *list, guint position, gpointer data)
{
	struct win *win = data;
	uint64_t number;

	(void)list;
	(void)position;
	if (win_chosen(win, &number) == NULL)
		return;
	win->expanded = win->expanded == number + 1 ? 0 : number + 1;
	win_rows_refresh(win);
}

static void
on_selected(GObject *object, GParamSpec *property, gpointer data)
{
	(void)object;
	(void)property;
	win_actions_refresh(data);
}

static GtkWidget *
make_list(struct win *win)
{
	GtkWidget *scroller = gtk_scrolled_window_new();
	GtkWidget *list;

	win->model = model_new(win->app.history, &win->filter);
	win->selection =
	    gtk_single_selection_new(G_LIST_MODEL(g_object_ref(win->model)));
	list = gtk_list_view_new(
	    GTK_SELECTION_MODEL(win->selection), win_row_factory(win));
	win->list = GTK_LIST_VIEW(list);
	gtk_list_view_set_show_separators(win->list, TRUE);
	win_set_name(list, "Messages");
	gtk_scrolled_window_set_policy(GTK_SCROLLED_WINDOW(scroller),
	    GTK_POLICY_NEVER, GTK_POLICY_AUTOMATIC);
	gtk_scrolled_window_set_child(GTK_SCROLLED_WINDOW(scroller), list);
	win->scroll =
	    gtk_scrolled_window_get_vadjustment(GTK_SCROLLED_WINDOW(scroller));
	g_signal_connect(list, "activate", G_CALLBACK(on_activate), win);
	g_signal_connect(
	    win->selection, "notify::selected", G_CALLBACK(on_selected), win);
	g_signal_connect(
	    win->scroll, "value-changed", G_CALLBACK(on_scroll), win);
	return scroller;
}

static GtkWidget *
make_pages(struct win *win)
{
	GtkWidget *pages = gtk_stack_new();
	GtkWidget *empty = gtk_label_new("");

	win->pages = GTK_STACK(pages);
	win->empty = GTK_LABEL(empty);
	gtk_widget_add_css_class(empty, "empty");
	gtk_label_set_wrap(win->empty, TRUE);
	gtk_widget_set_focusable(empty, TRUE);
	gtk_label_set_justify(win->empty, GTK_JUSTIFY_CENTER);
	gtk_stack_add_named(win->pages, make_list(win), "list");
	gtk_stack_add_named(win->pages, empty, "empty");
	gtk_widget_set_vexpand(pages, TRUE);
	return pages;
}

/* --- the window ----------------------------------------------------------- */

static gboolean
on_close(GtkWindow *window, gpointer data)
{
	(void)window;
	((struct win *)data)->app.quit = true;
	g_main_loop_quit(((struct win *)data)->loop);
	return TRUE;
}

static void
gather_sources(struct win *win)
{
	const struct history *history = win->app.history;
	uint64_t number = history_end(history);
	unsigned looks = 2000; /* sources of late */

	while (number > history_first(history) && looks-- > 0)
		win_add_source(win, history_at(history, --number)->source);
}

static void
make_window(struct win *win)
{
	GtkWidget *box = gtk_box_new(GTK_ORIENTATION_VERTICAL, 0);
	GtkWidget *filters, *pages;

	win->window = GTK_WINDOW(gtk_window_new());
	gtk_window_set_default_size(win->window, 480, 720);
	gtk_window_set_icon_name(win->window, "gridhud");
	win_theme_init(win);
	filters = win_filters(win);
	pages = make_pages(win);
	gtk_box_append(GTK_BOX(box), filters);
	gtk_box_append(GTK_BOX(box), pages);
	gtk_box_append(GTK_BOX(box), win_footer(win));
	gtk_window_set_titlebar(win->window, win_header(win));
	gtk_window_set_child(win->window, box);
	win_add_actions(win);
	gather_sources(win);
	g_signal_connect(
	    win->window, "notify::is-active", G_CALLBACK(on_active), win);
	g_signal_connect(
	    win->window, "close-request", G_CALLBACK(on_close), win);
	win->is_shown = true;
	refresh(win);
	gtk_window_present(win->window);
	win_focus_list(win);
}

static enum err
run(struct win *win)
{
	enum err err;

	make_window(win);
	err = app_begin(&win->app);
	if (err != ERR_OK)
		return err;
	win->source = win_source_new(&win->app, on_round, win);
	on_round(win);
	if (!win->app.quit)
		g_main_loop_run(win->loop);
	g_source_destroy(win->source);
	g_source_unref(win->source);
	app_end(&win->app);
	gtk_window_destroy(win->window);
	return ERR_OK;
}

int
win_run(const char *config, const char *now)
{
	struct win *win = calloc(1, sizeof(*win));
	struct fault fault = {.place = ""};
	enum err err = ERR_NO_MEMORY;

	if (win == NULL)
		return EXIT_FAILURE;
	filter_init(&win->filter);
	win->rows = g_ptr_array_new();
	win->loop = g_main_loop_new(NULL, FALSE);
	err = app_open(&win->app, config, now, &front, win, &fault);
	if (err == ERR_OK) {
		err = run(win);
		if (err != ERR_OK)
			fault_set(
			    &fault, "window", "cannot run: %s", err_text(err));
	}
	if (err != ERR_OK)
		fprintf(stderr, "gridhud-gtk: %s: %s\n", fault.place,
		    fault.message);
	app_close(&win->app);
	/* Timers and answers of the bus may still know it: the end frees it. */
	return err == ERR_OK ? EXIT_SUCCESS : EXIT_FAILURE;
}
