/*
 * model: the history as a GListModel, newest first. Items are made when a list
 * asks for them, so that a long history costs no more than what is in sight;
 * with a filter the numbers of the messages that fit are kept beside it.
 */
#pragma once

#include <gio/gio.h>

#include "tools/gridhud/gtk/filter.h"
#include "tools/gridhud/history/history.h"

#define MODEL_TYPE (model_get_type())
G_DECLARE_FINAL_TYPE(Model, model, HUD, MODEL, GObject)

#define MODEL_ITEM_TYPE (model_item_get_type())
G_DECLARE_FINAL_TYPE(ModelItem, model_item, HUD, MODEL_ITEM, GObject)

/* Both must live as long as the model. */
Model *model_new(const struct history *history, const struct filter *filter);

/* Tells the lists what has come and gone since; true when something has. */
gboolean model_catch_up(Model *model);

/* The filter has changed. */
void model_refilter(Model *model);

uint64_t model_item_number(ModelItem *item);
