/* tests/lmdb-schema/test_zstd.c: lmdb-schema/zstd.h */
#include "lmdb-schema/zstd.h"

#include <pthread.h>
#include <stdatomic.h>
#include <zstd.h>

#include "tests/support/random.h"
#include "tests/support/run.h"

#define TEXT_LEN 4096u

/* --wrap: what is made is counted. */
ZSTD_DCtx *__real_ZSTD_createDCtx(void);
ZSTD_DCtx *__wrap_ZSTD_createDCtx(void);
static atomic_uint made;

ZSTD_DCtx *
__wrap_ZSTD_createDCtx(void)
{
	atomic_fetch_add(&made, 1);
	return __real_ZSTD_createDCtx();
}

static struct buf text, packed, plain;

static void
make(void)
{
	buf_init(&text, 1 << 20);
	buf_init(&packed, 1 << 20);
	buf_init(&plain, 1 << 20);
	while (text.len < TEXT_LEN)
		buf_add_char(&text, (char)('a' + random_bits() % 7));
	zstd_pack(NULL, &packed, buf_span(&text));
	ck_assert_int_eq(buf_end(&packed), ERR_OK);
}

static void
drop(void)
{
	buf_fini(&text);
	buf_fini(&packed);
	buf_fini(&plain);
}

static void
must_unpack(void)
{
	buf_clear(&plain);
	ck_assert_int_eq(
	    zstd_unpack(&plain, buf_span(&packed), TEXT_LEN), ERR_OK);
	ck_assert(span_eq(buf_span(&plain), buf_span(&text)));
}

/* Each cut, and the length that is not the text's; the next frame comes whole. */
START_TEST(all_but_a_frame_is_refused)
{
	for (size_t len = 0; len < packed.len; len++)
		ck_assert_int_eq(
		    zstd_unpack(
			&plain, span_sub(buf_span(&packed), 0, len), TEXT_LEN),
		    ERR_BAD_INPUT);
	ck_assert_int_eq(zstd_unpack(&plain, buf_span(&packed), TEXT_LEN - 1),
	    ERR_BAD_INPUT);
	ck_assert_int_eq(zstd_unpack(&plain, buf_span(&packed), TEXT_LEN + 1),
	    ERR_BAD_INPUT);
	ck_assert_uint_eq(plain.len, 0);
	must_unpack();
}
END_TEST

static void *
unpack_some(void *context)
{
	struct buf own;

	(void)context;
	buf_init(&own, 1 << 20);
	for (unsigned i = 0; i < 20; i++) {
		buf_clear(&own);
		ck_assert_int_eq(
		    zstd_unpack(&own, buf_span(&packed), TEXT_LEN), ERR_OK);
		ck_assert(span_eq(buf_span(&own), buf_span(&text)));
	}
	buf_fini(&own);
	return NULL;
}

START_TEST(a_thread_makes_one_context)
{
	pthread_t threads[3];
	unsigned before;

	must_unpack();
	before = atomic_load(&made);
	for (unsigned i = 0; i < 20; i++)
		must_unpack();
	ck_assert_uint_eq(atomic_load(&made), before);
	for (unsigned i = 0; i < 3; i++)
		ck_assert_int_eq(
		    pthread_create(&threads[i], NULL, unpack_some, NULL), 0);
	for (unsigned i = 0; i < 3; i++)
		ck_assert_int_eq(pthread_join(threads[i], NULL), 0);
	ck_assert_uint_eq(atomic_load(&made), before + 3);
}
END_TEST

Suite *
test_suite(void)
{
	Suite *suite = suite_create("zstd");
	TCase *tc = tcase_create("zstd");

	tcase_add_checked_fixture(tc, make, drop);
	tcase_add_test(tc, all_but_a_frame_is_refused);
	tcase_add_test(tc, a_thread_makes_one_context);
	suite_add_tcase(suite, tc);
	return suite;
}
