/* gridctl suppliers: lists the suppliers and the state of their snapshots. */
#include <stdio.h>
#include <stdlib.h>

#include "common/date.h"
#include "common/jsonw.h"
#include "common/opt.h"
#include "lmdb-schema/compute/compute.h"
#include "lmdb-schema/facts/source.h"
#include "lmdb-schema/key.h"
#include "lmdb-schema/snapshot/catalog.h"
#include "lmdb-schema/snapshot/catalog_format.h"
#include "lmdb-schema/store/store.h"
#include "tools/gridctl/cmd.h"

struct options {
	bool json;
};

static const struct opt_row rows[] = {
    {"--json", 0, OPT_FLAG, offsetof(struct options, json), 0, 0, NULL,
	"as a JSON array"},
};

static const struct opt_spec spec = {
    .usage = "gridctl [--data DIR] suppliers [--json]",
    .about = "Lists the suppliers: articles, rows and age of the "
	     "snapshot, and whether it is stale.",
    .rows = rows,
    .count = 1,
};

struct listing {
	struct store *store;
	struct catalog_view *catalog;
	struct cmd_list list;
};

static const char *
state_of(struct listing *listing, const struct source_supplier *supplier,
    struct catalog_entry *entry)
{
	bool stale;

	if (catalog_get(listing->catalog, supplier->code, entry) != ERR_OK) {
		memset(entry, 0, sizeof(*entry));
		return supplier->articles == 0 ? "empty" : "absent";
	}
	if (compute_is_stale(&stale, listing->store, supplier->code, entry) !=
	    ERR_OK)
		return "unknown";
	return stale ||
		catalog_is_foreign(NULL, listing->catalog, listing->store,
		    supplier->code, entry->generation)
	    ? "stale"
	    : "current";
}

static void
add_json(struct listing *listing, const struct source_supplier *supplier,
    const struct catalog_entry *entry, const char *state)
{
	struct jsonw *json = &listing->list.json;
	char text[KEY_GENERATION_LEN + 1], when[DATE_TEXT_MAX];
	bool there = entry->generation != 0;

	jsonw_object_begin(json);
	jsonw_key(json, "code");
	jsonw_string(json, supplier->code);
	jsonw_key(json, "nom");
	if (supplier->name.len == 0)
		jsonw_null(json);
	else
		jsonw_string(json, supplier->name);
	jsonw_key(json, "articles");
	jsonw_int(json, (int64_t)supplier->articles);
	jsonw_key(json, "snapshot");
	jsonw_text(json, state);
	jsonw_key(json, "rows");
	jsonw_int(json, (int64_t)entry->rows);
	jsonw_key(json, "bytes");
	jsonw_int(json, (int64_t)entry->bytes);
	key_generation_text(text, entry->generation);
	jsonw_key(json, "generation");
	jsonw_text(json, there ? text : NULL);
	date_instant_text(when, entry->computed_ms);
	jsonw_key(json, "computedAt");
	jsonw_text(json, there ? when : NULL);
	jsonw_object_end(json);
}

static void
add_line(struct listing *listing, const struct source_supplier *supplier,
    const struct catalog_entry *entry, const char *state)
{
	char when[DATE_TEXT_MAX] = "-";

	if (entry->generation != 0)
		date_instant_text(when, entry->computed_ms);
	buf_addf(&listing->list.text, "%-10.*s %9s %9s  %-8s %-24s  %.*s\n",
	    SPAN_ARG(supplier->code), cmd_count(supplier->articles),
	    entry->generation == 0 ? "-" : cmd_count(entry->rows), state, when,
	    SPAN_ARG(supplier->name));
}

static enum err
add_supplier(void *context, const struct source_supplier *supplier)
{
	struct listing *listing = context;
	struct catalog_entry entry;
	const char *state = state_of(listing, supplier, &entry);

	if (listing->list.as_json)
		add_json(listing, supplier, &entry, state);
	else
		add_line(listing, supplier, &entry, state);
	return buf_end(&listing->list.text);
}

static enum err
list(struct listing *listing)
{
	struct source *source;
	enum err err = source_open(&source, listing->store);

	if (err == ERR_NOT_FOUND)
		return ERR_OK; /* an empty store has an empty list */
	if (err == ERR_OK)
		err = catalog_view_open(&listing->catalog, listing->store);
	if (err == ERR_OK)
		err = source_suppliers(source, add_supplier, listing);
	catalog_view_close(listing->catalog);
	source_close(source);
	return err;
}

int
cmd_suppliers(int argc, char **argv)
{
	struct options options = {false};
	struct listing listing = {.catalog = NULL};
	int args, result;

	result = cmd_start(
	    &listing.store, "suppliers", &options, &spec, argc, argv, &args);
	if (result != CMD_GO)
		return result;
	cmd_list_begin(&listing.list, options.json);
	if (!options.json)
		buf_addf(&listing.list.text, "%-10s %9s %9s  %-8s %-24s  %s\n",
		    "code", "articles", "rows", "snapshot", "computed", "name");
	result = cmd_list_end(&listing.list, "suppliers", list(&listing));
	store_close(listing.store);
	return result;
}
