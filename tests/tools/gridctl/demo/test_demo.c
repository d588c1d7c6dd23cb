#include "tools/gridctl/demo/demo_run.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "common/arena.h"
#include "common/digest.h"
#include "common/fs.h"
#include "common/hex.h"
#include "common/num.h"
#include "common/opt.h"
#include "tests/support/run.h"
#include "tests/support/scratch.h"
#include "tools/gridctl/cmd.h"
#include "tools/gridctl/csv/csv.h"

#define COLUMNS 30 /* METRICS and 24 months of network.csv are the most */
#define METRICS 6
#define ARTICLES 320
#define SUPPLIERS 20
#define STORES 3

/* A file as a table of texts. */
struct table {
	struct arena *arena;
	size_t count;
	struct span (*rows)[COLUMNS];
};

static const char *const columns[DEMO_FILES][COLUMNS + 1] = {{"code", "nom"},
    {"magasin", "nom"}, {"code", "libelle"},
    {"fournisseur", "codein", "libelle1", "libelle2", "marque", "gtin",
	"reference", "codeCentrale", "code3", "pcb", "prixAchat", "prixVente",
	"tva", "gamme"},
    {"fournisseur", "codein", "magasin", "mois", "quantite", "ca", "marge"},
    {"fournisseur", "codein", "magasin", "mois", "stock"},
    {"fournisseur", "codein", "magasin", "mois", "quantite"},
    {"fournisseur", "codein", "magasin", "stock", "premiereVente",
	"derniereVente", "derniereReception"},
    {"codeCentrale", "caReseau", "qteReseau", "nbMagasinsReseau",
	"margePctReseau", "fetchedAt"},
    {"fournisseur", "codein", "gamme"}};

static struct table tables[DEMO_FILES];
static struct demo_totals totals;

static void
make(const char *folder, uint64_t seed, bool shuffle)
{
	struct demo_plan plan;

	ck_assert_int_eq(
	    demo_plan_make(&plan, seed, ARTICLES, SUPPLIERS, STORES, 0),
	    ERR_OK);
	ck_assert_int_eq(
	    demo_run(&totals, &plan, scratch_path(folder), shuffle), ERR_OK);
	demo_plan_fini(&plan);
}

static bool
is_month(struct span name)
{
	return name.len == 7;
}

static void
load(struct table *table, enum demo_file file)
{
	struct csv_spec spec = {.columns = columns[file], .extra = is_month};
	struct csv_faults faults = {0};
	struct csv_record record;
	char path[FS_PATH_MAX];
	struct csv *csv;

	while (columns[file][spec.count] != NULL)
		spec.count++;
	ck_assert_int_eq(
	    fs_path(path, "%s/a/%s", scratch_dir(), demo_file_names[file]),
	    ERR_OK);
	ck_assert_int_eq(csv_open(&csv, path, path, &spec, &faults), ERR_OK);
	table->arena = arena_new(1 << 28);
	table->rows = calloc(totals.rows[file], sizeof(*table->rows));
	ck_assert_ptr_nonnull(table->rows);
	for (table->count = 0; csv_next(csv, &record); table->count++) {
		ck_assert_uint_lt(table->count, totals.rows[file]);
		for (unsigned i = 0; i < spec.count + csv_extra_count(csv); i++)
			table->rows[table->count][i] =
			    arena_copy(table->arena, record.fields[i]);
	}
	ck_assert_int_eq(csv_end(csv), ERR_OK);
	ck_assert_uint_eq(table->count, totals.rows[file]);
	csv_close(csv);
}

static void
setup(void)
{
	scratch_make();
	make("a", 1, false);
	for (int i = 0; i < DEMO_FILES; i++)
		load(&tables[i], i);
}

static void
teardown(void)
{
	for (int i = 0; i < DEMO_FILES; i++) {
		arena_free(tables[i].arena);
		free(tables[i].rows);
	}
	scratch_remove();
}

/* How the first `keys` columns of two rows are ordered. */
static int
compare(const struct span *a, const struct span *b, unsigned keys)
{
	int order = 0;

	for (unsigned i = 0; i < keys && order == 0; i++)
		order = span_cmp(a[i], b[i]);
	return order;
}

