/* tests/fcgi/http/test_packer.c: fcgi/http/packer.h, and by way of reply.h */
#include "fcgi/http/packer.h"

#include <stdio.h>
#include <zlib.h>
#include <zstd.h>

#include "fcgi/http/reply.h"
#include "tests/support/random.h"
#include "tests/support/run.h"

#define TEXT_LEN (3 * PACKER_WHOLE)
#define COUNT(array) (int)(sizeof(array) / sizeof((array)[0]))

static char text[TEXT_LEN], got[TEXT_LEN + 1];
static struct reply reply;
static struct request request;
static struct buf out;
static struct sink sink;
static unsigned puts_seen;

static enum err
count_put(struct sink *self, struct iovec *pieces, int count)
{
	puts_seen++;
	for (int i = 0; i < count; i++)
		buf_add(self->to, pieces[i].iov_base, pieces[i].iov_len);
	return buf_end(self->to);
}

static void
make(void)
{
	for (size_t i = 0; i < TEXT_LEN; i++)
		text[i] = "{\"codein\":0123456789,}"[random_bits() % 22];
	reply_init(&reply);
	request_init(&request);
	buf_init(&out, 2 * TEXT_LEN);
	sink = (struct sink){.put = count_put, .to = &out};
	puts_seen = 0;
	reply_begin(&reply, &sink, &request);
}

static enum coding coding;

static void
use(enum coding which)
{
	coding = which;
	request.accept_encoding = which == CODING_ZSTD
	    ? SPAN("gzip, deflate, br, zstd")
	    : SPAN("gzip, deflate, br");
}

static void
drop(void)
{
	reply_fini(&reply);
	buf_fini(&out);
}

/* Some of it copied, some referred to, in pieces of many lengths. */
static void
add_text(size_t from, size_t to)
{
	while (from < to) {
		size_t len = 1 + random_bits() % 9000;

		if (len > to - from)
			len = to - from;
		if (len % 3 == 0)
			iovbuf_refer(&reply.body, text + from, len);
		else
			iovbuf_copy(&reply.body, text + from, len);
		from += len;
	}
}

static struct span
head(void)
{
	struct span all = buf_span(&out);
	const char *end = memmem(all.ptr, all.len, "\r\n\r\n", 4);

	ck_assert_ptr_nonnull(end);
	return span_sub(all, 0, (size_t)(end - all.ptr) + 4);
}

static bool
head_has(const char *line)
{
	struct span all = head();

	return memmem(all.ptr, all.len, line, strlen(line)) != NULL;
}

static size_t
unpack_gzip(struct span body)
{
	z_stream z = {0};
	size_t len;

	ck_assert_int_eq(inflateInit2(&z, 16 + 15), Z_OK);
	z.next_in = (Bytef *)(uintptr_t)body.ptr;
	z.avail_in = (uInt)body.len;
	z.next_out = (Bytef *)got;
	z.avail_out = sizeof(got);
	ck_assert_int_eq(inflate(&z, Z_FINISH), Z_STREAM_END);
	ck_assert_uint_eq(z.avail_in, 0);
	len = z.total_out;
	inflateEnd(&z);
	return len;
}

/* With no more memory than a browser has for it. */
static size_t
unpack_zstd(struct span body)
{
	ZSTD_DCtx *context = ZSTD_createDCtx();
	ZSTD_inBuffer in = {body.ptr, body.len, 0};
	ZSTD_outBuffer to = {got, sizeof(got), 0};
	size_t left = 1;

	ck_assert(!ZSTD_isError(
	    ZSTD_DCtx_setParameter(context, ZSTD_d_windowLogMax, 23)));
	ck_assert_uint_eq(
	    ZSTD_findFrameCompressedSize(body.ptr, body.len), body.len);
	while (left > 0 && in.pos < in.size) {
		left = ZSTD_decompressStream(context, &to, &in);
		ck_assert(!ZSTD_isError(left));
	}
	ck_assert_uint_eq(left, 0);
	ZSTD_freeDCtx(context);
	return to.pos;
}

/* The body is a single member or frame, with `len` bytes of the text in it. */
static void
check_body(size_t len)
{
	struct span body = span_from(buf_span(&out), head().len);
	char line[64];

	ck_assert_uint_eq(
	    coding == CODING_ZSTD ? unpack_zstd(body) : unpack_gzip(body), len);
	ck_assert_mem_eq(got, text, len);
	ck_assert_uint_lt(body.len, len + 24);
	ck_assert_uint_eq(reply.sent, out.len);
	ck_assert(
	    head_has(coding == CODING_ZSTD ? "\r\nContent-Encoding: zstd\r\n"
					   : "\r\nContent-Encoding: gzip\r\n"));
	ck_assert(head_has("\r\nVary: Accept-Encoding\r\n"));
	snprintf(line, sizeof(line), "\r\nContent-Length: %zu\r\n", body.len);
	ck_assert_int_eq(head_has(line), head_has("Content-Length"));
}

static const size_t lengths[] = {PACKER_LEAST, 26000, PACKER_BLOCK,
    PACKER_BLOCK + 1, PACKER_WHOLE, PACKER_WHOLE + 1, TEXT_LEN};

/* Each length with each of the two codings. */
#define TURNS (2 * COUNT(lengths))

static size_t
take_turn(int turn)
{
	use(turn % 2 == 0 ? CODING_GZIP : CODING_ZSTD);
	return lengths[turn / 2];
}

