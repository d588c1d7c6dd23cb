/* gridctl stat: shows the contents of the store, their size and age. */
#include <stdio.h>

#include "common/date.h"
#include "common/jsonw.h"
#include "common/members.h"
#include "common/opt.h"
#include "lmdb-schema/key.h"
#include "lmdb-schema/state/trail_look.h"
#include "lmdb-schema/store/store.h"
#include "lmdb-schema/upkeep/stat.h"
#include "tools/gridctl/cmd.h"

struct options {
	bool json;
};

static const struct opt_row rows[] = {
    {"--json", 0, OPT_FLAG, offsetof(struct options, json), 0, 0, NULL,
	"as a JSON object"},
};

static const struct opt_spec spec = {
    .usage = "gridctl [--data DIR] stat [--json]",
    .about = "Prints what is stored, its size and its age, and where the files "
	     "of the audit trail's earlier months are.",
    .rows = rows,
    .count = 1,
};

/* Every figure: its JSON name, its line, and its offset. */
static const struct figure {
	const char *name, *text;
	size_t offset;
	bool bytes;
} figures[] = {
    {"suppliers", "suppliers", offsetof(struct stat_counts, suppliers), false},
    {"stores", "stores", offsetof(struct stat_counts, stores), false},
    {"classes", "classification entries", offsetof(struct stat_counts, classes),
	false},
    {"articles", "articles", offsetof(struct stat_counts, articles), false},
    {"sales", "sales records", offsetof(struct stat_counts, sales), false},
    {"stock", "stock records", offsetof(struct stat_counts, stock), false},
    {"receptions", "reception records",
	offsetof(struct stat_counts, receptions), false},
    {"positions", "position records", offsetof(struct stat_counts, positions),
	false},
    {"networkProducts", "network products",
	offsetof(struct stat_counts, networks), false},
    {"serverRanges", "server ranges", offsetof(struct stat_counts, gammes),
	false},
    {"snapshots", "snapshots", offsetof(struct stat_counts, snapshots), false},
    {"snapshotsStale", "  stale, to be computed anew",
	offsetof(struct stat_counts, stale), false},
    {"snapshotsOtherVersion", "  of these, another version's",
	offsetof(struct stat_counts, foreign), false},
    {"snapshotsDamaged", "  found damaged, not computed anew yet",
	offsetof(struct stat_counts, lost), false},
    {"snapshotsAbsent", "  not computed yet",
	offsetof(struct stat_counts, absent), false},
    {"snapshotRows", "  rows in them", offsetof(struct stat_counts, rows),
	false},
    {"snapshotsIndexed", "  in the index of words",
	offsetof(struct stat_counts, indexed), false},
    {"snapshotsKept", "snapshots kept for readers",
	offsetof(struct stat_counts, retired), false},
    {"proposalsPending", "ranges proposed, waiting",
	offsetof(struct stat_counts, pending), false},
    {"proposalsValidated", "ranges validated, to arrive",
	offsetof(struct stat_counts, validated), false},
    {"factsBytes", "facts file", offsetof(struct stat_counts, facts_bytes),
	true},
    {"snapshotBytes", "snapshot files",
	offsetof(struct stat_counts, snapshot_bytes), true},
    {"zipBytes", "  rows packed beside them",
	offsetof(struct stat_counts, packed_rows_bytes), true},
    {"wordsBytes", "index of words", offsetof(struct stat_counts, words_bytes),
	true},
    {"liveBytes", "live.mdb", offsetof(struct stat_counts, live_bytes), true},
    {"catalogBytes", "catalog.mdb", offsetof(struct stat_counts, catalog_bytes),
	true},
    {"stateBytes", "state.mdb", offsetof(struct stat_counts, state_bytes),
	true},
    {"trailBytes", "months of the trail",
	offsetof(struct stat_counts, trail_bytes), true},
    {"freeBytes", "free on the disk", offsetof(struct stat_counts, free_bytes),
	true},
};

#define FIGURES (sizeof(figures) / sizeof(figures[0]))

static uint64_t
value_of(const struct stat_counts *counts, const struct figure *figure)
{
	uint64_t value;

	memcpy(&value, (const char *)counts + figure->offset, sizeof(value));
	return value;
}

static const char *const places[] = {[TRAIL_HERE] = "here",
    [TRAIL_ARCHIVED] = "archived",
    [TRAIL_LOST] = "lost",
    [TRAIL_UNREADABLE] = "unreadable"};

