/*
 * gtk_priv: what the files of the graphical window share.
 *
 *	gtk_window.c    the window, what it shows of the application
 *	gtk_loop.c      the application's rounds in GLib's loop
 *	gtk_row.c       a message of the list
 *	gtk_actions.c   actions: of menus, buttons and keys
 *	gtk_bars.c      the bars above and below the list
 *	gtk_settings.c  the window that changes settings
 *	gtk_theme.c     day and night
 */
#pragma once

#include <gtk/gtk.h>

#include "tools/gridhud/app/app.h"
#include "tools/gridhud/gtk/filter.h"
#include "tools/gridhud/gtk/model.h"

#define WIN_SOURCES_MAX 200

struct win {
	struct app app;
	struct filter filter;
	Model *model;

	GMainLoop *loop;
	GSource *source;

	GtkWindow *window;
	GtkLabel *title, *state, *badge, *notice;
	GtkRevealer *notice_bar;
	GtkWidget *undo, *acknowledge, *open, *mute;
	GtkWidget *line; /* what the person writes */
	GtkSearchBar *search_bar;
	GtkEditable *search;
	GtkStack *pages; /* "list" and "empty" */
	GtkLabel *empty;
	GtkListView *list;
	GtkSingleSelection *selection;
	GtkAdjustment *scroll;
	GtkDropDown *sources;
	GtkStringList *source_names;
	GActionMap *actions;
	GPtrArray *rows; /* those that are bound to a message */
	GtkCssProvider *css;

	uint64_t expanded; /* number + 1 of the message that is shown whole */
	guint read_timer, search_timer;
	bool dirty, is_night, is_shown, is_empty;
	bool mute_ends; /* as the button says */
};

/* --- gtk_loop.c --- */

/* `round` is called after each round of the application. */
GSource *win_source_new(
    struct app *app, void (*round)(void *arg), void *round_arg);

/* --- gtk_row.c --- */

GtkListItemFactory *win_row_factory(struct win *win);

/* All rows that are there, as their messages stand now. */
void win_rows_refresh(struct win *win);

/* --- gtk_bars.c --- */

GtkWidget *win_header(struct win *win);
GtkWidget *win_filters(struct win *win);
GtkWidget *win_footer(struct win *win);

/* The source of a message joins those that can be chosen. */
void win_add_source(struct win *win, struct span source);

/* --- gtk_actions.c --- */

void win_add_actions(struct win *win);

/* The actions' states, as the application stands now. */
void win_actions_refresh(struct win *win);

/* The selected message; NULL for none. */
const struct message *win_chosen(const struct win *win, uint64_t *number);

/* --- gtk_settings.c --- */

void win_open_settings(struct win *win);

/* --- gtk_theme.c --- */

void win_theme_init(struct win *win);

/* Day or night, as the application says. */
void win_theme_refresh(struct win *win);

/* --- gtk_window.c --- */

/* The filter has changed. */
void win_refilter(struct win *win);

/* Keys go to the messages. */
void win_focus_list(struct win *win);

/* The newest message in sight. */
void win_scroll_to_newest(struct win *win);

/* The window's exit code. */
int win_run(const char *config, const char *now);

/* A label that a screen reader reads in place of a widget's text. */
void win_set_name(GtkWidget *widget, const char *name);

/* A button's text, with _ before its letter. */
void win_set_label(GtkWidget *button, const char *label);
