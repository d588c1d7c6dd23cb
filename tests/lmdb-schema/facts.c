#include "tests/lmdb-schema/facts.h"

#include <check.h>
#include <stdio.h>
#include <string.h>

#include "common/date.h"
#include "common/fs.h"
#include "common/num.h"
#include "lmdb-schema/deflate.h"
#include "lmdb-schema/key.h"
#include "lmdb-schema/snapshot/catalog_format.h"
#include "lmdb-schema/snapshot/snapshot.h"
#include "tests/lmdb-schema/by_hand.h"
#include "tests/lmdb-schema/mirror.h"
#include "tests/support/quiet.h"
#include "tests/support/scratch.h"

struct store *facts;

const char *
facts_dir(void)
{
	return scratch_path("data");
}

void
facts_open(void)
{
	struct fault fault;

	fault_clear(&fault);
	ck_assert_msg(store_open(&facts, facts_dir(), &fault) == ERR_OK,
	    "%s: %s", fault.place, fault.message);
}

void
facts_close(void)
{
	mirror_end(facts);
	store_close(facts);
	facts = NULL;
}

void
facts_make(void)
{
	struct fault fault;

	scratch_make();
	fault_clear(&fault);
	ck_assert_msg(store_create(facts_dir(), &fault) == ERR_OK, "%s: %s",
	    fault.place, fault.message);
	facts_open();
	mirror_begin(facts);
}

void
facts_remove(void)
{
	facts_close();
	quiet_end();
	scratch_remove();
}

/* --- by hand ------------------------------------------------------------- */

unsigned facts_shares;

struct intake *
facts_begin(struct source *base)
{
	struct intake *intake;

	ck_assert_int_eq(intake_new(&intake, facts, base), ERR_OK);
	if (facts_shares > 0)
		intake_set_shares(intake, facts_shares);
	return intake;
}

void
facts_end_series(struct intake *intake)
{
	for (unsigned i = 0; i < SERIES_KINDS; i++)
		ck_assert_int_eq(intake_end_series(intake, i), ERR_OK);
}

uint64_t
facts_end(struct intake *intake)
{
	char path[FS_PATH_MAX], temporary[FS_PATH_MAX];
	struct intake_twice twice;
	struct live_change *change;
	uint64_t generation;

	ck_assert_int_eq(source_current(&generation, facts), ERR_OK);
	generation = key_generation_next(generation);
	ck_assert_int_eq(store_facts_path(path, facts, generation, ""), ERR_OK);
	ck_assert_int_eq(
	    store_facts_path(temporary, facts, generation, ".tmp"), ERR_OK);
	ck_assert_int_eq(
	    intake_write(intake, temporary, &twice, NULL, NULL), ERR_OK);
	ck_assert_int_eq(intake_publish(intake, temporary, path), ERR_OK);
	change = hand_begin(facts);
	ck_assert_int_eq(live_set_facts(change, generation), ERR_OK);
	hand_commit(change);
	intake_free(intake);
	return generation;
}

struct source_article
facts_article(const char *codein)
{
	struct source_article article = {.codein = span_of(codein),
	    .libelle1 = SPAN(""),
	    .libelle2 = SPAN(""),
	    .marque = SPAN(""),
	    .gtin = SPAN(""),
	    .reference = SPAN(""),
	    .code_centrale = SPAN(""),
	    .code3 = SOURCE_NO_CODE3,
	    .pcb = NUM_NULL,
	    .prix_achat = NUM_NULL,
	    .prix_vente = NUM_NULL,
	    .tva = NUM_NULL};

	return article;
}

void
facts_put_article(
    struct intake *intake, const char *supplier, const char *codein)
{
	struct source_article article = facts_article(codein);

	ck_assert_int_eq(
	    intake_article(intake, span_of(supplier), &article, 0), ERR_OK);
}