/* The row with these keys, in a table that is sorted by them; or NULL. */
static const struct span *
find(const struct table *table, const struct span *key, unsigned keys)
{
	size_t low = 0, high = table->count, middle;
	int order;

	while (low < high) {
		middle = low + (high - low) / 2;
		order = compare(table->rows[middle], key, keys);
		if (order == 0)
			return table->rows[middle];
		if (order < 0)
			low = middle + 1;
		else
			high = middle;
	}
	return NULL;
}

/* In a table that need not be sorted. */
static bool
has(const struct table *table, struct span key)
{
	for (size_t i = 0; i < table->count; i++)
		if (span_eq(table->rows[i][0], key))
			return true;
	return false;
}

static unsigned
count_empty(enum demo_file file, unsigned column)
{
	unsigned count = 0;

	for (size_t i = 0; i < tables[file].count; i++)
		count += tables[file].rows[i][column].len == 0;
	return count;
}

static unsigned
count_articles(struct span supplier)
{
	const struct table *articles = &tables[DEMO_ARTICLES_CSV];
	unsigned count = 0;

	for (size_t i = 0; i < articles->count; i++)
		count += span_eq(articles->rows[i][0], supplier);
	return count;
}

/* --- order and references -------------------------------------------------*/

static const struct {
	enum demo_file file;
	unsigned keys;
} keyed[] = {{DEMO_SUPPLIERS_CSV, 1}, {DEMO_STORES_CSV, 1},
    {DEMO_ARTICLES_CSV, 2}, {DEMO_SALES_CSV, 4}, {DEMO_STOCK_CSV, 4},
    {DEMO_RECEPTIONS_CSV, 4}, {DEMO_POSITIONS_CSV, 3}, {DEMO_GAMMES_CSV, 2}};

START_TEST(rows_are_sorted_and_none_comes_twice)
{
	const struct table *table = &tables[keyed[_i].file];

	ck_assert_uint_gt(table->count, 1);
	for (size_t i = 1; i < table->count; i++)
		ck_assert_int_lt(
		    compare(table->rows[i - 1], table->rows[i], keyed[_i].keys),
		    0);
}
END_TEST

START_TEST(network_and_labels_come_once)
{
	const struct table *labels = &tables[DEMO_NOMENCLATURE_CSV];
	const struct table *network = &tables[DEMO_NETWORK_CSV];

	for (size_t i = 0; i < labels->count; i++)
		for (size_t j = 0; j < i; j++)
			ck_assert(
			    !span_eq(labels->rows[i][0], labels->rows[j][0]));
	for (size_t i = 0; i < network->count; i++)
		for (size_t j = 0; j < i; j++)
			ck_assert(
			    !span_eq(network->rows[i][0], network->rows[j][0]));
}
END_TEST

START_TEST(each_article_has_its_supplier_and_its_label)
{
	const struct table *articles = &tables[DEMO_ARTICLES_CSV];
	const struct span *row;

	for (size_t i = 0; i < articles->count; i++) {
		row = articles->rows[i];
		ck_assert_ptr_nonnull(
		    find(&tables[DEMO_SUPPLIERS_CSV], row, 1));
		ck_assert(row[8].len == 0 ||
		    has(&tables[DEMO_NOMENCLATURE_CSV], row[8]));
		ck_assert(
		    row[7].len == 0 || span_starts(row[7], SPAN("10000")));
	}
}
END_TEST

static const enum demo_file facts[] = {
    DEMO_SALES_CSV, DEMO_STOCK_CSV, DEMO_RECEPTIONS_CSV, DEMO_POSITIONS_CSV};

START_TEST(each_fact_has_its_article_and_its_store)
{
	const struct table *table = &tables[facts[_i]];

	for (size_t i = 0; i < table->count; i++) {
		ck_assert_ptr_nonnull(
		    find(&tables[DEMO_ARTICLES_CSV], table->rows[i], 2));
		ck_assert_ptr_nonnull(
		    find(&tables[DEMO_STORES_CSV], &table->rows[i][2], 1));
	}
}
END_TEST

