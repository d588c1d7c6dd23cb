/*
 * source: reads one import's facts: suppliers, stores, classification, and each
 * article with its monthly series.
 *
 * A source is pinned: later imports do not affect it, and its spans stay valid
 * until source_close(). Several threads may read it, each with its own walk.
 *
 * Suppliers are spread over shares, a file each; a merge writes the shares whose
 * suppliers it changes, and refers to files of imports before for the others.
 * Facts of version 2 are in one file, and their merges refer to files of imports
 * before for single suppliers: the parts of a source.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "common/err.h"
#include "common/fs.h"
#include "common/span.h"
#include "lmdb-schema/facts/series.h"

struct store;
struct source;

/* Counts of records, for `gridctl stat` and the checks. */
struct source_header {
	int32_t newest_month;
	int32_t oldest_sales; /* month; 0: none, or not known */
	uint64_t suppliers, stores, classes, articles;
	uint64_t records[SERIES_KINDS];
	uint32_t tables_crc; /* of tables suppliers, stores, classes, where */
};

/* An article; its texts and series are borrowed from the source. */
struct source_article {
	struct span codein, libelle1, libelle2, marque, gtin, reference;
	struct span code_centrale;
	uint32_t code3; /* six digits as a number; SOURCE_NO_CODE3 for none */
	int64_t pcb, prix_achat, prix_vente, tva; /* NUM_NULL for none */
	struct span series[SERIES_KINDS];
};

#define SOURCE_NO_CODE3 UINT32_MAX

/*
 *   ERR_NOT_FOUND  nothing was imported yet
 *   ERR_DAMAGED    the facts file cannot be read
 */
enum err source_open(struct source **out, struct store *store);

/*
 * The same, with source_verify_tables(), once a process for a file that nobody
 * touches: for who shows or computes what it says.
 */
enum err source_open_verified(struct source **out, struct store *store);

/* Whether the files' times or sizes differ from *stamp, which they become. */
enum err source_touched(
    bool *touched, const struct source *source, struct fs_stamp *stamp);

/* Opens a given file, for the importer and `gridctl check`. */
enum err source_open_file(
    struct source **out, const char *path, uint64_t generation);
void source_close(struct source *source);

/* The current generation, without opening its file; 0: none. */
enum err source_current(uint64_t *generation, struct store *store);

uint64_t source_generation(const struct source *source);

/* Files of imports before that facts of version 2 refer to. */
#define SOURCE_PARTS_MAX 16

#define SOURCE_SHARES_MAX 256

/* Over how many shares the suppliers are spread; 0: an older version. */
unsigned source_shares(const struct source *source);

/* The share of a supplier among `count`. */
unsigned source_share_of(struct span supplier, unsigned count);

/*
 * The name in the folder of facts of each file that it consists of: its own
 * first.
 */
#define SOURCE_NAME_MAX 32
enum err source_files(const struct source *source,
    enum err (*each)(void *context, const char *name), void *context);

/* Whether the file with that name is one of these. */
bool source_uses(const struct source *source, const char *name);

/* The bytes of all these files. */
enum err source_bytes(uint64_t *bytes, const struct source *source);

/*
 * The path of a share, given that of the base file: beside it, of the same
 * generation for 0, with the suffix .tmp if that has it; else of the other one.
 */
enum err source_share_path(char path[FS_PATH_MAX], const char *base,
    uint64_t generation, unsigned share);

/*
 * The digest of what all suppliers' rows share, in SCHEMA_DIGEST bytes; empty
 * in facts of before.
 */
struct span source_common(struct source *source);
const struct source_header *source_header(const struct source *source);

/* ERR_NOT_FOUND when there is no such supplier. */
struct source_supplier {
	struct span code, name; /* name: empty for none */
	uint64_t articles;
	struct span digest; /* of all that its rows are made of, or empty */
	struct span products; /* for source_lists_product() */
	uint64_t at; /* generation of the file that has its articles */
};
enum err source_supplier(
    struct source *source, struct span code, struct source_supplier *out);

/*
 * Calls `each` for every supplier in the order of the codes; stops at its first
 * failure.
 */
enum err source_suppliers(struct source *source,
    enum err (*each)(void *context, const struct source_supplier *supplier),
    void *context);

/* Stores by number 0 .. header.stores - 1. */
struct span source_store_code(const struct source *source, uint16_t store);
struct span source_store_name(const struct source *source, uint16_t store);

/* The label of a classification code of 2, 4 or 6 digits, or empty. */
struct span source_class(struct source *source, struct span code);
enum err source_classes(struct source *source,
    enum err (*each)(void *context, struct span code, struct span label),
    void *context);

/* Calls `each` with every supplier that lists the article, in order. */
enum err source_where(struct source *source, struct span codein,
    enum err (*each)(void *context, struct span supplier), void *context);

/*
 * Whether the supplier's articles include one of the network's products:
 * `hashes` are `count` of source_product_hash(), ascending. True when the facts
 * are too old to say so.
 */
bool source_lists_product(const struct source_supplier *supplier,
    const uint64_t *hashes, size_t count);
uint64_t source_product_hash(struct span code);

/*
 * Whether that supplier lists the article. Here and in source_where(),
 * ERR_DAMAGED when a file's listings do not match their checksum, with which
 * they are compared before the first look at them.
 */
enum err source_lists(bool *lists, struct source *source, struct span supplier,
    struct span codein);

/*
 * ERR_DAMAGED when the tables of suppliers, stores, classification and listings
 * do not match their checksum. Each walk verifies the articles it reads.
 */
enum err source_verify(struct source *source);

/*
 * The same without the listings, which a merge makes anew and most readers do
 * not use.
 */
enum err source_verify_tables(struct source *source);

/*
 * A supplier's articles in the order of their codein bytes. source_walk_next()
 * gives ERR_NOT_FOUND at the end, ERR_DAMAGED for bytes that cannot be decoded,
 * or that do not match their checksum, and where there are fewer or more articles
 * than the supplier's record counts.
 */
struct source_walk;
enum err source_walk_begin(
    struct source_walk **out, struct source *source, struct span supplier);
enum err source_walk_next(
    struct source_walk *walk, struct source_article *article);
void source_walk_end(struct source_walk *walk);

/* Decodes an article's record that source_walk_raw() gave. */
enum err source_article_read(
    struct span record, struct source_article *article);
struct span source_walk_raw(const struct source_walk *walk);

/*
 * Shared with the importer: the encoding of a record; the checksum of a block,
 * from its fifth byte on; and the running checksum of the small tables' pairs,
 * which starts at 0.
 */
void source_article_write(
    struct buf *buf, const struct source_article *article);
uint32_t source_block_crc(struct span block);
uint32_t source_pair_crc(uint32_t crc, struct span key, struct span value);

/* The records of the meta table beside "schema" and "header". */
#define SOURCE_PARTS_KEY SPAN("parts")
#define SOURCE_SHARES_KEY SPAN("shares")
#define SOURCE_SHARE_KEY SPAN("share")
#define SOURCE_COMMON_KEY SPAN("common")
#define SOURCE_SINCE_KEY SPAN("since")

/* The checksum of the record of a share that a base file names. */
uint32_t source_share_sum(const struct source *source, unsigned share);
/* And the generation of its file, and how many articles it has. */
uint64_t source_share_generation(const struct source *source, unsigned share);
uint64_t source_share_articles(const struct source *source, unsigned share);
