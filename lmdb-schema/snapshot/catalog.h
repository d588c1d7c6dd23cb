/*
 * catalog: which snapshot of each supplier is current, and which ones are
 * still kept because a client may be paging through them.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "common/err.h"
#include "common/span.h"

struct store;

struct catalog_entry {
	uint64_t generation;
	int64_t computed_ms;
	uint64_t rows;
	uint64_t facts, network, gamme; /* generations it was made from */
	uint64_t bytes;
};

/* A consistent view. One thread at a time. */
struct catalog_view;

enum err catalog_view_open(struct catalog_view **out, struct store *store);
void catalog_view_close(struct catalog_view *view);
void catalog_view_rest(struct catalog_view *view);
enum err catalog_view_renew(struct catalog_view *view);

/* Grows with each commit: while it is the same, so is all that is stored. */
uint64_t catalog_view_version(const struct catalog_view *view);

/* ERR_NOT_FOUND: never computed. */
enum err catalog_get(struct catalog_view *view, struct span supplier,
    struct catalog_entry *entry);

/* True when that generation is current or still kept. */
bool catalog_keeps(
    struct catalog_view *view, struct span supplier, uint64_t generation);

/* How many suppliers have a current generation. */
enum err catalog_count(struct catalog_view *view, uint64_t *count);

/*
 * Each entry. ERR_DAMAGED when one cannot be read (the log names it), or what
 * `each` gave but ERR_OK; the entries that are whole have all been visited in
 * the first case.
 */
enum err catalog_each(struct catalog_view *view,
    enum err (*each)(
	void *context, struct span supplier, const struct catalog_entry *entry),
    void *context);

/* Each replaced generation that is still kept. */
enum err catalog_each_kept(struct catalog_view *view,
    enum err (*each)(void *context, struct span supplier, uint64_t generation),
    void *context);

/* For those who need one answer. */
enum err catalog_current(
    struct store *store, struct span supplier, struct catalog_entry *entry);

/*
 * Makes a finished snapshot file the current one; the one it replaces is kept
 * from now on for the grace time. Synced.
 */
enum err catalog_publish(struct store *store, struct span supplier,
    const struct catalog_entry *entry);

/* Forgets a supplier's snapshots (a damaged file, a supplier that is gone). */
enum err catalog_forget(struct store *store, struct span supplier);

/*
 * Lets go of one generation whose file turned out to be damaged: nobody opens
 * it again, whoever does not hold it open. When it is the current one, the
 * supplier counts as never computed. *was_current tells so. Synced.
 */
enum err catalog_disown(struct store *store, struct span supplier,
    uint64_t generation, bool *was_current);

/*
 * That there is a new wordbook, of which generation: the version of all views
 * grows by it, so that who has the old one open looks. 0: there was none yet.
 */
enum err catalog_note_words(struct store *store, uint64_t generation);
uint64_t catalog_words(struct catalog_view *view);