START_TEST(gammes_are_those_of_the_articles)
{
	const struct table *gammes = &tables[DEMO_GAMMES_CSV];
	const struct span *article;

	for (size_t i = 0; i < gammes->count; i++) {
		article = find(&tables[DEMO_ARTICLES_CSV], gammes->rows[i], 2);
		ck_assert_ptr_nonnull(article);
		ck_assert(span_eq(article[13], gammes->rows[i][2]));
		ck_assert(article[13].len == 1 &&
		    strchr("ABCYZ", article[13].ptr[0]) != NULL);
	}
	ck_assert_uint_eq(gammes->count + count_empty(DEMO_ARTICLES_CSV, 13),
	    tables[DEMO_ARTICLES_CSV].count);
}
END_TEST

/* --- values ---------------------------------------------------------------*/

START_TEST(check_digits_of_ean_13_hold)
{
	const struct table *articles = &tables[DEMO_ARTICLES_CSV];
	struct span gtin;
	unsigned sum, j;

	for (size_t i = 0; i < articles->count; i++) {
		gtin = articles->rows[i][5];
		if (gtin.len == 0)
			continue;
		ck_assert_uint_eq(gtin.len, 13);
		for (sum = 0, j = 0; j < 13; j++)
			sum += (j % 2 == 0 ? 1 : 3) * (gtin.ptr[j] - '0');
		ck_assert_uint_eq(sum % 10, 0);
	}
}
END_TEST

static int64_t
amount(const struct span *row, unsigned column)
{
	int64_t micro = 0;

	if (row != NULL)
		ck_assert(num_decimal(&micro, row[column]));
	return micro;
}

/* Wherever two months in turn are told: before + received - sold = after. */
START_TEST(stock_follows_sales_and_receptions)
{
	const struct table *stock = &tables[DEMO_STOCK_CSV];
	const struct span *before, *after;
	unsigned compared = 0;

	for (size_t i = 1; i < stock->count; i++) {
		int64_t month_before, month_after;

		before = stock->rows[i - 1];
		after = stock->rows[i];
		ck_assert(num_int(&month_before, before[3], 0, 999912));
		ck_assert(num_int(&month_after, after[3], 0, 999912));
		if (compare(before, after, 3) != 0 ||
		    month_after != month_before + 1)
			continue;
		compared++;
		ck_assert_int_eq(amount(before, 4) +
			amount(
			    find(&tables[DEMO_RECEPTIONS_CSV], after, 4), 4) -
			amount(find(&tables[DEMO_SALES_CSV], after, 4), 4),
		    amount(after, 4));
		ck_assert_int_ge(amount(after, 4), 0);
	}
	ck_assert_uint_gt(compared, 1000);
}
END_TEST

START_TEST(stock_in_position_is_that_of_the_last_month)
{
	const struct table *stock = &tables[DEMO_STOCK_CSV];
	const struct span *position;
	unsigned compared = 0;

	for (size_t i = 0; i < stock->count; i++) {
		if (!span_eq(stock->rows[i][3], SPAN("202610")))
			continue;
		compared++;
		position = find(&tables[DEMO_POSITIONS_CSV], stock->rows[i], 3);
		ck_assert_int_eq(
		    amount(position, 3), amount(stock->rows[i], 4));
	}
	ck_assert_uint_gt(compared, 100);
}
END_TEST

/* The month of the last sale, unless there are only returns. */
START_TEST(last_sale_is_in_the_last_month_with_sales)
{
	const struct table *sales = &tables[DEMO_SALES_CSV];
	const struct span *row, *position, *last;

	for (size_t i = 0; i < sales->count; i++) {
		row = sales->rows[i];
		last = i + 1 < sales->count ? row + COLUMNS : NULL;
		if (amount(row, 4) < 0 ||
		    (last != NULL && compare(row, last, 3) == 0))
			continue;
		position = find(&tables[DEMO_POSITIONS_CSV], row, 3);
		ck_assert_ptr_nonnull(position);
		ck_assert_uint_eq(position[5].len, 10);
		ck_assert(memcmp(position[5].ptr, row[3].ptr, 4) == 0);
		ck_assert(memcmp(position[5].ptr + 5, row[3].ptr + 4, 2) == 0);
		ck_assert_int_le(span_cmp(position[4], position[5]), 0);
	}
}
END_TEST