void
facts_put(struct intake *intake, enum series_kind kind, const char *supplier,
    const char *codein, const char *store, int32_t month, int64_t value)
{
	uint32_t article =
	    intake_find_article(intake, span_of(supplier), span_of(codein));
	struct series_record record = {
	    .store = (uint16_t)intake_find_store(intake, span_of(store)),
	    .month = month,
	    .value = {value, value, value, DATE_NULL}};

	ck_assert_uint_ne(article, INTAKE_NONE);
	if (kind == SERIES_POSITIONS)
		record.value[1] = record.value[2] = DATE_NULL;
	ck_assert_int_eq(intake_put(intake, kind, article, &record), ERR_OK);
}

/* --- a whole supplier ---------------------------------------------------- */

/* A stream of its own: the same facts whatever a test has drawn before. */
static uint64_t
draw(uint64_t *state)
{
	*state = *state * UINT64_C(6364136223846793005) +
	    UINT64_C(1442695040888963407);
	return *state >> 33;
}

static void
put_masters(struct intake *intake)
{
	static const char *const names[][2] = {{"BIG", "Grande \"Maison\""},
	    {"SMALL", "Petite Épicerie"}, {"EMPTY", ""}};
	static const char *const stores[] = {"001", "002", "10\"0"};
	static const char *const classes[][2] = {{"12", "Épicerie"},
	    {"1203", "Conserves"}, {"120305", "Thon"}, {"120306", "Maïs"}};

	for (unsigned i = 0; i < 3; i++)
		ck_assert_int_eq(intake_supplier(intake, span_of(names[i][0]),
				     span_of(names[i][1])),
		    ERR_OK);
	for (unsigned i = 0; i < FACTS_STORES; i++)
		ck_assert_int_eq(
		    intake_store(intake, span_of(stores[i]), SPAN("Magasin")),
		    ERR_OK);
	for (unsigned i = 0; i < 4; i++)
		ck_assert_int_eq(intake_class(intake, span_of(classes[i][0]),
				     span_of(classes[i][1])),
		    ERR_OK);
}

static void
put_one(
    struct intake *intake, const char *supplier, unsigned i, uint64_t *state)
{
	static const uint32_t codes[] = {
	    120305, 120306, 999999, SOURCE_NO_CODE3};
	char codein[16], label[32], central[16];
	struct source_article article;

	snprintf(codein, sizeof(codein), i % 10 == 3 ? "C\"%06u" : "C%06u", i);
	snprintf(label, sizeof(label), "Article n\xc2\xb0 %u",
	    (unsigned)(draw(state) % 1000));
	snprintf(central, sizeof(central), "10000%u", i % 50);
	article = facts_article(codein);
	article.libelle1 = span_of(label);
	article.marque = draw(state) % 3 == 0 ? SPAN("") : SPAN("Marque");
	article.code_centrale = i % 4 == 0 ? SPAN("") : span_of(central);
	article.code3 = codes[draw(state) % 4];
	article.prix_achat = (int64_t)(draw(state) % 100000) * 10000;
	ck_assert_int_eq(
	    intake_article(intake, span_of(supplier), &article, 0), ERR_OK);
}

static void
put_months(
    struct intake *intake, const char *supplier, unsigned i, uint64_t *state)
{
	static const enum series_kind kinds[] = {
	    SERIES_SALES, SERIES_STOCK, SERIES_RECEPTIONS};
	static const char *const stores[] = {"001", "002", "10\"0"};
	char codein[16];

	snprintf(codein, sizeof(codein), i % 10 == 3 ? "C\"%06u" : "C%06u", i);
	for (unsigned store = 0; store < FACTS_STORES; store++) {
		for (int month = 0; month < 12; month++)
			for (unsigned k = 0; k < 3; k++)
				if (draw(state) % 3 == 0)
					facts_put(intake, kinds[k], supplier,
					    codein, stores[store],
					    FACTS_MONTH - 11 + month,
					    (int64_t)(draw(state) % 5000) *
						10000);
		for (unsigned month = 0; month < 12; month += 1 + i % 5)
			facts_put(intake, SERIES_SALES, supplier, codein,
			    stores[store], FACTS_MONTH - 23 + (int)month,
			    (int64_t)(100 * i + month) * 10000);
		facts_put(intake, SERIES_POSITIONS, supplier, codein,
		    stores[store], 0, (int64_t)(draw(state) % 50) * NUM_MICRO);
	}
}

