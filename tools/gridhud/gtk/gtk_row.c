/*
 * A message of the list: time, source and badges in a line, then its title and
 * its text, shortened until it is opened.
 */
#include <assert.h>
#include <stdio.h>

#include "tools/gridhud/gtk/gtk_priv.h"
#include "tools/gridhud/gtk/markup.h"

#define LINES 4 /* of a text that is not opened */
#define BYTES 1200
#define MARKUP_MAX ((size_t)1 << 20)

struct row {
	struct win *win;
	uint64_t number;
	GtkWidget *box;
	GtkLabel *dot, *source, *badges, *time, *title, *text;
};

/* --- parts ---------------------------------------------------------------- */

static const struct {
	const char *text, *class;
} statuses[] = {
    [STATUS_NONE] = {"", ""},
    [STATUS_OK] = {"\xE2\x9C\x93 ok", "good"},
    [STATUS_ERROR] = {"\xE2\x9C\x97 failed", "bad"},
    [STATUS_WARNING] = {"! warning", "warn"},
    [STATUS_FIRING] = {"! firing", "bad"},
    [STATUS_RESOLVED] = {"\xE2\x9C\x93 resolved", "good"},
    [STATUS_SKIPPED] = {"skipped", ""},
    [STATUS_CANCELLED] = {"cancelled", ""},
};

static void
add_word(struct buf *buf, const char *word)
{
	if (word[0] != '\0')
		buf_addf(buf, "%s%s", buf->len > 0 ? "  " : "", word);
}

static void
add_badges(
    struct buf *buf, const struct win *win, const struct message *message)
{
	add_word(buf, statuses[message->status].text);
	if (message->priority == PRIORITY_CRITICAL ||
	    (message->priority == PRIORITY_HIGH && !message->alert))
		add_word(buf, message_priority_name(message));
	if (message->alert)
		add_word(buf, "\xE2\x97\x86 not acknowledged");
	if (message->settled)
		add_word(buf, "settled");
	if (message->duplicate)
		add_word(buf, "again");
	if (message->replayed)
		add_word(buf, "while away");
	if (message->role == ROLE_EVENT &&
	    app_is_muted(&win->app, message->source))
		add_word(buf, "muted");
}

static void
set_text(GtkLabel *label, struct span text)
{
	char *copy = g_strndup(text.ptr != NULL ? text.ptr : "", text.len);

	gtk_label_set_text(label, copy);
	gtk_widget_set_visible(GTK_WIDGET(label), text.len > 0);
	g_free(copy);
}

static void
set_markup(GtkLabel *label, struct buf *buf)
{
	bool some = buf->len > 0;

	buf_add_char(buf, '\0');
	if (buf_end(buf) == ERR_OK && some)
		gtk_label_set_markup(label, buf->data);
	gtk_widget_set_visible(
	    GTK_WIDGET(label), some && buf_end(buf) == ERR_OK);
}

static void
set_class(GtkWidget *widget, const char *class, bool on)
{
	if (on)
		gtk_widget_add_css_class(widget, class);
	else
		gtk_widget_remove_css_class(widget, class);
}

/* Short, since the badges stand beside it. */
static void
time_text(char text[2 * CLOCK_TEXT_MAX], const struct win *win, int64_t ms)
{
	GDateTime *when = g_date_time_new_from_unix_local(ms / 1000);
	char time[CLOCK_TEXT_MAX];
	char *day = NULL;

	clock_time_text(time, ms);
	if (when != NULL && !clock_same_day(ms, clock_now_ms(&win->app.clock)))
		day = g_date_time_format(when, "%e %b, ");
	snprintf(text, (size_t)2 * CLOCK_TEXT_MAX, "%s%s",
	    day != NULL ? day : "", time);
	g_free(day);
	if (when != NULL)
		g_date_time_unref(when);
}

/* --- a message in its row ------------------------------------------------- */

static void
show_head(struct row *row, const struct message *message)
{
	char time[2 * CLOCK_TEXT_MAX];
	struct buf badges;

	set_text(row->source, message->source);
	time_text(time, row->win, message->time_ms);
	gtk_label_set_text(row->time, time);
	buf_init(&badges, 4096);
	add_badges(&badges, row->win, message);
	set_text(row->badges, buf_span(&badges));
	for (size_t i = 0; i < G_N_ELEMENTS(statuses); i++)
		if (statuses[i].class[0] != '\0')
			set_class(
			    GTK_WIDGET(row->badges), statuses[i].class, false);
	if (message->alert)
		gtk_widget_add_css_class(GTK_WIDGET(row->badges), "bad");
	else if (statuses[message->status].class[0] != '\0')
		gtk_widget_add_css_class(
		    GTK_WIDGET(row->badges), statuses[message->status].class);
	buf_fini(&badges);
	gtk_label_set_text(row->dot, message->unread ? "\xE2\x97\x8F" : "");
	set_class(row->box, "unread", message->unread);
	set_class(row->box, "alert", message->alert);
}

