/*
 * intake_priv: the state that intake.c gathers and intake_files.c writes, with
 * intake_write.c, intake_tables.c and intake_marks.c. For intake*.c only.
 */
#pragma once

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include "lmdb-schema/codemap.h"
#include "lmdb-schema/facts/intake.h"
#include "lmdb-schema/facts/shelf.h"
#include "lmdb-schema/facts/source.h"
#include "lmdb-schema/facts/spool.h"
#include "lmdb-schema/sorter.h"

/*
 * A map from codes to packed values; `fresh` is set for values that did not
 * come from the base.
 */
struct intake_table {
	struct codemap *codes;
	struct span *values;
	bool *fresh;
	uint32_t room;
};

/*
 * A supplier's articles. Each has a number, from `first` on; the numbers of all
 * suppliers follow the order of the codes, so that facts can be sorted by them.
 */
struct intake_range {
	uint32_t first;
	uint32_t room; /* numbers that are kept free */
	uint32_t fresh_from, fresh; /* those of this import, in `fresh` */
	const struct shelf *shelf; /* all of them, once loaded: */
	uint32_t from, count;
	struct shelf merged; /* of a merge, on the pile */
	bool loaded;
};

struct arena;
struct store;

struct intake {
	struct store *store;
	struct source *base;
	struct arena *arena;
	struct intake_table suppliers, stores, classes;
	struct sorter_budget budget;
	struct sorter *articles; /* until they are sealed; then: */
	struct shelf fresh;
	struct intake_range *ranges; /* by number in `suppliers` */
	unsigned shares; /* 0: not decided yet */
	unsigned jobs;
	uint32_t *supplier_order; /* by share, and in it by code */
	uint32_t *share_from; /* where each begins in it; one more */
	bool *share_written; /* by this import, not kept */
	uint32_t *store_order;
	uint16_t *store_number; /* by number in `stores` */
	uint16_t *base_store; /* the base's number -> the new one */
	struct spool *spools[SERIES_KINDS];
	int32_t newest[SERIES_KINDS]; /* put now; 0: none */
	int32_t oldest_sales; /* the same */
	uint64_t *supplier_articles; /* by number in `suppliers` */
	/* intake_merge.c: */
	pthread_rwlock_t lock; /* guards `ranges` once they are sealed */
	struct shelf_pile *pile; /* of what is loaded; NULL: nothing yet */
	uint64_t base_records[SERIES_KINDS]; /* of these in the base */
	atomic_int failed; /* enum err of a supplier that cannot be loaded */
	struct source_header header;
	bool sealed;
};

/* intake_articles.c: sorts them, and numbers them. For the rest intake.h. */
enum err intake_sort_articles(struct intake *intake,
    void (*twice)(void *context, struct span codein, uint64_t line),
    void *context);

/*
 * intake_merge.c: a merge has only those suppliers' articles at hand that its
 * files name; the others stay in the files of the base. ERR_OK from
 * intake_load() means that the supplier's are there, also without a base. By the
 * number in `suppliers`.
 */
enum err intake_load(struct intake *intake, uint32_t supplier);

/*
 * Before writing: loads those that must be written for another reason, and marks
 * the shares with any that are.
 */
enum err intake_load_changed(struct intake *intake);

/* An article's record without its series. */
void intake_bare(struct buf *out, const struct source_article *article);

struct kv;
struct kv_txn;
struct source_walk;
struct intake_marks;

/* How far all threads are. */
struct writing_progress {
	pthread_mutex_t lock;
	uint64_t done; /* articles */
	void (*at)(void *context, uint64_t done); /* or NULL */
	void *context;
};

/* A thread's share or base file that is being written. */
struct writing {
	struct intake *intake;
	struct kv *kv;
	struct kv_txn *txn; /* NULL after a commit that failed */
	size_t pending; /* bytes put since the last commit */
	struct intake_twice twice;
	struct spool_reader *readers[SERIES_KINDS];
	uint64_t records[SERIES_KINDS]; /* counted during a merge */
	uint64_t articles; /* of the shares that it has written */
	uint32_t tables_crc; /* of the table that is being written */
	struct sorter *listings; /* of the share that is being written */
	uint32_t *sums; /* of the shares' records */
	struct intake_marks *marks;
	struct buf block, record;
	struct buf old[SERIES_KINDS]; /* the base's, renumbered */
	struct buf fresh; /* parts of this import, merged into one */
	struct buf merged[SERIES_KINDS];
	struct span supplier; /* of the current block */
	uint32_t block_number;
	struct source_walk *base_walk; /* the same supplier in the base */
	struct source_article base_article;
	bool base_left;
	uint32_t untold; /* articles written, for: */
	struct writing_progress *progress;
};

/*
 * intake_tables.c: what stands behind the articles of a share, which sets its
 * sum; and what a base file has.
 */
enum err writing_share(struct writing *writing, unsigned share);
enum err writing_base(struct writing *writing);

/*
 * intake_write.c: a thread's state, with marks of its own; and a share's file,
 * synced, or removed after a failure. `sums` has room for each share.
 */
enum err writing_init(struct writing *writing, struct intake *intake,
    uint32_t *sums, struct writing_progress *progress);
void writing_fini(struct writing *writing);
enum err writing_share_file(
    struct writing *writing, const char *path, unsigned share);

/* The base file, which has the share as well where that is the only one. */
enum err writing_base_file(struct writing *writing, const char *path);

/*
 * To be called behind each put of `bytes`, as a transaction's writes stay in
 * memory until its commit.
 */
enum err writing_put(struct writing *writing, size_t bytes);

/*
 * intake_marks.c: what tells whether a supplier's rows will change: a digest of
 * all that they are made of, and the network's products that they show.
 *
 * marks_begin() begins a supplier, marks_take() takes each of its articles as
 * it is written. marks_write() adds the marks of a supplier, by its number, to
 * its record; then no other may begin.
 */
enum err marks_new(struct intake_marks **out, struct intake *intake);
enum err marks_begin(struct intake_marks *marks, struct span supplier);
enum err marks_take(struct intake_marks *marks, struct span record,
    const struct source_article *article);
enum err marks_write(
    struct intake_marks *marks, uint32_t supplier, struct buf *record);
struct span marks_common(const struct intake_marks *marks);
void marks_free(struct intake_marks *marks);