/* --- what every set has ---------------------------------------------------*/

START_TEST(suppliers_have_their_sizes)
{
	const struct table *suppliers = &tables[DEMO_SUPPLIERS_CSV];
	unsigned small = 0;

	ck_assert_uint_eq(suppliers->count, SUPPLIERS);
	ck_assert_uint_eq(count_articles(SPAN("12345")), ARTICLES);
	ck_assert_uint_eq(count_articles(SPAN("00042")), ARTICLES / 10);
	ck_assert_uint_eq(count_articles(SPAN("90909")), 0);
	for (unsigned i = 0; i < suppliers->count; i++) {
		ck_assert_uint_eq(suppliers->rows[i][0].len, 5);
		small += count_articles(suppliers->rows[i][0]) <= ARTICLES / 4;
	}
	ck_assert_uint_ge(small, SUPPLIERS - 2);
}
END_TEST

START_TEST(standard_set_has_its_sizes)
{
	struct demo_plan plan;
	uint32_t size, small = 0;

	ck_assert_int_eq(demo_plan_make(&plan, 1, 130000, 400, 6, 0), ERR_OK);
	for (uint32_t i = 0; i < plan.supplier_count; i++) {
		size = plan.suppliers[i].own + plan.suppliers[i].shared;
		switch (plan.suppliers[i].number) {
		case 0:
			ck_assert_uint_eq(size, 130000);
			ck_assert_uint_eq(plan.largest, i);
			break;
		case 1:
			ck_assert_uint_gt(size, 10000);
			break;
		case 2:
			ck_assert(size >= 200 && size <= 500);
			break;
		case 3:
			ck_assert_uint_eq(size, 0);
			break;
		default:
			ck_assert(size >= 3 && size < 1000);
			small++;
		}
	}
	ck_assert_uint_eq(small, 396);
	demo_plan_fini(&plan);
}
END_TEST

START_TEST(a_total_is_reached_exactly)
{
	static const struct {
		uint32_t articles, suppliers, total;
		enum err err;
	} cases[] = {
	    {1000, 100, 8000, ERR_OK},
	    {1000, 100, 8001, ERR_OK},
	    {130000, 1000, 1000000, ERR_OK},
	    {1000, 5, 100000, ERR_OK},
	    {1000, 4, 100000, ERR_BAD_INPUT},
	    {1000, 100, 1000, ERR_BAD_INPUT},
	};
	struct demo_plan plan;

	for (unsigned i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		ck_assert_int_eq(demo_plan_make(&plan, 1, cases[i].articles,
				     cases[i].suppliers, 1, cases[i].total),
		    cases[i].err);
		if (cases[i].err == ERR_OK)
			ck_assert_uint_eq(plan.listing_count, cases[i].total);
		demo_plan_fini(&plan);
	}
}
END_TEST

START_TEST(smallest_set_can_be_made)
{
	struct demo_plan plan;

	for (uint32_t suppliers = 1; suppliers <= 6; suppliers++) {
		ck_assert_int_eq(
		    demo_plan_make(&plan, 7, 1, suppliers, 1, 0), ERR_OK);
		ck_assert_int_eq(
		    demo_run(&totals, &plan, scratch_path("b"), false), ERR_OK);
		ck_assert_uint_eq(
		    totals.rows[DEMO_ARTICLES_CSV], plan.listing_count);
		demo_plan_fini(&plan);
	}
}
END_TEST

START_TEST(some_articles_are_listed_at_several_suppliers)
{
	const struct table *articles = &tables[DEMO_ARTICLES_CSV];
	struct span key[2];
	const struct span *other;
	unsigned shared = 0, alike = 0;

	for (size_t i = 0; i < articles->count; i++) {
		key[0] = SPAN("12345");
		key[1] = articles->rows[i][1];
		other = find(articles, key, 2);
		if (other == NULL || other == articles->rows[i])
			continue;
		shared++;
		/* The same article at another supplier has terms of its own. */
		ck_assert(span_eq(articles->rows[i][2], other[2]));
		ck_assert(span_eq(articles->rows[i][7], other[7]));
		alike += span_eq(articles->rows[i][6], other[6]) ||
		    span_eq(articles->rows[i][10], other[10]);
	}
	ck_assert_uint_gt(shared, 10);
	ck_assert_uint_lt(alike * 4, shared);
}
END_TEST

