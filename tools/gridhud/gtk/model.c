#include "tools/gridhud/gtk/model.h"

#include <assert.h>

struct _ModelItem {
	GObject parent;
	uint64_t number;
};

G_DEFINE_TYPE(ModelItem, model_item, G_TYPE_OBJECT)

static void
model_item_class_init(ModelItemClass *class)
{
	(void)class;
}

static void
model_item_init(ModelItem *item)
{
	item->number = 0;
}

uint64_t
model_item_number(ModelItem *item)
{
	assert(item != NULL);
	return item->number;
}

/* --- the list ------------------------------------------------------------- */

struct _Model {
	GObject parent;
	const struct history *history;
	const struct filter *filter;
	uint64_t first, end; /* of the history, as the lists know it */
	GArray *fits; /* numbers, ascending; NULL without a filter */
};

static guint
count_of(const Model *model)
{
	return model->fits != NULL ? model->fits->len
				   : (guint)(model->end - model->first);
}

static GType
item_type(GListModel *list)
{
	(void)list;
	return MODEL_ITEM_TYPE;
}

static guint
item_count(GListModel *list)
{
	return count_of(HUD_MODEL(list));
}

static gpointer
item_at(GListModel *list, guint position)
{
	Model *model = HUD_MODEL(list);
	guint count = count_of(model);
	ModelItem *item;

	if (position >= count)
		return NULL;
	item = g_object_new(MODEL_ITEM_TYPE, NULL);
	item->number = model->fits != NULL
	    ? g_array_index(model->fits, uint64_t, count - 1 - position)
	    : model->end - 1 - position;
	return item;
}

static void
model_list_init(GListModelInterface *interface)
{
	interface->get_item_type = item_type;
	interface->get_n_items = item_count;
	interface->get_item = item_at;
}

G_DEFINE_TYPE_WITH_CODE(Model, model, G_TYPE_OBJECT,
    G_IMPLEMENT_INTERFACE(G_TYPE_LIST_MODEL, model_list_init))

static void
model_finalize(GObject *object)
{
	Model *model = HUD_MODEL(object);

	if (model->fits != NULL)
		g_array_unref(model->fits);
	G_OBJECT_CLASS(model_parent_class)->finalize(object);
}

static void
model_class_init(ModelClass *class)
{
	G_OBJECT_CLASS(class)->finalize = model_finalize;
}

static void
model_init(Model *model)
{
	model->fits = NULL;
}

/* --- filtering ------------------------------------------------------------ */

static guint
add_fitting(Model *model, uint64_t from)
{
	guint before = model->fits->len;

	for (uint64_t number = from; number < model->end; number++) {
		const struct message *message =
		    history_at(model->history, number);

		if (message != NULL && filter_takes(model->filter, message))
			g_array_append_val(model->fits, number);
	}
	return model->fits->len - before;
}

static void
fill(Model *model)
{
	if (model->fits != NULL)
		g_array_unref(model->fits);
	model->fits = NULL;
	model->first = history_first(model->history);
	model->end = history_end(model->history);
	if (filter_is_open(model->filter))
		return;
	model->fits = g_array_new(FALSE, FALSE, sizeof(uint64_t));
	add_fitting(model, model->first);
}

void
model_refilter(Model *model)
{
	guint before = count_of(model);

	fill(model);
	g_list_model_items_changed(
	    G_LIST_MODEL(model), 0, before, count_of(model));
}

/* --- what comes and goes -------------------------------------------------- */

static void
take_new(Model *model, uint64_t end)
{
	uint64_t from = model->end;
	guint added = (guint)(end - from);

	model->end = end;
	if (model->fits != NULL)
		added = add_fitting(model, from);
	if (added > 0)
		g_list_model_items_changed(G_LIST_MODEL(model), 0, 0, added);
}

static void
drop_old(Model *model, uint64_t first)
{
	guint before = count_of(model), gone = 0;

	if (model->fits != NULL) {
		while (gone < model->fits->len &&
		    g_array_index(model->fits, uint64_t, gone) < first)
			gone++;
		if (gone > 0)
			g_array_remove_range(model->fits, 0, gone);
	} else
		gone = (guint)(first - model->first);
	model->first = first;
	if (gone > 0)
		g_list_model_items_changed(
		    G_LIST_MODEL(model), before - gone, gone, 0);
}

gboolean
model_catch_up(Model *model)
{
	uint64_t first = history_first(model->history);
	uint64_t end = history_end(model->history);

	assert(end >= model->end && first >= model->first);
	if (end == model->end && first == model->first)
		return FALSE;
	/* All that was there has gone: the history was read anew. */
	if (first > model->end) {
		model_refilter(model);
		return TRUE;
	}
	if (end > model->end)
		take_new(model, end);
	if (first > model->first)
		drop_old(model, first);
	return TRUE;
}

Model *
model_new(const struct history *history, const struct filter *filter)
{
	Model *model = g_object_new(MODEL_TYPE, NULL);

	assert(history != NULL && filter != NULL);
	model->history = history;
	model->filter = filter;
	fill(model);
	return model;
}
