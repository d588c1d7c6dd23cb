/*
 * kv against a model: random puts, appends, removals and walks in several
 * tables and transactions, some of them aborted. A transaction's earlier
 * look-ups and puts must never affect the result of a later step.
 */
#include <stdio.h>
#include <stdlib.h>

#include "common/kv/kv_ops.h"
#include "tests/common/kv/kv_help.h"
#include "tests/support/quiet.h"
#include "tests/support/random.h"
#include "tests/support/run.h"
#include "tests/support/scratch.h"

#define TABLES 2
#define KEYS 600
#define VALUE_MAX 3000 /* some lie on pages of their own */
#define STEPS 400 /* a transaction */
#define TRANSACTIONS 60

static const char *const names[TABLES] = {"one", "two"};

/*
 * The model: the size of each key's value, or -1 for none; its bytes are all
 * `fill`.
 */
struct held {
	int len;
	unsigned char fill;
};
struct model {
	struct held held[TABLES][KEYS];
};

static struct model model, before;
static char bytes[256][VALUE_MAX];

static unsigned
below(unsigned limit)
{
	return (unsigned)(random_bits() % limit);
}

/* Of different lengths, so that pages are split in many ways. */
static struct span
key_of(char text[64], unsigned key)
{
	int len = snprintf(text, 64, "%04u%.*s", key, (int)(key * 7 % 50),
	    "..................................................");

	return span_make(text, (size_t)len);
}

static void
check_one(struct kv_txn *txn, unsigned table, unsigned key)
{
	const struct held *held = &model.held[table][key];
	struct span got;
	char text[64];
	enum err err = kv_get(txn, table, key_of(text, key), &got);

	if (held->len < 0) {
		ck_assert_int_eq(err, ERR_NOT_FOUND);
		return;
	}
	ck_assert_int_eq(err, ERR_OK);
	ck_assert(
	    span_eq(got, span_make(bytes[held->fill], (size_t)held->len)));
}

static void
put_key(struct kv_txn *txn, unsigned table, unsigned key)
{
	struct held held = {(int)below(below(8) == 0 ? VALUE_MAX : 60),
	    (unsigned char)below(256)};
	char text[64];

	ck_assert_int_eq(kv_put(txn, table, key_of(text, key),
			     span_make(bytes[held.fill], (size_t)held.len)),
	    ERR_OK);
	model.held[table][key] = held;
}

static void
append_key(struct kv_txn *txn, unsigned table, unsigned key)
{
	bool last = true;
	char text[64];

	for (unsigned i = key; i < KEYS; i++)
		last = last && model.held[table][i].len < 0;
	ck_assert_int_eq(kv_append(txn, table, key_of(text, key), SPAN("")),
	    last ? ERR_OK : ERR_EXISTS);
	if (last)
		model.held[table][key] = (struct held){.len = 0};
}

static void
del_key(struct kv_txn *txn, unsigned table, unsigned key)
{
	char text[64];

	ck_assert_int_eq(kv_del(txn, table, key_of(text, key)),
	    model.held[table][key].len < 0 ? ERR_NOT_FOUND : ERR_OK);
	model.held[table][key].len = -1;
}

/* Puts some consecutive keys, and removes a few on the way. */
static void
run_of_keys(struct kv_txn *txn, unsigned table, unsigned key)
{
	for (unsigned i = 0; i < 20 && key + i < KEYS; i++) {
		check_one(txn, table, key + i);
		if (below(6) == 0)
			del_key(txn, table, key + i);
		else
			put_key(txn, table, key + i);
		check_one(txn, table, below(KEYS));
	}
}

/* Walks from `key` on, and removes some of the pairs. */
static void
walk_keys(struct kv_txn *txn, unsigned table, unsigned key)
{
	struct span name, value;
	struct kv_walk *walk;
	unsigned met = 0;
	char text[64];

	walk = kv_walk_begin(txn, table, SPAN(""), key_of(text, key));
	for (; key < KEYS && met < 10; key++) {
		if (model.held[table][key].len < 0)
			continue;
		met++;
		ck_assert_int_eq(kv_walk_next(walk, &name, &value), ERR_OK);
		ck_assert(span_eq(name, key_of(text, key)));
		if (below(3) != 0)
			continue;
		ck_assert_int_eq(kv_walk_del(walk), ERR_OK);
		model.held[table][key].len = -1;
		check_one(txn, table, below(KEYS));
	}
	kv_walk_end(walk);
}

static void
clear_table(struct kv_txn *txn, unsigned table, unsigned key)
{
	if (key % 40 != 0)
		return; /* seldom, or there is never much in it */
	ck_assert_int_eq(kv_clear(txn, table), ERR_OK);
	for (unsigned i = 0; i < KEYS; i++)
		model.held[table][i].len = -1;
}