START_TEST(some_things_are_missing)
{
	static const unsigned may_miss[] = {
	    3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13};
	const struct table *labels = &tables[DEMO_NOMENCLATURE_CSV];
	const struct table *articles = &tables[DEMO_ARTICLES_CSV];
	unsigned no_network = 0;
	struct span code;
	bool missing[5] = {false};

	for (size_t i = 0; i < sizeof(may_miss) / sizeof(may_miss[0]); i++)
		ck_assert_uint_gt(
		    count_empty(DEMO_ARTICLES_CSV, may_miss[i]), 0);
	for (size_t i = 0; i < labels->count; i++) {
		code = labels->rows[i][0];
		if (code.len != 6)
			continue;
		missing[2] |= !has(labels, span_sub(code, 0, 2));
		missing[4] |= !has(labels, span_sub(code, 0, 4));
	}
	ck_assert(missing[2] && missing[4]);
	for (size_t i = 0; i < articles->count; i++)
		no_network += articles->rows[i][7].len > 0 &&
		    !has(&tables[DEMO_NETWORK_CSV], articles->rows[i][7]);
	ck_assert_uint_gt(no_network, 10);
}
END_TEST

static unsigned
count_with(unsigned column, char byte)
{
	const struct table *articles = &tables[DEMO_ARTICLES_CSV];
	unsigned count = 0;

	for (size_t i = 0; i < articles->count; i++)
		count += span_find(articles->rows[i][column], byte) <
		    articles->rows[i][column].len;
	return count;
}

START_TEST(labels_have_what_people_paste)
{
	ck_assert_uint_gt(
	    count_with(2 + (unsigned)_i / 3, "\"\t\n"[_i % 3]), 0);
}
END_TEST

/* By article: the sales of the last twelve months, and those before. */
struct years {
	struct span supplier, codein;
	unsigned before, now;
};

static size_t
sales_by_article(struct years *years, size_t room)
{
	const struct table *sales = &tables[DEMO_SALES_CSV];
	size_t count = 0;

	for (size_t i = 0; i < sales->count; i++) {
		const struct span *row = sales->rows[i];
		struct years *of = &years[count > 0 ? count - 1 : 0];

		if (count == 0 || !span_eq(of->codein, row[1]) ||
		    !span_eq(of->supplier, row[0])) {
			ck_assert_uint_lt(count, room);
			of = &years[count++];
			*of = (struct years){row[0], row[1], 0, 0};
		}
		if (span_cmp(row[3], SPAN("202511")) < 0)
			of->before++;
		else
			of->now++;
	}
	return count;
}

/* The code of a supplier that was taken on a year ago. */
static void
new_supplier(char code[6])
{
	struct demo_plan plan;

	code[0] = '\0';
	ck_assert_int_eq(
	    demo_plan_make(&plan, 1, ARTICLES, SUPPLIERS, STORES, 0), ERR_OK);
	for (uint32_t i = 0; i < plan.supplier_count; i++)
		if (plan.suppliers[i].number == 7)
			memcpy(code, plan.suppliers[i].code, 6);
	demo_plan_fini(&plan);
	ck_assert_uint_eq(strlen(code), 5);
}

START_TEST(most_articles_have_sales_of_two_years)
{
	static struct years years[4000];
	size_t count = sales_by_article(years, 4000), both = 0, begun = 0;
	size_t of_new = 0;
	char new[6];

	new_supplier(new);
	for (size_t i = 0; i < count; i++) {
		both += years[i].before > 0 && years[i].now > 0;
		begun += years[i].before == 0;
		if (!span_eq(years[i].supplier, span_of(new)))
			continue;
		of_new++;
		ck_assert_uint_eq(years[i].before, 0);
	}
	ck_assert_uint_gt(of_new, 0);
	ck_assert_uint_gt(both * 100, count * 80);
	ck_assert_uint_gt(begun * 100, count * 2);
	ck_assert_uint_lt(begun * 100, count * 20);
}
END_TEST

