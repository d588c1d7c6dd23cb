#include "tools/gridhook/events/journal_priv.h"

#include <assert.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "common/digest.h"
#include "common/log.h"
#include "common/num.h"

#define VERSION "1"

static const char *const table_names[TABLES] = {
    "events", "history", "dedupe", "meta"};

static enum err
get_meta(struct kv_txn *txn, const char *name, uint64_t *value)
{
	struct span text;
	int64_t number;
	enum err err;

	err = kv_get(txn, META, span_of(name), &text);
	if (err != ERR_OK)
		return err == ERR_NOT_FOUND ? ERR_OK : err;
	if (!num_int(&number, text, 0, INT64_MAX)) {
		log_error("journal is damaged: meta=%s", name);
		return ERR_DAMAGED;
	}
	*value = (uint64_t)number;
	return ERR_OK;
}

static enum err
read_epoch(struct journal *journal)
{
	struct span value;
	enum err err;

	err = kv_get(journal->txn, META, SPAN("version"), &value);
	if (err == ERR_OK && !span_eq(value, SPAN(VERSION))) {
		log_error("journal is of another version: found=%.*s",
		    SPAN_ARG(value));
		return ERR_VERSION;
	}
	if (err == ERR_OK)
		err = kv_get(journal->txn, META, SPAN("epoch"), &value);
	if (err == ERR_OK)
		return span_copy(journal->epoch, sizeof(journal->epoch), value)
		    ? ERR_OK
		    : ERR_DAMAGED;
	if (err != ERR_NOT_FOUND)
		return err;
	err = digest_random_text(journal->epoch, JOURNAL_EPOCH_LEN);
	if (err == ERR_OK)
		err = kv_put(
		    journal->txn, META, SPAN("epoch"), span_of(journal->epoch));
	if (err == ERR_OK)
		err =
		    kv_put(journal->txn, META, SPAN("version"), SPAN(VERSION));
	return err;
}

static enum err
first_of(struct kv_txn *txn, unsigned table, uint64_t *first)
{
	struct kv_walk *walk = kv_walk_begin(txn, table, SPAN(""), SPAN(""));
	struct span key, value;
	enum err err;

	err = kv_walk_next(walk, &key, &value);
	if (err == ERR_OK)
		*first = journal_number(key);
	return kv_walk_done(walk, err);
}

static enum err
sum_bytes(struct journal *journal)
{
	struct kv_walk *walk =
	    kv_walk_begin(journal->txn, EVENTS, SPAN(""), SPAN(""));
	struct span key, value;
	enum err err;

	while ((err = kv_walk_next(walk, &key, &value)) == ERR_OK)
		journal->now.bytes += value.len;
	return kv_walk_done(walk, err);
}

static enum err
read_counts(struct journal *journal)
{
	struct counts *now = &journal->now;
	struct kv_txn *txn = journal->txn;
	enum err err;

	*now = (struct counts){.next = 1, .history_next = 1};
	err = get_meta(txn, "next", &now->next);
	if (err == ERR_OK)
		err = get_meta(txn, "history_next", &now->history_next);
	if (err == ERR_OK)
		err = get_meta(txn, "dropped", &now->dropped);
	if (err == ERR_OK)
		err = get_meta(txn, "acked", &journal->acked);
	now->first = now->next;
	now->history_first = now->history_next;
	if (err == ERR_OK)
		err = first_of(txn, EVENTS, &now->first);
	if (err == ERR_OK)
		err = first_of(txn, HISTORY, &now->history_first);
	if (err == ERR_OK)
		err = sum_bytes(journal);
	return err;
}

/* A journal in memory is one whose files have no name any more. */
static enum err
make_scratch(struct journal *journal)
{
	static const char *const places[] = {"/dev/shm", "/tmp"};

	for (size_t i = 0; i < 2; i++) {
		snprintf(journal->scratch, sizeof(journal->scratch),
		    "%s/gridhook-XXXXXX", places[i]);
		if (mkdtemp(journal->scratch) != NULL)
			return ERR_OK;
	}
	log_error("no folder for a journal in memory");
	journal->scratch[0] = '\0';
	return ERR_SYSTEM;
}

static enum err
open_store(struct journal *journal)
{
	const char *folder = journal->spec.folder;
	char path[FS_PATH_MAX], lock[FS_PATH_MAX];
	struct kv_spec spec = {
	    .path = path,
	    .mode = folder == NULL ? KV_SHARED_LAZY : KV_SHARED,
	    .map_bytes = (size_t)journal->spec.keep_bytes * 8 + (64u << 20),
	    .tables = table_names,
	    .table_count = TABLES,
	    .readers = 16,
	};
	enum err err = ERR_OK;

	if (folder == NULL) {
		err = make_scratch(journal);
		folder = journal->scratch;
	} else
		err = fs_mkdir(folder);
	if (err == ERR_OK)
		err = fs_path(lock, "%s/lock", folder);
	if (err == ERR_OK)
		err = fs_lock(&journal->lock, lock, false);
	if (err == ERR_BUSY)
		log_error("another gridhook has this store: folder=%s", folder);
	if (err == ERR_OK)
		err = fs_path(path, "%s/events.mdb", folder);
	if (err == ERR_OK)
		err = kv_open(&journal->kv, &spec);
	if (journal->scratch[0] != '\0')
		fs_remove_tree(journal->scratch);
	return err;
}

enum err
journal_open(struct journal **out, const struct journal_spec *spec)
{
	struct journal *journal = calloc(1, sizeof(*journal));
	enum err err;

	assert(spec->keep_events > 0 && spec->keep_bytes > 0);
	*out = NULL;
	if (journal == NULL)
		return ERR_NO_MEMORY;
	journal->spec = *spec;
	journal->lock = -1;
	buf_init(&journal->record, RECORD_MAX);
	err = open_store(journal);
	if (err == ERR_OK)
		err = journal_begin(journal);
	if (err == ERR_OK)
		err = read_epoch(journal);
	if (err == ERR_OK)
		err = read_counts(journal);
	if (err == ERR_OK) {
		journal->stored = journal->now;
		journal->acked_stored = journal->acked;
		err = journal_commit(journal);
	}
	if (err == ERR_OK) {
		*out = journal;
		journal = NULL;
	} else
		journal->failed = err; /* nothing of it is to be stored */
	journal_close(journal);
	return err;
}

void
journal_close(struct journal *journal)
{
	if (journal == NULL)
		return;
	if (journal->kv != NULL && journal->failed == ERR_OK &&
	    (journal->txn != NULL || journal->acked != journal->acked_stored))
		if (journal_begin(journal) == ERR_OK)
			journal_commit(journal);
	kv_abort(journal->txn);
	kv_close(journal->kv);
	if (journal->lock >= 0)
		close(journal->lock);
	buf_fini(&journal->record);
	free(journal);
}
