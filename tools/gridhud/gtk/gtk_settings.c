/*
 * The window that changes settings: what is changed goes into the settings
 * file, from where this window and gridhud read it again.
 */
#include <assert.h>
#include <stdio.h>

#include "tools/gridhud/gtk/gtk_priv.h"

#define VALUE_MAX 8192

enum input { SWITCH, TEXT, CHOICE };

static const char *const themes[] = {"auto", "day", "night", NULL};
static const char *const languages[] = {"en", "fr", NULL};
static const char *const engines[] = {
    "auto", "espeak", "dispatcher", "none", NULL};

static const struct setting {
	const char *section, *name, *label;
	enum input kind;
	const char *const *choices;
} settings[] = {
    {"window", "theme", "Theme", CHOICE, themes},
    {"window", "night_hours", "Night hours", TEXT, NULL},
    {"window", "notify", "Desktop notifications", SWITCH, NULL},
    {"window", "title", "Unread count in the title", SWITCH, NULL},
    {"quiet", "hours", "Quiet hours", TEXT, NULL},
    {"quiet", "strict", "Only failed jobs in quiet hours", SWITCH, NULL},
    {"policy", "priority_words", "Priority words", TEXT, NULL},
    {"policy", "mute_sources", "Muted sources", TEXT, NULL},
    {"policy", "speak_job_failures", "Read failed jobs aloud", SWITCH, NULL},
    {"policy", "bell", "Bell for what is urgent", SWITCH, NULL},
    {"speech", "enabled", "Read messages aloud", SWITCH, NULL},
    {"speech", "language", "Language of speech", CHOICE, languages},
    {"speech", "rate", "Words a minute", TEXT, NULL},
    {"speech", "sentences", "Sentences of a message", TEXT, NULL},
    {"speech", "max_chars", "Characters of a message", TEXT, NULL},
    {"speech", "engine", "What speaks", CHOICE, engines},
    {"speech", "voice", "Voice", TEXT, NULL},
    {"speech", "player", "Sound player", TEXT, NULL},
    {"window", "opener", "Opens links", TEXT, NULL},
    {"history", "keep_messages", "Messages kept", TEXT, NULL},
};

#define SETTINGS G_N_ELEMENTS(settings)

struct editor {
	struct win *win;
	GtkWindow *window;
	GtkLabel *fault;
	GtkWidget *inputs[SETTINGS];
};

/* --- values --------------------------------------------------------------- */

static void
value_of(const struct win *win, const struct setting *setting, char *text)
{
	struct buf buf;

	buf_init(&buf, VALUE_MAX);
	settings_value(&win->app.settings, span_of(setting->section),
	    span_of(setting->name), &buf);
	if (!span_copy(text, VALUE_MAX, buf_span(&buf)))
		text[0] = '\0';
	buf_fini(&buf);
}

static GtkWidget *
make_input(const struct win *win, const struct setting *setting)
{
	char value[VALUE_MAX];
	GtkWidget *input;
	guint choice = 0;

	value_of(win, setting, value);
	if (setting->kind == SWITCH) {
		input = gtk_switch_new();
		gtk_switch_set_active(
		    GTK_SWITCH(input), strcmp(value, "yes") == 0);
		gtk_widget_set_halign(input, GTK_ALIGN_START);
	} else if (setting->kind == CHOICE) {
		while (setting->choices[choice + 1] != NULL &&
		    strcmp(setting->choices[choice], value) != 0)
			choice++;
		input = gtk_drop_down_new_from_strings(setting->choices);
		gtk_drop_down_set_selected(GTK_DROP_DOWN(input), choice);
	} else {
		input = gtk_entry_new();
		gtk_editable_set_text(GTK_EDITABLE(input), value);
	}
	gtk_widget_set_hexpand(input, setting->kind != SWITCH);
	win_set_name(input, setting->label);
	return input;
}

static const char *
input_value(const struct setting *setting, GtkWidget *input)
{
	if (setting->kind == SWITCH)
		return gtk_switch_get_active(GTK_SWITCH(input)) ? "yes" : "no";
	if (setting->kind == CHOICE)
		return setting
		    ->choices[gtk_drop_down_get_selected(GTK_DROP_DOWN(input))];
	return gtk_editable_get_text(GTK_EDITABLE(input));
}

/* --- saving --------------------------------------------------------------- */

