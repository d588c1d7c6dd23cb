/* tests/lmdb-schema/state/test_trail_close.c: lmdb-schema/state/trail_close.h */
#include "lmdb-schema/state/trail_close.h"

#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#include "common/buf.h"
#include "common/date.h"
#include "common/fs.h"
#include "common/kv/kv.h"
#include "lmdb-schema/schema.h"
#include "lmdb-schema/state/trail.h"
#include "lmdb-schema/state/trail_parts.h"
#include "lmdb-schema/store/store.h"
#include "tests/lmdb-schema/mirror.h"
#include "tests/lmdb-schema/plain.h"
#include "tests/lmdb-schema/states.h"
#include "tests/support/quiet.h"
#include "tests/support/run.h"
#include "tests/support/scratch.h"

#define NEVER INT64_MAX
#define MOST TRAIL_PART_ENTRIES_MAX

/* --- kills ---------------------------------------------------------------- */

/* The step, counted from 1, at which this process is killed; 0: never. */
static unsigned kill_at, steps;

static void
step(void)
{
	if (++steps == kill_at)
		raise(SIGKILL);
}

enum err __real_fs_publish(const char *from, const char *to);
enum err __wrap_fs_publish(const char *from, const char *to);
enum err __real_trail_making_add(struct trail_making *making, struct span value,
    const struct audit_entry *entry);
enum err __wrap_trail_making_add(struct trail_making *making, struct span value,
    const struct audit_entry *entry);
enum err __real_trail_making_end(struct trail_making *making, enum err err);
enum err __wrap_trail_making_end(struct trail_making *making, enum err err);
enum err __real_store_write_local(struct store *store, enum store_env env,
    enum err (*work)(void *context, struct kv_txn *txn), void *context);
enum err __wrap_store_write_local(struct store *store, enum store_env env,
    enum err (*work)(void *context, struct kv_txn *txn), void *context);

enum err
__wrap_trail_making_add(struct trail_making *making, struct span value,
    const struct audit_entry *entry)
{
	if (entry->number % 500 == 1)
		step();
	return __real_trail_making_add(making, value, entry);
}

enum err
__wrap_trail_making_end(struct trail_making *making, enum err err)
{
	step();
	err = __real_trail_making_end(making, err);
	step();
	return err;
}

enum err
__wrap_fs_publish(const char *from, const char *to)
{
	enum err err = __real_fs_publish(from, to);

	step();
	return err;
}

enum err
__wrap_store_write_local(struct store *store, enum store_env env,
    enum err (*work)(void *context, struct kv_txn *txn), void *context)
{
	enum err err;

	step();
	err = __real_store_write_local(store, env, work, context);
	step();
	return err;
}

/* --- entries -------------------------------------------------------------- */

static enum err
add_line(void *context, const struct audit_entry *entry)
{
	buf_addf(context, "%llu %lld %.*s %.*s %.*s %.*s\n",
	    (unsigned long long)entry->number, (long long)entry->when_ms,
	    SPAN_ARG(entry->actor), SPAN_ARG(entry->supplier),
	    SPAN_ARG(entry->codein), SPAN_ARG(entry->motif));
	return ERR_OK;
}

/* The history of an article, each way, and a part of it. */
static void
add_history(struct buf *text, struct state_view *view, struct span supplier,
    struct span codein)
{
	struct trail_article article = {.supplier = supplier, .codein = codein};

	for (unsigned i = 0; i < 4; i++) {
		article.back = i % 2 != 0;
		article.from = i < 2 ? 0 : 300;
		article.to = i < 2 ? 0 : 1700;
		ck_assert_int_eq(
		    trail_history(view, &article, add_line, text), ERR_OK);
	}
}

/* All that is asked of a trail, as text. */
static char *
all_answers(void)
{
	struct state_view *view;
	struct audit_entry entry;
	struct buf text;
	uint64_t last;
	int64_t since_ms;

	buf_init(&text, (size_t)1 << 28);
	ck_assert_int_eq(state_view_open(&view, states), ERR_OK);
	ck_assert_int_eq(audit_each(view, 0, add_line, &text), ERR_OK);
	ck_assert_int_eq(trail_last(view, &last), ERR_OK);
	ck_assert_int_eq(
	    trail_each(view, NULL, last + 1, true, add_line, &text), ERR_OK);
	add_history(&text, view, SPAN("S2"), SPAN("A7"));
	add_history(&text, view, SPAN(""), SPAN("A11"));
	for (uint64_t i = 1; i <= last; i += 37) {
		ck_assert_int_eq(trail_get(view, i, &entry), ERR_OK);
		add_line(&text, &entry);
	}
	ck_assert_int_eq(trail_get(view, last + 1, &entry), ERR_NOT_FOUND);
	ck_assert_int_eq(trail_since(view, &since_ms), ERR_OK);
	buf_addf(&text, "%lld", (long long)since_ms);
	state_view_close(view);
	buf_add_char(&text, '\0');
	ck_assert_int_eq(buf_end(&text), ERR_OK);
	return text.data;
}

