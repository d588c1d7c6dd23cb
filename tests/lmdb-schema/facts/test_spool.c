#include "lmdb-schema/facts/spool.h"

#include "lmdb-schema/sorter.h"
#include "tests/support/limit.h"
#include "tests/support/quiet.h"
#include "tests/support/random.h"
#include "tests/support/run.h"
#include "tests/support/scratch.h"

#define ARTICLES 50

static struct spool *spool;
static struct spool_reader *in_order;
static struct sorter_budget budget;

static void
make(void)
{
	scratch_make();
	budget = (struct sorter_budget){.limit = 1 << 20};
	ck_assert_int_eq(
	    spool_new(&spool, SERIES_STOCK, scratch_dir(), &budget), ERR_OK);
}

static void
drop(void)
{
	spool_read_end(in_order);
	in_order = NULL;
	spool_free(spool);
	spool = NULL;
	scratch_remove();
}

static void
put(uint32_t article, uint16_t store, int32_t month, int64_t value)
{
	struct series_record record = {store, month, {value}};

	ck_assert_int_eq(spool_put(spool, article, &record), ERR_OK);
}

static unsigned
parts_of(uint32_t article, const struct span **parts)
{
	unsigned count;

	if (in_order == NULL)
		ck_assert_int_eq(spool_read_begin(&in_order, spool, 0), ERR_OK);
	ck_assert_int_eq(spool_read(in_order, article, parts, &count), ERR_OK);
	return count;
}

static unsigned
records_in(struct span part)
{
	struct series_reader reader;
	struct series_record record;
	unsigned count = 0;

	series_open(&reader, SERIES_STOCK, part);
	while (series_next(&reader, &record))
		count++;
	ck_assert(!series_bad(&reader));
	return count;
}

START_TEST(lines_in_order_become_one_series)
{
	const struct span *parts;

	put(0, 1, 24000, 5);
	put(0, 1, 24001, 6);
	put(0, 2, 24000, 7);
	put(1, 0, 24000, 8);
	ck_assert_int_eq(spool_seal(spool), ERR_OK);
	ck_assert_uint_eq(parts_of(0, &parts), 1);
	ck_assert_uint_eq(records_in(parts[0]), 3);
	ck_assert_uint_eq(parts_of(1, &parts), 1);
	ck_assert_uint_eq(records_in(parts[0]), 1);
	ck_assert_uint_eq(spool_records(spool), 4);
}
END_TEST

START_TEST(a_step_back_begins_another_series)
{
	const struct span *parts;

	put(3, 1, 24001, 1);
	put(3, 1, 24000, 2); /* back in time */
	put(4, 1, 24000, 3);
	put(3, 1, 24002, 4); /* back to an article */
	ck_assert_int_eq(spool_seal(spool), ERR_OK);
	ck_assert_uint_eq(parts_of(3, &parts), 3);
	for (unsigned i = 0; i < 3; i++)
		ck_assert_uint_eq(records_in(parts[i]), 1);
}
END_TEST

START_TEST(an_article_may_be_asked_for_again)
{
	const struct span *parts;

	put(0, 0, 24001, 1);
	put(0, 0, 24000, 1);
	put(1, 0, 23999, 1);
	ck_assert_int_eq(spool_seal(spool), ERR_OK);
	ck_assert_uint_eq(parts_of(0, &parts), 2);
	ck_assert_uint_eq(parts_of(0, &parts), 2);
	ck_assert_uint_eq(parts_of(1, &parts), 1);
}
END_TEST

START_TEST(an_article_without_lines_has_no_part)
{
	const struct span *parts;

	put(5, 0, 24000, 1);
	ck_assert_int_eq(spool_seal(spool), ERR_OK);
	ck_assert_uint_eq(parts_of(4, &parts), 0);
	ck_assert_uint_eq(parts_of(6, &parts), 0);
	ck_assert_uint_eq(parts_of(4000000, &parts), 0);
}
END_TEST

START_TEST(an_empty_spool_seals)
{
	const struct span *parts;

	ck_assert_int_eq(spool_seal(spool), ERR_OK);
	ck_assert_uint_eq(parts_of(0, &parts), 0);
	ck_assert_uint_eq(spool_records(spool), 0);
}
END_TEST