static enum err
print_stretch(void *context, const struct trail_stretch *stretch)
{
	char months[TRAIL_MONTHS_MAX];

	(void)context;
	trail_months_text(months, stretch);
	printf("trail %-22s %12s  %s %s %s, entries %s to %s\n", months,
	    cmd_bytes(stretch->bytes), cmd_count(stretch->files),
	    stretch->files == 1 ? "file" : "files", places[stretch->place],
	    cmd_count(stretch->first), cmd_count(stretch->last));
	return ERR_OK;
}

static enum err
add_stretch(void *context, const struct trail_stretch *stretch)
{
	struct jsonw *json = context;
	char month[DATE_TEXT_MAX];

	jsonw_object_begin(json);
	jsonw_key(json, "place");
	jsonw_text(json, places[stretch->place]);
	jsonw_key(json, "from");
	date_month_dashed_text(month, (int32_t)stretch->from);
	jsonw_text(json, month);
	jsonw_key(json, "to");
	date_month_dashed_text(month, (int32_t)stretch->to);
	jsonw_text(json, month);
	members_int(json, "firstEntry", (int64_t)stretch->first);
	members_int(json, "lastEntry", (int64_t)stretch->last);
	members_int(json, "files", (int64_t)stretch->files);
	members_int(json, "bytes", (int64_t)stretch->bytes);
	jsonw_object_end(json);
	return ERR_OK;
}

static void
print_text(const struct stat_counts *counts)
{
	char month[DATE_TEXT_MAX] = "none", when[DATE_TEXT_MAX] = "never";
	char oldest[DATE_TEXT_MAX] = "not known";

	if (counts->newest_month > 0)
		date_month_dashed_text(month, counts->newest_month);
	if (counts->oldest_sales > 0)
		date_month_dashed_text(oldest, counts->oldest_sales);
	if (counts->facts != 0)
		date_instant_text(when, (int64_t)(counts->facts / 1000));
	printf("%-28s %s\n", "data directory", cmd_data_dir());
	printf("%-28s %s\n", "last import", when);
	printf("%-28s %s\n", "newest month", month);
	printf("%-28s %s\n", "sales since", oldest);
	for (unsigned i = 0; i < FIGURES; i++) {
		uint64_t value = value_of(counts, &figures[i]);

		printf("%-28s %12s\n", figures[i].text,
		    figures[i].bytes ? cmd_bytes(value) : cmd_count(value));
	}
}

static enum err
print_json(const struct stat_counts *counts, struct store *store)
{
	char text[DATE_TEXT_MAX];
	struct jsonw json;
	struct buf buf;
	enum err err;

	buf_init(&buf, 1 << 20);
	jsonw_init(&json, &buf);
	jsonw_object_begin(&json);
	jsonw_key(&json, "data");
	jsonw_text(&json, cmd_data_dir());
	jsonw_key(&json, "importedAt");
	date_instant_text(text, (int64_t)(counts->facts / 1000));
	jsonw_text(&json, counts->facts == 0 ? NULL : text);
	jsonw_key(&json, "newestMonth");
	date_month_dashed_text(text, counts->newest_month);
	jsonw_text(&json, counts->newest_month <= 0 ? NULL : text);
	jsonw_key(&json, "oldestSales");
	date_month_dashed_text(text, counts->oldest_sales);
	jsonw_text(&json, counts->oldest_sales <= 0 ? NULL : text);
	jsonw_key(&json, "proposalsPendingSince");
	date_instant_text(text, (int64_t)counts->pending_since_ms);
	jsonw_text(&json, counts->pending_since_ms == 0 ? NULL : text);
	for (unsigned i = 0; i < FIGURES; i++) {
		jsonw_key(&json, figures[i].name);
		jsonw_int(&json, (int64_t)value_of(counts, &figures[i]));
	}
	jsonw_key(&json, "trailMonths");
	jsonw_array_begin(&json);
	err = trail_look(store, add_stretch, &json);
	jsonw_array_end(&json);
	jsonw_object_end(&json);
	if (err == ERR_OK)
		err = jsonw_end(&json);
	if (err == ERR_OK)
		printf("%.*s\n", (int)buf.len, buf.data);
	buf_fini(&buf);
	return err;
}

int
cmd_stat(int argc, char **argv)
{
	struct options options = {false};
	struct stat_counts counts;
	struct store *store;
	int args, result;
	enum err err;

	result = cmd_start(&store, "stat", &options, &spec, argc, argv, &args);
	if (result != CMD_GO)
		return result;
	result = CMD_DONE;
	err = stat_collect(&counts, store);
	if (err == ERR_OK && options.json)
		err = print_json(&counts, store);
	else if (err == ERR_OK) {
		print_text(&counts);
		err = trail_look(store, print_stretch, NULL);
	}
	if (err != ERR_OK)
		result = cmd_fail("stat", err, NULL);
	store_close(store);
	return result;
}