static uint64_t
left_in_table(void)
{
	struct kv_txn *txn;
	uint64_t count;

	ck_assert_int_eq(kv_read(&txn, store_state(states)), ERR_OK);
	ck_assert_int_eq(kv_count(txn, STATE_AUDIT, &count), ERR_OK);
	kv_abort(txn);
	return count;
}

/* Closes what is over; how many parts that made. */
static uint64_t
closes(uint32_t most)
{
	struct trail_closed closed;

	ck_assert_int_eq(trail_close(&closed, states, most, NEVER), ERR_OK);
	ck_assert_uint_ge(closed.removed, closed.entries);
	return closed.parts;
}

static struct trail_parts_row rows[64];
static unsigned row_count;

static enum err
keep_row(void *context, const struct trail_parts_row *row)
{
	(void)context;
	ck_assert_uint_lt(row_count, 64);
	rows[row_count++] = *row;
	return ERR_OK;
}

static void
list_rows(void)
{
	struct kv_txn *txn;

	row_count = 0;
	ck_assert_int_eq(kv_read(&txn, store_state(states)), ERR_OK);
	ck_assert_int_eq(trail_parts_each(txn, keep_row, NULL), ERR_OK);
	kv_abort(txn);
}

static void
make(void)
{
	states_make();
	mirror_drop();
}

/* --- closing -------------------------------------------------------------- */

START_TEST(months_that_are_over_are_read_as_before)
{
	char *before, *after;

	states_month(2026, 1, 2500);
	states_month(2026, 2, 700);
	states_month(2026, 3, 300);
	before = all_answers();
	ck_assert_uint_eq(closes(MOST), 2);
	ck_assert_uint_eq(left_in_table(), 300);
	after = all_answers();
	ck_assert_str_eq(before, after);
	list_rows();
	ck_assert_uint_eq(row_count, 2);
	ck_assert_uint_eq(rows[0].month, 2026 * 12);
	ck_assert_uint_eq(rows[0].last, 2500);
	ck_assert_uint_eq(rows[1].first, 2501);
	ck_assert_uint_eq(rows[1].last, 3200);
	ck_assert_int_eq(access(scratch_path("data/trail/"
					     "2026-02-00000000000009c5.part"),
			     R_OK),
	    0);
	ck_assert_uint_eq(closes(MOST), 0);
	free(before);
	free(after);
}
END_TEST

START_TEST(a_month_that_runs_stays_where_it_is)
{
	ck_assert_uint_eq(closes(MOST), 0);
	states_month(2026, 1, 1);
	ck_assert_uint_eq(closes(MOST), 0);
	states_month(2026, 1, 900);
	ck_assert_uint_eq(closes(MOST), 0);
	ck_assert_uint_eq(left_in_table(), 901);
	states_month(2026, 2, 1);
	ck_assert_uint_eq(closes(MOST), 1);
	ck_assert_uint_eq(left_in_table(), 1);
}
END_TEST

START_TEST(a_long_month_has_several_parts)
{
	char *before, *after;

	states_month(2026, 1, 2000);
	before = all_answers();
	ck_assert_uint_eq(closes(600), 3);
	ck_assert_uint_eq(left_in_table(), 200);
	after = all_answers();
	ck_assert_str_eq(before, after);
	states_month(2026, 2, 1);
	ck_assert_uint_eq(closes(600), 1);
	list_rows();
	ck_assert_uint_eq(row_count, 4);
	ck_assert_uint_eq(rows[3].first, 1801);
	ck_assert_uint_eq(rows[3].last, 2000);
	free(before);
	free(after);
}
END_TEST