/* Gets all that is committed, by kv_apply(); NULL: no copy is kept. */
static struct kv *copy;
static struct buf ops;

static void
copy_ops(void)
{
	struct kv_txn *txn;

	ck_assert_int_eq(kv_write(&txn, copy), ERR_OK);
	ck_assert_int_eq(kv_apply(txn, buf_span(&ops)), ERR_OK);
	ck_assert_int_eq(kv_commit(txn), ERR_OK);
}

static void
one_transaction(struct kv *kv)
{
	static void (*const steps[])(struct kv_txn *, unsigned, unsigned) = {
	    put_key, put_key, check_one, check_one, del_key, append_key,
	    run_of_keys, run_of_keys, walk_keys, clear_table};
	struct kv_txn *txn;

	before = model;
	ck_assert_int_eq(kv_write(&txn, kv), ERR_OK);
	if (copy != NULL)
		kv_keep_ops(txn, &ops);
	for (unsigned i = 0; i < STEPS; i++)
		steps[below(sizeof(steps) / sizeof(steps[0]))](
		    txn, below(TABLES), below(KEYS));
	if (below(4) == 0) {
		kv_abort(txn);
		model = before;
	} else {
		ck_assert_int_eq(kv_commit(txn), ERR_OK);
		if (copy != NULL)
			copy_ops();
	}
	buf_clear(&ops);
}

static struct kv *
open_tables(const char *name, enum kv_mode mode)
{
	struct kv_spec spec = spec_of(name, mode);
	struct kv *kv;

	spec.tables = names;
	spec.table_count = TABLES;
	ck_assert_int_eq(kv_open(&kv, &spec), ERR_OK);
	return kv;
}

static void
run_steps(struct kv *kv, struct kv *read)
{
	struct kv_txn *reader;

	for (unsigned i = 0; i < sizeof(bytes) / sizeof(bytes[0]); i++)
		memset(bytes[i], (int)i, VALUE_MAX);
	for (unsigned t = 0; t < TABLES; t++)
		for (unsigned i = 0; i < KEYS; i++)
			model.held[t][i].len = -1;
	ck_assert_int_eq(kv_read(&reader, read), ERR_OK);
	for (unsigned i = 0; i < TRANSACTIONS; i++) {
		one_transaction(kv);
		ck_assert_int_eq(kv_renew(reader), ERR_OK);
		for (unsigned look = 0; look < KEYS; look++)
			check_one(reader, below(TABLES), below(KEYS));
		for (unsigned key = 0; key < KEYS; key++)
			check_one(reader, i % TABLES, key);
	}
	kv_abort(reader);
}

START_TEST(every_step_finds_what_the_steps_before_left)
{
	struct kv *kv = open_tables("a.mdb", (enum kv_mode)_i);

	run_steps(kv, kv);
	kv_close(kv);
	ck_assert_int_eq(quiet_lines(), 0);
}
END_TEST

static uint32_t
some_sum(uint32_t sum, const void *from, size_t len)
{
	const unsigned char *at = from;

	for (size_t i = 0; i < len; i++)
		sum = sum * 31 + at[i];
	return sum;
}

/* _i: 1 keeps checksums in the first, 2 in its copy. */
START_TEST(a_copy_that_gets_all_ops_is_equal)
{
	struct kv *kv = open_tables("a.mdb", KV_SHARED_LAZY);

	copy = open_tables("b.mdb", KV_SHARED_LAZY);
	buf_init(&ops, (size_t)64 << 20);
	if (_i != 0)
		kv_keep_sums(_i == 1 ? kv : copy, some_sum);
	run_steps(kv, copy);
	buf_fini(&ops);
	kv_close(copy);
	kv_close(kv);
	copy = NULL;
	ck_assert_int_eq(quiet_lines(), 0);
}
END_TEST

Suite *
test_suite(void)
{
	Suite *suite = suite_create("kv_steps");
	TCase *tc = tcase_create("kv_steps");

	tcase_add_checked_fixture(tc, scratch_make, scratch_remove);
	tcase_add_checked_fixture(tc, quiet_begin, quiet_end);
	tcase_set_timeout(tc, 300);
	tcase_add_loop_test(tc, every_step_finds_what_the_steps_before_left,
	    KV_SHARED_LAZY, KV_BUILD + 1);
	tcase_add_loop_test(tc, a_copy_that_gets_all_ops_is_equal, 0, 3);
	suite_add_tcase(suite, tc);
	return suite;
}