/* Any order, and more than fits the buffer: each article's sum must stay. */
START_TEST(lines_in_any_order_are_all_there)
{
	const struct span *parts;
	int64_t sums[ARTICLES] = {0};

	for (unsigned i = 0; i < 60000; i++) {
		uint32_t article = (uint32_t)(random_bits() % ARTICLES);
		int64_t value = (int64_t)(random_bits() % 1000);

		put(article, (uint16_t)(random_bits() % 9),
		    24000 + (int32_t)(random_bits() % 12), value);
		sums[article] += value;
	}
	ck_assert_int_eq(spool_seal(spool), ERR_OK);
	for (uint32_t article = 0; article < ARTICLES; article++) {
		unsigned count = parts_of(article, &parts);

		for (unsigned i = 0; i < count; i++) {
			struct series_reader reader;
			struct series_record record;

			series_open(&reader, SERIES_STOCK, parts[i]);
			while (series_next(&reader, &record))
				sums[article] -= record.value[0];
		}
		ck_assert_int_eq(sums[article], 0);
	}
}
END_TEST

START_TEST(many_megabytes_go_through_the_file)
{
	const struct span *parts;

	for (uint32_t article = 0; article < 30000; article++)
		for (uint16_t store = 0; store < 24; store++)
			put(article, store, 24000,
			    (int64_t)article * 1000003 + store);
	ck_assert_int_eq(spool_seal(spool), ERR_OK);
	for (uint32_t article = 0; article < 30000; article += 997) {
		ck_assert_uint_eq(parts_of(article, &parts), 1);
		ck_assert_uint_eq(records_in(parts[0]), 24);
	}
}
END_TEST

/* As the shares of an import are written side by side. */
START_TEST(readers_begin_at_any_article)
{
	struct spool_reader *readers[ARTICLES];
	const struct span *parts;
	unsigned count;

	for (uint32_t article = 0; article < ARTICLES; article += 2)
		for (uint16_t store = 0; store < 3000; store++)
			put(article, store, 24000, 1000000007 * (int64_t)store);
	ck_assert_int_eq(spool_seal(spool), ERR_OK);
	for (uint32_t i = 0; i < ARTICLES; i++)
		ck_assert_int_eq(
		    spool_read_begin(&readers[i], spool, i), ERR_OK);
	for (uint32_t article = 0; article < ARTICLES; article++)
		for (uint32_t i = 0; i <= article; i++) {
			ck_assert_int_eq(
			    spool_read(readers[i], article, &parts, &count),
			    ERR_OK);
			ck_assert_uint_eq(count, article % 2 == 0);
			if (count > 0)
				ck_assert_uint_eq(records_in(parts[0]), 3000);
		}
	for (uint32_t i = 0; i < ARTICLES; i++)
		spool_read_end(readers[i]);
	spool_read_end(NULL);
}
END_TEST

START_TEST(a_full_disk_is_told)
{
	enum err err = ERR_OK;

	quiet_begin();
	limit_files(1 << 20);
	for (uint32_t article = 0; article < 400000 && err == ERR_OK;
	     article++) {
		struct series_record record = {1, 24000, {article * 77777}};

		err = spool_put(spool, article, &record);
	}
	if (err == ERR_OK)
		err = spool_seal(spool);
	limit_end();
	quiet_end();
	ck_assert_int_eq(err, ERR_NO_SPACE);
}
END_TEST

/* The folder is needed once the memory is full. */
START_TEST(a_folder_that_is_not_there_is_told)
{
	struct sorter_budget little = {.limit = 1};
	struct spool *other;
	enum err err = ERR_OK;

	quiet_begin();
	ck_assert_int_eq(
	    spool_new(&other, SERIES_STOCK, scratch_path("none"), &little),
	    ERR_OK);
	for (uint32_t article = 0; article < 9 && err == ERR_OK; article++) {
		struct series_record record = {1, 24000, {1}};

		err = spool_put(other, article, &record);
	}
	quiet_end();
	ck_assert_int_eq(err, ERR_NOT_FOUND);
	spool_free(other);
	spool_free(NULL);
}
END_TEST

Suite *
test_suite(void)
{
	Suite *suite = suite_create("spool");
	TCase *tc = tcase_create("spool");

	tcase_add_checked_fixture(tc, make, drop);
	tcase_add_test(tc, lines_in_order_become_one_series);
	tcase_add_test(tc, a_step_back_begins_another_series);
	tcase_add_test(tc, an_article_may_be_asked_for_again);
	tcase_add_test(tc, an_article_without_lines_has_no_part);
	tcase_add_test(tc, an_empty_spool_seals);
	tcase_add_test(tc, lines_in_any_order_are_all_there);
	tcase_add_test(tc, many_megabytes_go_through_the_file);
	tcase_add_test(tc, readers_begin_at_any_article);
	tcase_add_test(tc, a_full_disk_is_told);
	tcase_add_test(tc, a_folder_that_is_not_there_is_told);
	suite_add_tcase(suite, tc);
	return suite;
}