uint64_t
facts_import(unsigned big, uint64_t seed)
{
	struct intake *intake = facts_begin(NULL);
	uint64_t state = seed;

	put_masters(intake);
	for (unsigned i = 0; i < big; i++)
		put_one(intake, "BIG", i, &state);
	for (unsigned i = 0; i < 3; i++)
		put_one(intake, "SMALL", i, &state);
	ck_assert_int_eq(intake_seal(intake, NULL, NULL), ERR_OK);
	for (unsigned i = 0; i < big; i++)
		put_months(intake, "BIG", i, &state);
	for (unsigned i = 0; i < 3; i++)
		put_months(intake, "SMALL", i, &state);
	facts_put(intake, SERIES_SALES, "SMALL", "C000002", "001",
	    FACTS_MONTH - 40, NUM_MICRO);
	facts_end_series(intake);
	return facts_end(intake);
}

/* --- live ---------------------------------------------------------------- */

void
facts_gamme(const char *supplier, const char *codein, uint8_t gamme)
{
	struct live_change *change;

	change = hand_begin(facts);
	ck_assert_int_eq(
	    live_put_gamme(change, span_of(supplier), span_of(codein), gamme),
	    ERR_OK);
	hand_commit(change);
}

void
facts_network(const char *code, int64_t ca)
{
	struct network network = {.ca = ca,
	    .qte = NUM_MICRO,
	    .stores = 27,
	    .ca_per_store = NUM_NULL,
	    .margin = 250000,
	    .fetched_ms = 1000,
	    .months = 2,
	    .month = {FACTS_MONTH - 1, FACTS_MONTH},
	    .month_qte = {100 * NUM_MICRO, 120 * NUM_MICRO}};
	struct live_change *change;

	change = hand_begin(facts);
	ck_assert_int_eq(
	    live_put_network(change, span_of(code), &network), ERR_OK);
	hand_commit(change);
}

enum err
facts_compute(const char *supplier, struct compute_result *result)
{
	struct compute_options options = {
	    .threads = 1, .slots = 4, .wait = true, .as_of_day = DATE_NULL};

	return compute_supplier(result, facts, span_of(supplier), &options);
}

struct snapshot *
facts_snapshot(const char *supplier)
{
	struct catalog_entry entry;
	struct snapshot *snap;

	ck_assert_int_eq(
	    catalog_current(facts, span_of(supplier), &entry), ERR_OK);
	ck_assert_int_eq(
	    snapshot_open(&snap, facts, span_of(supplier), entry.generation),
	    ERR_OK);
	return snap;
}

bool
facts_lists(struct source *source, struct span supplier, struct span codein)
{
	bool lists;

	ck_assert_int_eq(
	    source_lists(&lists, source, supplier, codein), ERR_OK);
	return lists;
}

static enum err
drop_format(void *context, struct kv_txn *txn)
{
	return catalog_format_drop(txn, span_of(context));
}

void
facts_make_foreign(const char *supplier)
{
	struct snapshot *snap = facts_snapshot(supplier);
	const struct snap_head *head = snapshot_head(snap);
	size_t len = sizeof(*head) + head->name_len +
	    head->sections * sizeof(struct snap_section);
	struct snap_head *changed;
	char path[FS_PATH_MAX];
	struct buf file;

	ck_assert_int_eq(store_snapshot_path(path, facts, span_of(supplier),
			     head->generation, ""),
	    ERR_OK);
	buf_init(&file, (size_t)1 << 30);
	ck_assert_int_eq(fs_read(&file, path), ERR_OK);
	changed = memmem(file.data, file.len, head, sizeof(*head));
	ck_assert_ptr_nonnull(changed);
	changed->version = SNAP_VERSION - 1;
	changed->crc = 0;
	changed->crc = deflate_crc(0, changed, len);
	ck_assert_int_eq(fs_replace(path, buf_span(&file), 0640), ERR_OK);
	ck_assert_int_eq(store_write_local(facts, STORE_CATALOG, drop_format,
			     (void *)(uintptr_t)supplier),
	    ERR_OK);
	buf_fini(&file);
	snapshot_close(snap);
}
