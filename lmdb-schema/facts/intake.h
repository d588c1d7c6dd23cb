/*
 * intake: an import in progress. It takes suppliers, stores, classification and
 * articles first, then their monthly facts, and writes the files of one
 * generation of facts.
 *
 * Nothing is visible to readers: intake_write() writes the files, and one later
 * commit makes them current, see live.h. Its own memory is bounded: beyond
 * intake_set_memory() articles and facts are sorted in files without a name in
 * the data directory, which the kernel deletes with the process.
 *
 * The four series may be filled by four threads at once, one each, after
 * intake_seal(); all else belongs to one thread.
 */
#pragma once

#include <stdint.h>

#include "common/err.h"
#include "common/span.h"
#include "lmdb-schema/facts/series.h"
#include "lmdb-schema/facts/source.h"

struct intake;
struct store;

#define INTAKE_NONE UINT32_MAX

/*
 * `base`, when not NULL, is the source that a merge starts from: its contents
 * count as put already, and later puts replace them. It must outlive the
 * intake. The base file that is written refers to the base's shares for those
 * of which the puts change no supplier. ERR_DAMAGED where the base's tables do
 * not match their checksums.
 */
enum err intake_new(
    struct intake **out, struct store *store, struct source *base);
void intake_free(struct intake *intake);

/*
 * The bytes that articles and facts may take, about; before the first put. Else
 * INTAKE_MEMORY.
 */
#define INTAKE_MEMORY ((size_t)1 << 30)
void intake_set_memory(struct intake *intake, size_t bytes);

/*
 * How many threads write shares, 1 to INTAKE_JOBS_MAX; else one. The files are
 * the same for any number.
 */
#define INTAKE_JOBS_MAX 16
void intake_set_jobs(struct intake *intake, unsigned jobs);

/*
 * Over how many shares the suppliers are spread, 1 to SOURCE_SHARES_MAX; before
 * intake_seal(). Else one for each INTAKE_SHARE_ARTICLES, up to
 * INTAKE_SHARES_MOST. A merge keeps those of its base, where it has any.
 */
#define INTAKE_SHARE_ARTICLES 16384
#define INTAKE_SHARES_MOST 64
void intake_set_shares(struct intake *intake, unsigned shares);

/* ERR_EXISTS when this import has put the same code before. */
enum err intake_supplier(
    struct intake *intake, struct span code, struct span name);
enum err intake_store(
    struct intake *intake, struct span code, struct span name);
enum err intake_class(
    struct intake *intake, struct span code, struct span label);

/*
 * The spans are copied. ERR_NOT_FOUND: no such supplier. `line` is the caller's
 * name for it, see intake_seal().
 */
enum err intake_article(struct intake *intake, struct span supplier,
    const struct source_article *article, uint64_t line);

/*
 * Call when all suppliers, stores and articles are put: numbers are then final.
 * ERR_EXISTS, and nothing more can be done with the intake, when articles were
 * put twice: `twice`, when not NULL, is called for each but the first of them.
 */
enum err intake_seal(struct intake *intake,
    void (*twice)(void *context, struct span codein, uint64_t line),
    void *context);

/*
 * INTAKE_NONE when there is no such store or article, or, where intake_failed()
 * says so, when the base cannot be read. Thread-safe after intake_seal().
 */
uint32_t intake_find_article(
    struct intake *intake, struct span supplier, struct span codein);
enum err intake_failed(const struct intake *intake);
uint32_t intake_find_store(const struct intake *intake, struct span code);
bool intake_has_supplier(const struct intake *intake, struct span code);

/* Adds a monthly fact of an article; `record->store` is the store's number. */
enum err intake_put(struct intake *intake, enum series_kind kind,
    uint32_t article, const struct series_record *record);

/* Call when the file of that kind has been read to its end. */
enum err intake_end_series(struct intake *intake, enum series_kind kind);

/* Names a store and month that came twice for an article. */
struct intake_twice {
	enum series_kind kind;
	struct span supplier, codein, store;
	int32_t month;
};

/*
 * Writes the base file at `path`, whose name ends in ".mdb" or ".mdb.tmp", and
 * the shares beside it (source_share_path()), synced. ERR_EXISTS fills *twice;
 * the files are then removed, as after any failure. `at`, when not NULL, is
 * called with the number of articles written, by one thread at a time.
 */
enum err intake_write(struct intake *intake, const char *path,
    struct intake_twice *twice, void (*at)(void *context, uint64_t done),
    void *context);

/*
 * Renames the files that were written at `from`, the base file last, and syncs
 * their folder; or removes them.
 */
enum err intake_publish(
    struct intake *intake, const char *from, const char *to);
void intake_discard(struct intake *intake, const char *path);

/* The newest month that was put, ignoring the base; 0: none. */
int32_t intake_newest(const struct intake *intake, enum series_kind kind);

/* The number of articles that will be written. */
uint32_t intake_articles(const struct intake *intake);

/* The counts and the newest month; final after intake_write(). */
const struct source_header *intake_header(const struct intake *intake);