/* Clocks of two nodes about midnight, and one that was years ahead. */
START_TEST(a_wrong_clock_neither_stops_the_closing_nor_scatters_it)
{
	char *before, *after;

	states_month(2026, 1, 10);
	states_month(2026, 2, 5);
	states_month(2026, 1, 3);
	states_month(2026, 2, 5);
	states_month(2099, 7, 2);
	states_month(2026, 3, 10);
	states_month(2026, 4, 1);
	before = all_answers();
	closes(MOST);
	after = all_answers();
	ck_assert_str_eq(before, after);
	list_rows();
	ck_assert_uint_eq(row_count, 4);
	ck_assert_uint_eq(rows[0].last, 10);
	ck_assert_uint_eq(rows[1].last, 23);
	ck_assert_uint_eq(rows[2].last, 25);
	ck_assert_uint_eq(rows[3].last, 35);
	free(before);
	free(after);
}
END_TEST

START_TEST(an_entry_that_cannot_be_read_stays_with_what_follows)
{
	struct trail_closed closed;
	struct kv_txn *txn;

	states_month(2026, 1, 50);
	states_month(2026, 2, 50);
	states_month(2026, 3, 1);
	ck_assert_int_eq(kv_write(&txn, store_state(states)), ERR_OK);
	ck_assert_int_eq(
	    kv_put(txn, STATE_AUDIT, SPAN("\0\0\0\0\0\0\0\x46"), SPAN("\xff")),
	    ERR_OK);
	ck_assert_int_eq(kv_commit(txn), ERR_OK);
	ck_assert_int_eq(
	    trail_close(&closed, states, MOST, NEVER), ERR_DAMAGED);
	ck_assert_uint_eq(closed.parts, 1);
	ck_assert_uint_eq(left_in_table(), 51);
}
END_TEST

START_TEST(an_older_program_refuses_a_state_with_parts)
{
	struct kv_txn *txn;
	struct span value;
	const char version = SCHEMA_STATE_PARTS;

	states_month(2026, 1, 50);
	states_month(2026, 2, 1);
	ck_assert_uint_eq(closes(MOST), 1);
	ck_assert_int_eq(kv_read(&txn, store_state(states)), ERR_OK);
	ck_assert_int_eq(
	    kv_get(txn, STATE_META, SPAN("schema"), &value), ERR_OK);
	ck_assert_uint_eq(value.len, 4);
	ck_assert_int_eq(value.ptr[0], version);
	kv_abort(txn);
	states_close();
	states_open();
	ck_assert_uint_eq(left_in_table(), 1);
}
END_TEST

START_TEST(a_state_without_checksums_stays_as_it_is)
{
	states_month(2026, 1, 50);
	states_month(2026, 2, 1);
	states_close();
	ck_assert_int_eq(plain_make(2, scratch_path("data")), ERR_OK);
	states_open();
	ck_assert_uint_eq(closes(MOST), 0);
	ck_assert_uint_eq(left_in_table(), 51);
}
END_TEST

/* --- kills ---------------------------------------------------------------- */

static void
fill(void)
{
	states_month(2026, 1, 1300);
	states_month(2026, 2, 700);
	states_month(2026, 3, 20);
}

/* Closes in a process that is killed at a step; true when it was. */
static bool
close_killed(unsigned at)
{
	struct trail_closed closed;
	int status;
	pid_t pid;

	states_close();
	pid = fork();
	ck_assert_int_ge(pid, 0);
	if (pid == 0) {
		struct fault fault;

		kill_at = at;
		steps = 0;
		fault_clear(&fault);
		if (store_open(&states, scratch_path("data"), &fault) != ERR_OK)
			_exit(3);
		_exit(
		    trail_close(&closed, states, 600, NEVER) == ERR_OK ? 0 : 4);
	}
	ck_assert_int_eq(waitpid(pid, &status, 0), pid);
	states_open();
	ck_assert(WIFSIGNALED(status) || WEXITSTATUS(status) == 0);
	return WIFSIGNALED(status);
}

START_TEST(a_kill_at_any_step_loses_nothing)
{
	unsigned at = 0, killed = 0;
	bool more = true;

	while (more) {
		char *before, *between, *after;

		if (at > 0)
			make();
		fill();
		before = all_answers();
		more = close_killed(++at);
		killed += more;
		between = all_answers();
		ck_assert_str_eq(before, between);
		closes(600);
		after = all_answers();
		ck_assert_str_eq(before, after);
		ck_assert_uint_eq(left_in_table(), 20);
		free(before);
		free(between);
		free(after);
		if (more)
			states_remove();
	}
	/* Four parts, with at least six steps each. */
	ck_assert_uint_ge(killed, 24);
}
END_TEST