/* How many months each product of the network has. */
START_TEST(series_are_longer_than_a_year_and_shorter)
{
	const struct table *network = &tables[DEMO_NETWORK_CSV];
	unsigned of[25] = {0}, gaps = 0, returned = 0;

	for (size_t i = 0; i < network->count; i++) {
		const struct span *row = network->rows[i];
		unsigned months = 0, first = 24;

		for (unsigned m = 0; m < 24; m++) {
			struct span text = row[METRICS + m];

			months += text.len > 0;
			if (text.len > 0 && first == 24)
				first = m;
			returned += span_starts(text, SPAN("-"));
		}
		of[months]++;
		gaps += months > 0 && months < 24 - first;
	}
	ck_assert_uint_gt(of[0], 0);
	ck_assert_uint_gt(of[13], network->count / 2);
	ck_assert_uint_gt(of[24], 10);
	ck_assert_uint_gt(gaps, 10);
	ck_assert_uint_gt(returned, 0);
	for (unsigned i = 1; i < 12; i++)
		of[12] += of[i];
	ck_assert_uint_gt(of[12], 10);
}
END_TEST

/* --- bytes ----------------------------------------------------------------*/

static void
digest_file(char hex[65], const char *folder, enum demo_file file, bool sorted)
{
	uint8_t digest[DIGEST_SHA256_LEN], sum[DIGEST_SHA256_LEN] = {0};
	char path[FS_PATH_MAX];
	struct span text, line;
	struct buf buf;

	buf_init(&buf, 1 << 28);
	ck_assert_int_eq(fs_path(path, "%s/%s/%s", scratch_dir(), folder,
			     demo_file_names[file]),
	    ERR_OK);
	ck_assert_int_eq(fs_read(&buf, path), ERR_OK);
	text = buf_span(&buf);
	digest_sha256(sum, text);
	if (sorted) /* the same for the same lines in any order */
		for (memset(sum, 0, 32); span_cut(&line, &text, '\n');) {
			digest_sha256(digest, line);
			for (int i = 0; i < DIGEST_SHA256_LEN; i++)
				sum[i] += digest[i];
		}
	hex_text(hex, sum, sizeof(sum));
	buf_fini(&buf);
}

static bool
same_bytes(enum demo_file file, const char *folder, bool sorted)
{
	char one[65], other[65];

	digest_file(one, "a", file, sorted);
	digest_file(other, folder, file, sorted);
	return strcmp(one, other) == 0;
}

START_TEST(same_seed_gives_the_same_bytes_and_another_does_not)
{
	make("b", 1, false);
	make("c", 2, false);
	for (int i = 0; i < DEMO_FILES; i++) {
		ck_assert(same_bytes(i, "b", false));
		ck_assert_int_eq(same_bytes(i, "c", false),
		    i == DEMO_STORES_CSV || i == DEMO_NOMENCLATURE_CSV);
	}
}
END_TEST

/* Should a change alter the bytes on purpose, these are to be changed too. */
START_TEST(bytes_are_those_of_any_other_machine)
{
	char hex[65];

	digest_file(hex, "a", DEMO_ARTICLES_CSV, false);
	ck_assert_str_eq(hex,
	    "9a100d476aeb11b3db5682ee089a24a6ec4b2043beb13f27cdf1285c5d610b3a");
	digest_file(hex, "a", DEMO_SALES_CSV, false);
	ck_assert_str_eq(hex,
	    "b028ca9ea4f2c497c5bfbafa3e7f63f204eeeb4d43dafade89991e8fc77c2332");
}
END_TEST

START_TEST(disorder_has_the_same_lines_and_a_seed_of_its_own)
{
	make("b", 1, true);
	for (int i = 0; i < DEMO_FILES; i++)
		ck_assert(same_bytes(i, "b", true));
	for (int i = 0; i < 4; i++)
		ck_assert(!same_bytes(facts[i], "b", false));
	ck_assert(same_bytes(DEMO_ARTICLES_CSV, "b", false));
}
END_TEST

/* --- the command ----------------------------------------------------------*/