START_TEST(gathered_answer_is_one_member)
{
	size_t len = take_turn(_i);

	add_text(0, len);
	ck_assert_int_eq(reply_end(&reply), ERR_OK);
	check_body(len);
	ck_assert_int_eq(head_has("Content-Length"), len <= PACKER_WHOLE);
	ck_assert(sink.last);
	if (len <= PACKER_WHOLE)
		ck_assert_uint_eq(puts_seen, 1);
	else
		ck_assert_uint_gt(puts_seen, 2);
}
END_TEST

START_TEST(stream_is_one_member)
{
	size_t len = take_turn(_i);

	reply_stream(&reply, _i % 4 < 2 ? -1 : (int64_t)len);
	for (size_t at = 0; at < len; at += 5000) {
		add_text(at, at + 5000 < len ? at + 5000 : len);
		reply_flush_some(&reply);
		ck_assert_uint_lt(reply.body.total, PACKER_BLOCK + 5000);
	}
	ck_assert_int_eq(reply_end(&reply), ERR_OK);
	check_body(len);
	/* A stream that never was worth a call is put whole. */
	ck_assert_int_eq(head_has("Content-Length"), len < PACKER_BLOCK);
	ck_assert(sink.last);
}
END_TEST

START_TEST(stream_of_nothing_is_not_packed)
{
	use(_i == 0 ? CODING_GZIP : CODING_ZSTD);
	reply_stream(&reply, -1);
	ck_assert_int_eq(reply_end(&reply), ERR_OK);
	ck_assert(!head_has("Content-Encoding"));
	ck_assert(head_has("Content-Length: 0\r\n"));
	ck_assert_uint_eq(out.len, head().len);
}
END_TEST

/* The same head for HEAD, and nothing behind it. */
START_TEST(head_is_that_of_get)
{
	char first[1024];
	size_t len, whole = take_turn(_i);

	add_text(0, whole);
	ck_assert_int_eq(reply_end(&reply), ERR_OK);
	len = head().len;
	memcpy(first, out.data, len);
	buf_clear(&out);
	request.method = METHOD_HEAD;
	reply_begin(&reply, &sink, &request);
	add_text(0, whole);
	ck_assert_int_eq(reply_end(&reply), ERR_OK);
	ck_assert_uint_eq(out.len, len);
	ck_assert_mem_eq(out.data, first, len);
}
END_TEST

/* Not packed: small, an error, packed already, not asked for. */
START_TEST(others_go_out_as_they_are)
{
	size_t len = 26000;

	use(CODING_ZSTD);
	if (_i == 0)
		len = PACKER_LEAST - 1;
	if (_i == 1)
		reply.status = 404;
	if (_i == 2)
		reply_is_coded(&reply, CODING_GZIP);
	if (_i == 3)
		request.accept_encoding = SPAN("gzip;q=0, zstd;q=0");
	if (_i == 4)
		request.accept_encoding = SPAN("");
	add_text(0, len);
	ck_assert_int_eq(reply_end(&reply), ERR_OK);
	ck_assert_int_eq(head_has("Content-Encoding"), _i == 2);
	ck_assert_int_eq(head_has("Vary: "), _i != 1);
	ck_assert_uint_eq(out.len - head().len, len);
	ck_assert_mem_eq(out.data + head().len, text, len);
}
END_TEST

START_TEST(next_answer_is_packed_anew)
{
	for (int i = 0; i < 2 * TURNS; i++) {
		size_t len = take_turn(i % TURNS);

		buf_clear(&out);
		reply_begin(&reply, &sink, &request);
		add_text(0, len);
		ck_assert_int_eq(reply_end(&reply), ERR_OK);
		check_body(len);
		packer_give_back(&reply.packer, i % 3 == 0 ? 0 : TEXT_LEN);
	}
}
END_TEST

static enum err
refuse(struct sink *self, struct iovec *pieces, int count)
{
	(void)pieces;
	(void)count;
	return puts_seen++ == 0 || self->last ? ERR_OK : ERR_CLOSED;
}

START_TEST(failed_put_is_told_at_the_end)
{
	use(_i == 0 ? CODING_GZIP : CODING_ZSTD);
	sink.put = refuse;
	reply_stream(&reply, -1);
	add_text(0, TEXT_LEN);
	ck_assert_int_eq(reply_end(&reply), ERR_CLOSED);
}
END_TEST

START_TEST(error_behind_a_packed_head_cuts_the_answer)
{
	use(_i == 0 ? CODING_GZIP : CODING_ZSTD);
	reply_stream(&reply, -1);
	add_text(0, TEXT_LEN / 2);
	reply_flush_some(&reply);
	reply_fail(&reply, 500, CODE_INTERNAL, "too late");
	ck_assert_int_ne(reply_end(&reply), ERR_OK);
	ck_assert(!sink.last);
}
END_TEST

Suite *
test_suite(void)
{
	Suite *suite = suite_create("packer");
	TCase *tc = tcase_create("packer");

	tcase_add_checked_fixture(tc, make, drop);
	tcase_add_loop_test(tc, gathered_answer_is_one_member, 0, TURNS);
	tcase_add_loop_test(tc, stream_is_one_member, 0, TURNS);
	tcase_add_loop_test(tc, stream_of_nothing_is_not_packed, 0, 2);
	tcase_add_loop_test(tc, head_is_that_of_get, 0, TURNS);
	tcase_add_loop_test(tc, others_go_out_as_they_are, 0, 5);
	tcase_add_test(tc, next_answer_is_packed_anew);
	tcase_add_loop_test(tc, failed_put_is_told_at_the_end, 0, 2);
	tcase_add_loop_test(
	    tc, error_behind_a_packed_head_cuts_the_answer, 0, 2);
	suite_add_tcase(suite, tc);
	return suite;
}
