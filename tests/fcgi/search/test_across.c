/* tests/fcgi/search/test_across.c: fcgi/search/across.h: with the book of all
 * words, with a
 * part of it, and without, searches give the same. */
#include "fcgi/search/across.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "common/fs.h"
#include "common/log.h"
#include "fcgi/search/scope.h"
#include "lmdb-schema/store/store.h"
#include "tests/fcgi/world.h"
#include "tests/support/quiet.h"
#include "tests/support/run.h"

static const char *const words[] = {"a", "e", "la", "lait", "ait", "bio", "0",
    "00", "1%200", "zzz", "a%20e%20i", "lait%20lait", "chocolat%20noir"};

static const char *const ways[] = {"", "&order=asc", "&sort=totalCa",
    "&sort=libelle1", "&sort=codein&order=asc", "&gamme=A", "&gamme=B&enrich=0",
    "&limit=2&page=2", "&limit=3&sort=stockActuel&order=asc", "&limit=1",
    "&limit=1000", "&page=1000000000", "&fields=codein,codeGamme",
    "&fournisseur=S1"};

#define WORDS (sizeof(words) / sizeof(words[0]))
#define WAYS (sizeof(ways) / sizeof(ways[0]))

/* Each answer, as it was the first time. */
static struct answer {
	char *body, *tag;
} answers[WORDS][WAYS];

static const char *
book_path(void)
{
	static char path[FS_PATH_MAX];

	ck_assert_int_eq(
	    word_index_path(path, world.server->store, ""), ERR_OK);
	return path;
}

static bool
book_is_there(void)
{
	return access(book_path(), F_OK) == 0;
}

static void
make_book(void)
{
	static const struct word_index_options options;
	struct word_index_result result;

	ck_assert_int_eq(
	    word_index_make(&result, world.server->store, &options), ERR_OK);
	ck_assert_uint_eq(result.left_out, 0);
	ck_assert_uint_eq(result.suppliers, 3);
}

static void
ask(unsigned word, unsigned way)
{
	char uri[256];

	snprintf(uri, sizeof(uri), "/api/v1/products/search?q=%s%s",
	    words[word], ways[way]);
	ck_assert_msg(world_ask(uri) == 200, "%s: %s", uri, world_body());
}

/* Asks all; the first time it notes, then it compares. */
static void
ask_all(bool first)
{
	for (unsigned i = 0; i < WORDS; i++)
		for (unsigned k = 0; k < WAYS; k++) {
			struct answer *answer = &answers[i][k];
			const char *tag;

			ask(i, k);
			tag = world_header("ETag");
			ck_assert_ptr_nonnull(tag);
			if (first) {
				free(answer->body);
				free(answer->tag);
				answer->body = span_dup(span_of(world_body()));
				answer->tag = span_dup(span_of(tag));
			}
			ck_assert_msg(strcmp(answer->body, world_body()) == 0,
			    "q=%s%s", words[i], ways[k]);
			ck_assert_str_eq(answer->tag, tag);
		}
}

static int
open_now(void)
{
	return (int)atomic_load(&metrics_mine(world.metrics)->snapshots_open);
}

/* As in a worker that has just begun. */
static void
begin_anew(void)
{
	world_close();
	world_open();
	world_without_jobs();
}

/* The book is there when a test makes it, and not when a job of the server
 * ends. */
static void
begin(void)
{
	world_open();
	fs_unlink(book_path());
	begin_anew();
}

START_TEST(answers_are_the_same_by_the_book)
{
	ask_all(true);
	ck_assert(strstr(answers[0][0].body, "\"total\":0") == NULL);
	make_book();
	begin_anew();
	ask_all(false);
}
END_TEST

START_TEST(a_book_made_meanwhile_is_used)
{
	struct call call;
	struct scope *scope;

	ask_all(true);
	make_book();
	ask_all(false);
	call = world_call();
	ck_assert_int_eq(scope_all(&scope, &call, 0, NULL), ERR_OK);
	ck_assert_ptr_nonnull(scope->index);
	ck_assert_uint_eq(scope->loose_count, 0);
	ck_assert_uint_eq(scope->count, 3);
	scope_release(scope);
}
END_TEST

START_TEST(who_is_newer_than_the_book_is_asked_himself)
{
	struct call call;
	struct scope *scope;

	make_book();
	world_gridctl("compute S2");
	begin_anew();
	ask_all(true);
	call = world_call();
	ck_assert_int_eq(scope_all(&scope, &call, 0, NULL), ERR_OK);
	ck_assert_uint_eq(scope->count, 3);
	ck_assert_uint_eq(scope->loose_count, 1);
	ck_assert_uint_eq(scope->loose[0], 1);
	ck_assert_ptr_nonnull(scope->there);
	scope_release(scope);
	fs_unlink(book_path());
	begin_anew();
	ask_all(false);
}
END_TEST

START_TEST(a_snapshot_is_opened_when_a_row_of_it_is_shown)
{
	make_book();
	begin_anew();
	ck_assert_int_eq(world_ask("/api/v1/products/search?q=zzzzzz"), 200);
	ck_assert_int_eq(open_now(), 0);
	ck_assert_int_eq(world_ask("/api/v1/products/search?q=a&limit=1"), 200);
	ck_assert_int_eq(open_now(), 1);
	ck_assert_int_eq(
	    world_ask("/api/v1/products/search?q=a&limit=1&sort=libelle1"),
	    200);
	ck_assert_int_eq(open_now(), 3);
}
END_TEST