START_TEST(closing_goes_on_where_time_had_ended)
{
	struct trail_closed closed;
	char *before, *after;
	unsigned rounds = 0;

	fill();
	before = all_answers();
	do {
		ck_assert_int_eq(
		    trail_close(&closed, states, 600, date_monotonic_ns() + 1),
		    ERR_OK);
		after = all_answers();
		ck_assert_str_eq(before, after);
		free(after);
	} while (left_in_table() > 20 && ++rounds < 1000);
	ck_assert_uint_eq(left_in_table(), 20);
	free(before);
}
END_TEST

/* --- damage --------------------------------------------------------------- */

static enum err
get(uint64_t number)
{
	struct audit_entry entry;
	struct state_view *view;
	enum err err;

	ck_assert_int_eq(state_view_open(&view, states), ERR_OK);
	err = trail_get(view, number, &entry);
	state_view_close(view);
	return err;
}

static const char *
path_of(unsigned row)
{
	static char path[FS_PATH_MAX];

	list_rows();
	ck_assert_uint_lt(row, row_count);
	ck_assert_int_eq(trail_parts_path(path, states, rows[row].month,
			     rows[row].first, ""),
	    ERR_OK);
	return path;
}

START_TEST(a_damaged_or_missing_part_is_told_and_the_others_are_read)
{
	const char zeros[64] = {0};
	struct trail_part_head head;
	int fd;

	fill();
	closes(MOST);
	ck_assert_int_eq(get(5), ERR_OK);
	fd = open(path_of(0), O_RDWR);
	ck_assert_int_ge(fd, 0);
	ck_assert_int_eq(pread(fd, &head, sizeof(head), 0), sizeof(head));
	ck_assert_int_eq(pwrite(fd, zeros, 64, (off_t)head.section[0].at), 64);
	close(fd);
	ck_assert_int_eq(get(5), ERR_DAMAGED);
	ck_assert_int_eq(get(1500), ERR_OK);
	ck_assert_int_eq(get(2005), ERR_OK);
	ck_assert_int_eq(unlink(path_of(1)), 0);
	ck_assert_int_eq(get(1500), ERR_DAMAGED);
	ck_assert_int_eq(get(2005), ERR_OK);
}
END_TEST

static enum err
put_away(void *context, struct kv_txn *txn)
{
	return trail_parts_put(txn, context);
}

START_TEST(a_part_in_an_archive_is_no_damage)
{
	struct trail_parts_row row;
	struct state_view *view;
	struct buf text;
	int64_t since_ms;

	fill();
	closes(MOST);
	ck_assert_int_eq(unlink(path_of(0)), 0);
	row = rows[0];
	row.away = true;
	ck_assert_int_eq(
	    store_write_local(states, STORE_STATE, put_away, &row), ERR_OK);
	ck_assert_int_eq(get(5), ERR_NOT_FOUND);
	ck_assert_int_eq(get(1301), ERR_OK);
	buf_init(&text, (size_t)1 << 24);
	ck_assert_int_eq(state_view_open(&view, states), ERR_OK);
	ck_assert_int_eq(trail_since(view, &since_ms), ERR_OK);
	ck_assert_int_eq(since_ms, rows[1].oldest_ms);
	add_history(&text, view, SPAN("S2"), SPAN("A7"));
	ck_assert_uint_gt(text.len, 0);
	state_view_close(view);
	buf_fini(&text);
}
END_TEST

Suite *
test_suite(void)
{
	Suite *suite = suite_create("trail_close");
	TCase *tc = tcase_create("trail_close");

	tcase_add_checked_fixture(tc, make, states_remove);
	tcase_add_checked_fixture(tc, quiet_begin, quiet_end);
	tcase_set_timeout(tc, 300);
	tcase_add_test(tc, months_that_are_over_are_read_as_before);
	tcase_add_test(tc, a_month_that_runs_stays_where_it_is);
	tcase_add_test(tc, a_long_month_has_several_parts);
	tcase_add_test(
	    tc, a_wrong_clock_neither_stops_the_closing_nor_scatters_it);
	tcase_add_test(
	    tc, an_entry_that_cannot_be_read_stays_with_what_follows);
	tcase_add_test(tc, an_older_program_refuses_a_state_with_parts);
	tcase_add_test(tc, a_state_without_checksums_stays_as_it_is);
	tcase_add_test(tc, a_kill_at_any_step_loses_nothing);
	tcase_add_test(tc, closing_goes_on_where_time_had_ended);
	tcase_add_test(
	    tc, a_damaged_or_missing_part_is_told_and_the_others_are_read);
	tcase_add_test(tc, a_part_in_an_archive_is_no_damage);
	suite_add_tcase(suite, tc);
	return suite;
}