/* The printed text is not examined. */
static int
run_command(const char *a, const char *b, const char *c)
{
	const char *words[] = {"demo", a, b, c};
	char texts[4][FS_PATH_MAX], *argv[5] = {NULL};
	int argc, code, out, err, none;

	for (argc = 0; argc < 4 && words[argc] != NULL; argc++) {
		ck_assert(
		    span_copy(texts[argc], FS_PATH_MAX, span_of(words[argc])));
		argv[argc] = texts[argc];
	}
	out = dup(STDOUT_FILENO);
	err = dup(STDERR_FILENO);
	none = open("/dev/null", O_WRONLY);
	fflush(stdout);
	dup2(none, STDOUT_FILENO);
	dup2(none, STDERR_FILENO);
	code = cmd_demo(argc, argv);
	fflush(stdout);
	dup2(out, STDOUT_FILENO);
	dup2(err, STDERR_FILENO);
	close(out);
	close(err);
	close(none);
	return code;
}

START_TEST(command_line_is_read_strictly)
{
	char out[FS_PATH_MAX];

	ck_assert_int_eq(fs_path(out, "--out=%s", scratch_path("d")), ERR_OK);
	ck_assert_int_eq(run_command(out, "--articles=5", "--suppliers=2"), 0);
	ck_assert_int_eq(run_command("--help", NULL, NULL), 0);
	ck_assert_int_eq(run_command("--articles=5", NULL, NULL), OPT_USAGE);
	ck_assert_int_eq(run_command(out, "--articles=0", NULL), OPT_USAGE);
	ck_assert_int_eq(run_command(out, "--stores=401", NULL), OPT_USAGE);
	ck_assert_int_eq(run_command(out, "more", NULL), OPT_USAGE);
}
END_TEST

START_TEST(folder_that_cannot_be_made_fails)
{
	char out[FS_PATH_MAX];

	scratch_text("file", "x");
	ck_assert_int_eq(
	    fs_path(out, "--out=%s/d", scratch_path("file")), ERR_OK);
	ck_assert_int_eq(run_command(out, "--articles=5", NULL), 1);
}
END_TEST

Suite *
test_suite(void)
{
	Suite *suite = suite_create("demo");
	TCase *tc = tcase_create("demo");

	tcase_add_checked_fixture(tc, setup, teardown);
	tcase_set_timeout(tc, 300);
	tcase_add_loop_test(tc, rows_are_sorted_and_none_comes_twice, 0,
	    sizeof(keyed) / sizeof(keyed[0]));
	tcase_add_test(tc, network_and_labels_come_once);
	tcase_add_test(tc, each_article_has_its_supplier_and_its_label);
	tcase_add_loop_test(tc, each_fact_has_its_article_and_its_store, 0,
	    sizeof(facts) / sizeof(facts[0]));
	tcase_add_test(tc, gammes_are_those_of_the_articles);
	tcase_add_test(tc, check_digits_of_ean_13_hold);
	tcase_add_test(tc, stock_follows_sales_and_receptions);
	tcase_add_test(tc, stock_in_position_is_that_of_the_last_month);
	tcase_add_test(tc, last_sale_is_in_the_last_month_with_sales);
	tcase_add_test(tc, suppliers_have_their_sizes);
	tcase_add_test(tc, standard_set_has_its_sizes);
	tcase_add_test(tc, a_total_is_reached_exactly);
	tcase_add_test(tc, smallest_set_can_be_made);
	tcase_add_test(tc, some_articles_are_listed_at_several_suppliers);
	tcase_add_test(tc, some_things_are_missing);
	tcase_add_loop_test(tc, labels_have_what_people_paste, 0, 6);
	tcase_add_test(tc, most_articles_have_sales_of_two_years);
	tcase_add_test(tc, series_are_longer_than_a_year_and_shorter);
	tcase_add_test(tc, same_seed_gives_the_same_bytes_and_another_does_not);
	tcase_add_test(tc, bytes_are_those_of_any_other_machine);
	tcase_add_test(tc, disorder_has_the_same_lines_and_a_seed_of_its_own);
	tcase_add_test(tc, command_line_is_read_strictly);
	tcase_add_test(tc, folder_that_cannot_be_made_fails);
	suite_add_tcase(suite, tc);
	return suite;
}