START_TEST(page_behind_the_last_opens_nobody)
{
	make_book();
	world_gridctl("compute S2");
	begin_anew();
	ck_assert_int_eq(
	    world_ask("/api/v1/products/search?q=a&page=1000000"), 200);
	ck_assert_int_eq(open_now(), 1); /* S2, which is newer */
}
END_TEST

/* Where S5's snapshot is. */
static enum err
note_path(void *context, const char *name)
{
	char *path = context;

	return strstr(name, ".mdb") != NULL && strstr(name, "-lock") == NULL
	    ? fs_path(path, "%s/snapshots/S5/%s", world.settings.data_dir, name)
	    : ERR_OK;
}

START_TEST(who_cannot_be_opened_is_left_out_as_without_the_book)
{
	static const struct word_index_options options;
	char folder[FS_PATH_MAX], path[FS_PATH_MAX] = "", away[FS_PATH_MAX];
	struct word_index_result result;
	struct scope *scope;
	struct call call;

	ck_assert_int_eq(
	    fs_path(folder, "%s/snapshots/S5", world.settings.data_dir),
	    ERR_OK);
	ck_assert_int_eq(fs_list(folder, note_path, path), ERR_OK);
	ck_assert_str_ne(path, "");
	ck_assert_int_eq(fs_path(away, "%s.away", path), ERR_OK);
	make_book();
	ck_assert_int_eq(rename(path, away), 0);
	begin_anew();
	ck_assert_int_eq(
	    world_ask("/api/v1/products/search?q=a&limit=1000"), 200);
	ck_assert_ptr_nonnull(
	    strstr(world_body(), "\"sansSnapshot\":2")); /* and S3 */
	ck_assert_ptr_nonnull(strstr(world_body(), "\"fournisseurs\":2"));
	ck_assert(book_is_there());
	ask_all(true);
	fs_unlink(book_path());
	begin_anew();
	ask_all(false);
	/* A new one does not name it: nobody comes upon it any more. */
	ck_assert_int_eq(
	    word_index_make(&result, world.server->store, &options), ERR_OK);
	ck_assert_uint_eq(result.left_out, 1);
	begin_anew();
	ask_all(false);
	call = world_call();
	ck_assert_int_eq(scope_all(&scope, &call, 0, NULL), ERR_OK);
	ck_assert_ptr_nonnull(scope->index);
	scope_release(scope);
	ck_assert_int_eq(rename(away, path), 0);
}
END_TEST

/* Where a byte of the file is changed, each found by another part. */
static const struct {
	unsigned section;
	size_t at;
} spots[] = {
    {WORD_INDEX_ROWS, 3}, /* the supplier of the first rank */
    {WORD_INDEX_ROWS, 7}, /* its row */
    {WORD_INDEX_LIST_AT, 7}, /* where a list begins */
    {WORD_INDEX_GRAM_AT, 3}, /* where the list of "lai" begins */
    {WORD_INDEX_SUPPLIERS, 0}, /* told when it is opened */
};

START_TEST(a_damaged_book_is_removed_and_not_believed)
{
	struct word_index *book;
	uint64_t at;
	char byte, now;
	int fd;

	ask_all(true);
	make_book();
	ck_assert_int_eq(word_index_open(&book, world.server->store), ERR_OK);
	at =
	    word_index_head(book)->section[spots[_i].section].at + spots[_i].at;
	if (spots[_i].section == WORD_INDEX_GRAM_AT)
		at += (grams_hash("lai") >> (32 - WORD_INDEX_GRAM_BITS)) *
		    sizeof(uint32_t);
	word_index_close(book);
	fd = open(book_path(), O_RDWR);
	ck_assert_int_ge(fd, 0);
	ck_assert_int_eq(pread(fd, &byte, 1, (off_t)at), 1);
	byte = (char)(byte ^ 0x40);
	ck_assert_int_eq(pwrite(fd, &byte, 1, (off_t)at), 1);
	close(fd);
	begin_anew();
	ask_all(false);
	/* A child may have made another one by now. */
	fd = open(book_path(), O_RDONLY);
	ck_assert(fd < 0 || pread(fd, &now, 1, (off_t)at) != 1 || now != byte);
	if (fd >= 0)
		close(fd);
}
END_TEST

START_TEST(a_book_that_is_gone_is_done_without)
{
	ask_all(true);
	make_book();
	fs_unlink(book_path());
	begin_anew();
	log_open("test", LOG_WARN_);
	(void)quiet_lines();
	ask_all(false);
	log_open("test", LOG_ERROR_);
	ck_assert_int_gt(quiet_lines(), 0); /* with what makes it again */
}
END_TEST

Suite *
test_suite(void)
{
	Suite *suite = suite_create("across");
	TCase *tc = tcase_create("across");

	tcase_set_timeout(tc, 300);
	tcase_add_unchecked_fixture(tc, world_make, world_remove);
	tcase_add_checked_fixture(tc, begin, world_close);
	tcase_add_test(tc, answers_are_the_same_by_the_book);
	tcase_add_test(tc, a_book_made_meanwhile_is_used);
	tcase_add_test(tc, who_is_newer_than_the_book_is_asked_himself);
	tcase_add_test(tc, a_snapshot_is_opened_when_a_row_of_it_is_shown);
	tcase_add_test(tc, page_behind_the_last_opens_nobody);
	tcase_add_test(
	    tc, who_cannot_be_opened_is_left_out_as_without_the_book);
	tcase_add_loop_test(tc, a_damaged_book_is_removed_and_not_believed, 0,
	    (int)(sizeof(spots) / sizeof(spots[0])));
	tcase_add_test(tc, a_book_that_is_gone_is_done_without);
	suite_add_tcase(suite, tc);
	return suite;
}