static void
show_body(struct row *row, const struct message *message)
{
	bool whole = row->win->expanded == row->number + 1;
	struct markup_options options = {.words = row->win->app.words,
	    .search = buf_span(&row->win->filter.search),
	    .bytes_max = whole ? 0 : BYTES};
	struct buf buf;

	buf_init(&buf, MARKUP_MAX);
	if (!span_eq(message->title, message->source))
		markup_line(&buf, message->title, &options);
	set_markup(row->title, &buf);
	buf_clear(&buf);
	markup_body(&buf, message, &options);
	if (message->url.len > 0) {
		buf_addf(&buf, "%s<a href=\"", buf.len > 0 ? "\n" : "");
		markup_escape(&buf, message->url);
		buf_add_text(&buf, "\">");
		markup_escape(&buf, message->url);
		buf_add_text(&buf, "</a>");
	}
	gtk_label_set_lines(row->text, whole ? -1 : LINES);
	gtk_label_set_ellipsize(
	    row->text, whole ? PANGO_ELLIPSIZE_NONE : PANGO_ELLIPSIZE_END);
	gtk_label_set_selectable(row->text, whole);
	set_markup(row->text, &buf);
	buf_fini(&buf);
}

/* As a screen reader tells it. */
static void
show_name(struct row *row, const struct message *message)
{
	GtkWidget *item = gtk_widget_get_parent(row->box);
	char time[2 * CLOCK_TEXT_MAX];
	struct buf name;

	buf_init(&name, 65536);
	time_text(time, row->win, message->time_ms);
	buf_addf(&name, "%.*s, ", SPAN_ARG(message->source));
	if (message->status != STATUS_NONE)
		buf_addf(&name, "%s, ", message_status_name(message));
	if (message->alert)
		buf_add_text(&name, "not acknowledged, ");
	if (message->unread)
		buf_add_text(&name, "unread, ");
	buf_addf(&name, "%s: %.*s. %.*s", time, SPAN_ARG(message->title),
	    SPAN_ARG(span_sub(message->text, 0, BYTES)));
	buf_add_char(&name, '\0');
	if (buf_end(&name) == ERR_OK && g_utf8_validate(name.data, -1, NULL))
		win_set_name(item != NULL ? item : row->box, name.data);
	buf_fini(&name);
}

static void
refresh(struct row *row)
{
	const struct message *message =
	    history_at(row->win->app.history, row->number);

	if (message == NULL) /* too old by now */
		return;
	show_head(row, message);
	show_body(row, message);
	show_name(row, message);
}

void
win_rows_refresh(struct win *win)
{
	for (guint i = 0; i < win->rows->len; i++)
		refresh(win->rows->pdata[i]);
}

/* --- the factory ---------------------------------------------------------- */

static gboolean
on_link(GtkLabel *label, const char *url, gpointer data)
{
	struct row *row = data;

	(void)label;
	app_open_link(&row->win->app, span_of(url));
	return TRUE;
}

static GtkLabel *
add_label(GtkWidget *box, const char *class, bool wraps)
{
	GtkWidget *widget = gtk_label_new("");
	GtkLabel *label = GTK_LABEL(widget);

	gtk_widget_add_css_class(widget, class);
	gtk_label_set_xalign(label, 0);
	if (wraps) {
		gtk_label_set_wrap(label, TRUE);
		gtk_label_set_wrap_mode(label, PANGO_WRAP_WORD_CHAR);
	} else
		gtk_label_set_ellipsize(label, PANGO_ELLIPSIZE_END);
	gtk_box_append(GTK_BOX(box), widget);
	return label;
}

static void
on_setup(GtkListItemFactory *factory, GtkListItem *item, gpointer data)
{
	struct row *row = g_new0(struct row, 1);
	GtkWidget *head = gtk_box_new(GTK_ORIENTATION_HORIZONTAL, 8);

	(void)factory;
	row->win = data;
	row->box = gtk_box_new(GTK_ORIENTATION_VERTICAL, 2);
	gtk_widget_add_css_class(row->box, "message");
	gtk_box_append(GTK_BOX(row->box), head);
	row->source = add_label(head, "source", false);
	row->badges = add_label(head, "badges", false);
	row->time = add_label(head, "time", false);
	row->dot = add_label(head, "dot", false);
	gtk_label_set_ellipsize(row->dot, PANGO_ELLIPSIZE_NONE);
	gtk_label_set_width_chars(row->dot, 1);
	gtk_label_set_ellipsize(row->time, PANGO_ELLIPSIZE_NONE);
	gtk_label_set_xalign(row->time, 1);
	gtk_widget_set_hexpand(GTK_WIDGET(row->time), TRUE);
	row->title = add_label(row->box, "title", true);
	row->text = add_label(row->box, "text", true);
	g_signal_connect(row->text, "activate-link", G_CALLBACK(on_link), row);
	g_object_set_data_full(G_OBJECT(item), "row", row, g_free);
	gtk_list_item_set_child(item, row->box);
}

static void
on_bind(GtkListItemFactory *factory, GtkListItem *item, gpointer data)
{
	struct row *row = g_object_get_data(G_OBJECT(item), "row");
	struct win *win = data;

	(void)factory;
	assert(row != NULL);
	row->number =
	    model_item_number(HUD_MODEL_ITEM(gtk_list_item_get_item(item)));
	g_ptr_array_add(win->rows, row);
	refresh(row);
}

static void
on_unbind(GtkListItemFactory *factory, GtkListItem *item, gpointer data)
{
	struct win *win = data;

	(void)factory;
	g_ptr_array_remove_fast(
	    win->rows, g_object_get_data(G_OBJECT(item), "row"));
}

GtkListItemFactory *
win_row_factory(struct win *win)
{
	GtkListItemFactory *factory = gtk_signal_list_item_factory_new();

	g_signal_connect(factory, "setup", G_CALLBACK(on_setup), win);
	g_signal_connect(factory, "bind", G_CALLBACK(on_bind), win);
	g_signal_connect(factory, "unbind", G_CALLBACK(on_unbind), win);
	return factory;
}
