/*
 * Whether a log has what a node has: two nodes, each with entries of its own, are
 * compared with the log of the first one.
 */
#include "lmdb-schema/upkeep/standing.h"

#include <check.h>
#include <stdio.h>
#include <string.h>

#include "lmdb-schema/store/engine.h"
#include "lmdb-schema/store/store.h"
#include "lmdb-schema/store/write_log.h"
#include "tests/lmdb-schema/store/letters.h"
#include "tests/support/run.h"
#include "tests/support/scratch.h"

#define ENTRIES 4
#define ENTRY_MAX 1024

/* Of both nodes, where each was behind its entries, from 0 on. */
static struct {
	char bytes[ENTRIES][ENTRY_MAX];
	size_t len[ENTRIES];
	struct write_log_place places[ENTRIES + 1];
} logs[2];
static unsigned writer; /* whose log an append is of */
static uint64_t head, first; /* of the first one's, and what is not trimmed */
static char epoch[ENGINE_EPOCH_TEXT_MAX];

static enum err
append(struct engine *own, enum store_env log, uint64_t after,
    struct span chain, struct span id, struct span entry)
{
	(void)own, (void)log, (void)chain, (void)id;
	ck_assert_uint_lt(after, ENTRIES);
	ck_assert_uint_le(entry.len, ENTRY_MAX);
	memcpy(logs[writer].bytes[after], entry.ptr, entry.len);
	logs[writer].len[after] = entry.len;
	return ERR_OK;
}

static enum err
read_log(struct engine *own, enum store_env log, uint64_t after,
    enum err (*each)(void *context, uint64_t number, struct span entry),
    void *context)
{
	enum err err = ERR_OK;

	(void)own, (void)log;
	if (after < head && after + 1 < first)
		return ERR_NOT_FOUND;
	for (uint64_t i = after; i < head && err == ERR_OK; i++)
		err = each(context, i + 1,
		    span_make(logs[0].bytes[i], logs[0].len[i]));
	return err;
}

static enum err
get_heads(struct engine *own, bool sure, uint64_t heads[STORE_ENVS])
{
	(void)own;
	ck_assert(sure);
	memset(heads, 0, STORE_ENVS * sizeof(heads[0]));
	heads[STORE_STATE] = head;
	return ERR_OK;
}

static enum err
get_epoch(struct engine *own, struct buf *text)
{
	(void)own;
	buf_add_span(text, span_of(epoch));
	return buf_end(text);
}

static struct engine engine = {.title = "a list",
    .append = append,
    .read = read_log,
    .heads = get_heads,
    .epoch = get_epoch};

static void
write_letters(unsigned which, const char *dir)
{
	struct store *store;
	struct fault fault;

	fault_clear(&fault);
	writer = which;
	ck_assert_int_eq(store_create(scratch_path(dir), &fault), ERR_OK);
	ck_assert_int_eq(store_open(&store, scratch_path(dir), &fault), ERR_OK);
	store_share(store, &engine);
	for (unsigned i = 0; i <= ENTRIES; i++) {
		char letter = (char)('a' + which);

		ck_assert_int_eq(write_log_place_of(&logs[which].places[i],
				     store_state(store)),
		    ERR_OK);
		if (i < ENTRIES)
			ck_assert_int_eq(store_write(store, STORE_STATE,
					     letters_add, &letter),
			    ERR_OK);
	}
	store_close(store);
}

static void
begin(void)
{
	scratch_make();
	write_letters(0, "a");
	write_letters(1, "b");
	head = ENTRIES;
	first = 1;
	epoch[0] = '\0';
}

static enum err
standing(unsigned which, unsigned number)
{
	return standing_of(&engine, &logs[which].places[number]);
}

START_TEST(a_log_has_what_it_goes_on_from)
{
	for (unsigned i = 0; i <= ENTRIES; i++)
		ck_assert_int_eq(standing(0, i), ERR_OK);
	for (unsigned i = 1; i <= ENTRIES; i++)
		ck_assert_int_eq(standing(1, i), ERR_FORKED);
	head = ENTRIES - 1;
	ck_assert_int_eq(standing(0, ENTRIES), ERR_FORKED);
	ck_assert_int_eq(standing(0, ENTRIES - 1), ERR_OK);
	head = 0;
	ck_assert_int_eq(standing(0, 0), ERR_OK);
	ck_assert_int_eq(standing(0, 1), ERR_FORKED);
}
END_TEST

START_TEST(what_is_trimmed_or_has_ended_is_missed)
{
	first = 3;
	ck_assert_int_eq(standing(0, 1), ERR_OUTRUN);
	ck_assert_int_eq(standing(0, 2), ERR_OK);
	head = ENGINE_ENDED;
	ck_assert_int_eq(standing(0, ENTRIES), ERR_OUTRUN);
}
END_TEST

/* The log has no entry of the number that it begins at. */
START_TEST(a_log_of_a_later_epoch_is_compared_by_its_text)
{
	struct buf text;

	buf_init(&text, sizeof(epoch));
	standing_epoch_text(&text, 2, &logs[0].places[ENTRIES]);
	snprintf(epoch, sizeof(epoch), "%.*s", SPAN_ARG(buf_span(&text)));
	buf_fini(&text);
	first = ENTRIES + 1;
	ck_assert_int_eq(standing(0, ENTRIES), ERR_OK);
	ck_assert_int_ne(standing(1, ENTRIES), ERR_OK);
}
END_TEST

START_TEST(an_entry_of_a_later_version_is_believed)
{
	logs[0].bytes[1][0]++;
	ck_assert_int_eq(standing(0, 1), ERR_OK);
	ck_assert_int_eq(standing(0, 2), ERR_OK);
}
END_TEST

Suite *
test_suite(void)
{
	Suite *suite = suite_create("standing");
	TCase *tc = tcase_create("standing");

	tcase_add_checked_fixture(tc, begin, scratch_remove);
	tcase_add_test(tc, a_log_has_what_it_goes_on_from);
	tcase_add_test(tc, what_is_trimmed_or_has_ended_is_missed);
	tcase_add_test(tc, a_log_of_a_later_epoch_is_compared_by_its_text);
	tcase_add_test(tc, an_entry_of_a_later_version_is_believed);
	suite_add_tcase(suite, tc);
	return suite;
}