static bool
save(struct editor *editor, size_t i)
{
	const struct setting *setting = &settings[i];
	const char *value = input_value(setting, editor->inputs[i]);
	struct fault fault = {.place = ""};
	char before[VALUE_MAX], text[700];

	value_of(editor->win, setting, before);
	if (strcmp(before, value) == 0)
		return true;
	if (settings_change(editor->win->app.config, span_of(setting->section),
		span_of(setting->name), span_of(value), &fault) == ERR_OK)
		return true;
	snprintf(text, sizeof(text), "%s: %s", setting->label, fault.message);
	gtk_label_set_text(editor->fault, text);
	gtk_widget_set_visible(GTK_WIDGET(editor->fault), TRUE);
	gtk_widget_grab_focus(editor->inputs[i]);
	return false;
}

static void
on_save(GtkButton *button, gpointer data)
{
	struct editor *editor = data;
	bool saved = true;

	(void)button;
	for (size_t i = 0; i < SETTINGS && saved; i++)
		saved = save(editor, i);
	editor->win->app.config_look_ms = 0; /* read them now */
	if (saved)
		gtk_window_destroy(editor->window);
}

static void
on_cancel(GtkButton *button, gpointer data)
{
	(void)button;
	gtk_window_destroy(((struct editor *)data)->window);
}

/* --- the window ----------------------------------------------------------- */

static GtkWidget *
make_grid(struct editor *editor)
{
	GtkWidget *grid = gtk_grid_new();

	gtk_grid_set_column_spacing(GTK_GRID(grid), 12);
	gtk_grid_set_row_spacing(GTK_GRID(grid), 8);
	for (size_t i = 0; i < SETTINGS; i++) {
		GtkWidget *label = gtk_label_new(settings[i].label);

		gtk_label_set_xalign(GTK_LABEL(label), 0);
		editor->inputs[i] = make_input(editor->win, &settings[i]);
		gtk_grid_attach(GTK_GRID(grid), label, 0, (int)i, 1, 1);
		gtk_grid_attach(
		    GTK_GRID(grid), editor->inputs[i], 1, (int)i, 1, 1);
	}
	return grid;
}

static GtkWidget *
make_buttons(struct editor *editor)
{
	GtkWidget *box = gtk_box_new(GTK_ORIENTATION_HORIZONTAL, 8);
	GtkWidget *cancel = gtk_button_new(), *save_button = gtk_button_new();

	win_set_label(cancel, "_Cancel");
	win_set_label(save_button, "_Save");
	gtk_widget_set_halign(box, GTK_ALIGN_END);
	gtk_widget_add_css_class(save_button, "suggested-action");
	g_signal_connect(cancel, "clicked", G_CALLBACK(on_cancel), editor);
	g_signal_connect(save_button, "clicked", G_CALLBACK(on_save), editor);
	gtk_box_append(GTK_BOX(box), cancel);
	gtk_box_append(GTK_BOX(box), save_button);
	return box;
}

void
win_open_settings(struct win *win)
{
	struct editor *editor = g_new0(struct editor, 1);
	GtkWidget *box = gtk_box_new(GTK_ORIENTATION_VERTICAL, 12);
	GtkWidget *scroller = gtk_scrolled_window_new();
	GtkWidget *fault = gtk_label_new("");

	assert(win->window != NULL);
	editor->win = win;
	editor->window = GTK_WINDOW(gtk_window_new());
	editor->fault = GTK_LABEL(fault);
	gtk_label_set_wrap(editor->fault, TRUE);
	gtk_label_set_xalign(editor->fault, 0);
	gtk_widget_add_css_class(fault, "bad");
	gtk_widget_set_visible(fault, FALSE);
	gtk_scrolled_window_set_policy(GTK_SCROLLED_WINDOW(scroller),
	    GTK_POLICY_NEVER, GTK_POLICY_AUTOMATIC);
	gtk_scrolled_window_set_propagate_natural_height(
	    GTK_SCROLLED_WINDOW(scroller), TRUE);
	gtk_scrolled_window_set_child(
	    GTK_SCROLLED_WINDOW(scroller), make_grid(editor));
	gtk_widget_set_vexpand(scroller, TRUE);
	gtk_widget_set_margin_start(box, 18);
	gtk_widget_set_margin_end(box, 18);
	gtk_widget_set_margin_top(box, 18);
	gtk_widget_set_margin_bottom(box, 18);
	gtk_box_append(GTK_BOX(box), scroller);
	gtk_box_append(GTK_BOX(box), fault);
	gtk_box_append(GTK_BOX(box), make_buttons(editor));
	gtk_window_set_title(editor->window, "Settings");
	gtk_window_set_transient_for(editor->window, win->window);
	gtk_window_set_modal(editor->window, TRUE);
	gtk_window_set_child(editor->window, box);
	g_object_set_data_full(
	    G_OBJECT(editor->window), "editor", editor, g_free);
	gtk_window_present(editor->window);
}
