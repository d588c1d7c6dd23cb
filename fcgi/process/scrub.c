#include "fcgi/process/scrub.h"

#include <assert.h>
#include <string.h>

#include "common/date.h"
#include "common/log.h"
#include "common/spawn.h"
#include "lmdb-schema/facts/source.h"
#include "lmdb-schema/search/word_index.h"
#include "lmdb-schema/snapshot/catalog.h"
#include "lmdb-schema/snapshot/snapshot.h"
#include "lmdb-schema/snapshot/packed_rows.h"
#include "lmdb-schema/state/trail_lost.h"
#include "lmdb-schema/state/trail_parts.h"
#include "lmdb-schema/store/store.h"
#include "lmdb-schema/upkeep/edition.h"

/* The share of each minute; the rest is for computations and the disk. */
#define SLICE_NS INT64_C(5000000000)

struct scrub {
	struct store *store;
	const struct api_settings *settings;
	struct metrics *metrics;
	int64_t end_ns;
	bool late; /* the rest is for the next call */
};

/* The child's exit code is the outcome; the log has the details. */
static void
compute(const struct scrub *scrub, struct span supplier)
{
	char code[SCHEMA_CODE_MAX + 1];
	char *argv[] = {scrub->settings->gridctl, (char *)"--data",
	    scrub->settings->data_dir, (char *)"compute", (char *)"--quiet",
	    (char *)"--", code, NULL};
	const struct spawn_spec spec = {.program = argv[0], .argv = argv};
	int status = 0, errnum;
	pid_t pid;

	if (!span_copy(code, sizeof(code), supplier))
		return;
	errnum = spawn_start(&pid, &spec);
	if (errnum == 0)
		errnum = spawn_reap(&status, pid);
	if (errnum != 0 || status != 0)
		log_error("a damaged supplier was not computed anew: "
			  "supplier=%s status=%d",
		    code, errnum == 0 ? status : errnum);
}

static void
look_at_packed(
    const struct scrub *scrub, struct snapshot *snap, enum packed_kind kind)
{
	struct packed_rows *packed_rows;
	enum err err = packed_rows_open(&packed_rows, scrub->store, snap, kind);

	if (err == ERR_OK)
		err = packed_rows_verify(packed_rows);
	packed_rows_close(packed_rows);
	if (err != ERR_DAMAGED)
		return;
	scrub->metrics->damages++;
	packed_rows_discard(scrub->store, snap, kind);
}

static void
look_at_snapshot(
    const struct scrub *scrub, struct span supplier, uint64_t generation)
{
	struct snapshot *snap;
	enum err err = snapshot_open(&snap, scrub->store, supplier, generation);

	if (err == ERR_OK)
		err = snapshot_compare(snap);
	for (unsigned kind = 0; kind < PACKED_KINDS && err == ERR_OK; kind++)
		look_at_packed(scrub, snap, kind);
	snapshot_close(snap);
	if (err != ERR_DAMAGED)
		return; /* replaced meanwhile, or out of memory */
	scrub->metrics->damages++;
	compute(scrub, supplier);
}

static enum err
each(void *context, struct span supplier, const struct catalog_entry *entry)
{
	struct scrub *scrub = context;
	char *next = scrub->metrics->scrub_at;

	if (span_cmp(supplier, span_of(next)) <= 0)
		return ERR_OK; /* done before */
	if (date_monotonic_ns() > scrub->end_ns) {
		scrub->late = true;
		return ERR_BUSY;
	}
	look_at_snapshot(scrub, supplier, entry->generation);
	scrub->metrics->scrub_snapshots++;
	span_copy(next, sizeof(scrub->metrics->scrub_at), supplier);
	return ERR_OK;
}

static void
look_at_words(const struct scrub *scrub)
{
	struct word_index *index;
	enum err err = word_index_open(&index, scrub->store);

	if (err == ERR_OK)
		err = word_index_compare(index);
	word_index_close(index);
	if (err != ERR_DAMAGED)
		return;
	scrub->metrics->damages++;
	word_index_discard(scrub->store);
}

/* Of nodes that give each other their imports another one has the files. */
static bool
repair_facts(const struct scrub *scrub)
{
	char text[FAULT_TEXT_MAX];
	struct fault fault;
	unsigned damaged;
	enum err err;

	fault_clear(&fault);
	err = edition_repair(&damaged, scrub->store, false, false, &fault);
	if (err != ERR_OK)
		log_error("damaged facts do not come from another node: "
			  "%s",
		    fault_text(text, &fault, err));
	return err == ERR_OK && damaged > 0;
}

static void
look_at_facts(const struct scrub *scrub)
{
	struct source *source;
	enum err err = source_open(&source, scrub->store);

	if (err == ERR_OK)
		err = source_verify(source);
	source_close(source);
	if (err != ERR_DAMAGED)
		return;
	scrub->metrics->damages++;
	if (repair_facts(scrub))
		return;
	log_error("damage: the facts are not as they were written: import "
		  "again");
}

/* Damage is for an operator: no other file has these entries. */
static enum err
look_at_part(void *context, const struct trail_parts_row *row)
{
	struct scrub *scrub = context;
	struct trail_part *part;
	enum err err;

	if (row->last <= scrub->metrics->scrub_trail)
		return ERR_OK; /* done before */
	if (date_monotonic_ns() > scrub->end_ns) {
		scrub->late = true;
		return ERR_BUSY;
	}
	err = trail_parts_open(&part, scrub->store, row);
	if (err == ERR_OK) {
		err = trail_part_compare(part);
		if (err != ERR_OK)
			trail_lost_log(scrub->store, row, err);
	}
	trail_part_close(part);
	scrub->metrics->damages += trail_is_lost(err);
	scrub->metrics->scrub_trail = row->last;
	return ERR_OK;
}

static void
look_at_trail(struct scrub *scrub)
{
	struct state_view *view;
	enum err err = state_view_open(&view, scrub->store);

	if (err == ERR_OK)
		trail_parts_each(state_view_txn(view), look_at_part, scrub);
	state_view_close(view);
	if (!scrub->late)
		scrub->metrics->scrub_trail = 0;
}

static bool
is_time(const struct scrub *scrub)
{
	const struct metrics *metrics = scrub->metrics;

	if (scrub->settings->scrub_s == 0)
		return false;
	return metrics->scrub_at[0] != '\0' ||
	    date_monotonic_ns() - metrics->scrub_began_ns >=
	    scrub->settings->scrub_s * 1000000000 ||
	    metrics->scrub_began_ns == 0;
}

void
scrub_some(struct store *store, const struct api_settings *settings,
    struct metrics *metrics)
{
	struct scrub scrub = {.store = store,
	    .settings = settings,
	    .metrics = metrics,
	    .end_ns = date_monotonic_ns() + SLICE_NS};
	struct catalog_view *view;
	enum err err;

	assert(settings->gridctl != NULL);
	if (!is_time(&scrub))
		return;
	if (metrics->scrub_at[0] == '\0') {
		metrics->scrub_began_ns = date_monotonic_ns();
		metrics->scrub_snapshots = 0;
		look_at_words(&scrub);
		look_at_facts(&scrub);
	}
	err = catalog_view_open(&view, store);
	if (err == ERR_OK)
		catalog_each(view, each, &scrub);
	catalog_view_close(view);
	if (err == ERR_OK && !scrub.late)
		look_at_trail(&scrub);
	if (err != ERR_OK || scrub.late)
		return;
	metrics->scrub_at[0] = '\0';
	metrics->scrubs++;
}
