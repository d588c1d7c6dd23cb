/* tests/fcgi/test_damage.c: what is served of files that were damaged */
#include <fcntl.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "common/date.h"
#include "fcgi/process/scrub.h"
#include "lmdb-schema/facts/source.h"
#include "lmdb-schema/snapshot/catalog.h"
#include "lmdb-schema/store/store.h"
#include "tests/fcgi/world.h"
#include "tests/lmdb-schema/spoil.h"
#include "tests/support/run.h"
#include "tests/support/scratch.h"

#define PAGE "/api/v1/grid?fournisseur=S1&limit=3"

static char path[FS_PATH_MAX];
static struct catalog_entry entry;

static void
make(void)
{
	world_gridctl("compute S1");
	world_open();
	ck_assert_int_eq(
	    catalog_current(world.server->store, SPAN("S1"), &entry), ERR_OK);
	ck_assert_int_eq(store_snapshot_path(path, world.server->store,
			     SPAN("S1"), entry.generation, ""),
	    ERR_OK);
}

static void
drop(void)
{
	world_close();
}

/* Inverts all that the file has of a text; how often. */
static unsigned
spoil(const char *text)
{
	size_t len = strlen(text), size;
	unsigned count = 0;
	struct buf file;
	int fd = open(path, O_WRONLY);

	ck_assert_int_ge(fd, 0);
	buf_init(&file, 1 << 26);
	ck_assert_int_eq(fs_read(&file, path), ERR_OK);
	size = file.len;
	for (size_t at = 0; at + len <= size; at++)
		if (memcmp(file.data + at, text, len) == 0) {
			char other = (char)(text[0] ^ 1);

			ck_assert_int_eq(pwrite(fd, &other, 1, (off_t)at), 1);
			count++;
		}
	close(fd);
	buf_fini(&file);
	return count;
}

/* A file is looked at each millisecond at most. */
static void
let_a_look_pass(void)
{
	int64_t end = date_monotonic_ns() + 2000000;

	while (date_monotonic_ns() < end)
		usleep(200);
}

static uint64_t
current(void)
{
	struct catalog_entry now;

	return catalog_current(world.server->store, SPAN("S1"), &now) == ERR_OK
	    ? now.generation
	    : 0;
}

/* Nobody asks for it: a child has been started. */
static void
await_a_new_one(void)
{
	for (int i = 0; i < 3000; i++) {
		uint64_t now = current();

		if (now != 0 && now != entry.generation)
			break;
		usleep(10000);
	}
	ck_assert_uint_ne(current(), 0);
	ck_assert_uint_ne(current(), entry.generation);
	ck_assert_int_eq(world_ask(PAGE), 200);
}

START_TEST(a_row_that_was_shown_and_then_damaged_is_a_500)
{
	ck_assert_int_eq(world_ask(PAGE), 200);
	ck_assert_uint_gt(spoil("\"totalCa\":"), 0);
	let_a_look_pass();
	ck_assert_int_eq(world_ask(PAGE), 500);
	ck_assert_uint_gt(world.metrics->damages, 0);
	await_a_new_one();
}
END_TEST

/* A1 is S2's, too, whose row would look like the answer. */
START_TEST(an_article_has_no_answer_while_one_of_its_snapshots_is_lost)
{
	struct catalog_view *view;
	uint64_t lost;
	bool current;

	ck_assert_int_eq(world_ask("/api/v1/products/A1"), 200);
	ck_assert_int_eq(catalog_disown(world.server->store, SPAN("S1"),
			     entry.generation, &current),
	    ERR_OK);
	ck_assert(current);
	ck_assert_int_eq(world_ask("/api/v1/products/A1"), 500);
	ck_assert_int_eq(world_ask("/api/v1/products/A1?fournisseur=S2"), 200);
	ck_assert_int_eq(catalog_view_open(&view, world.server->store), ERR_OK);
	ck_assert_int_eq(catalog_count_lost(view, &lost), ERR_OK);
	ck_assert_uint_eq(lost, 1);
	catalog_view_close(view);
	ck_assert_int_eq(world_ask("/api/v1/fournisseurs?withData=1"), 200);
	ck_assert_ptr_nonnull(strstr(world_body(), "\"sansSnapshot\":1"));
	world_gridctl("compute S1");
	ck_assert_int_eq(world_ask("/api/v1/products/A1"), 200);
}
END_TEST

START_TEST(a_file_that_was_touched_and_is_whole_is_served)
{
	ck_assert_int_eq(world_ask(PAGE), 200);
	ck_assert_int_eq(chmod(path, 0600), 0);
	let_a_look_pass();
	ck_assert_int_eq(world_ask(PAGE), 200);
	ck_assert_uint_eq(current(), entry.generation);
}
END_TEST

START_TEST(a_file_that_was_cut_is_not_touched)
{
	struct stat st;

	ck_assert_int_eq(world_ask(PAGE), 200);
	ck_assert_int_eq(stat(path, &st), 0);
	ck_assert_int_eq(truncate(path, st.st_size / 2), 0);
	let_a_look_pass();
	ck_assert_int_eq(world_ask(PAGE), 500);
	await_a_new_one();
}
END_TEST

START_TEST(what_nobody_asks_for_is_found_by_the_walk)
{
	struct api_settings *settings = &world.settings;

	ck_assert_uint_gt(spoil("\"totalCa\":"), 0);
	scrub_some(world.server->store, settings, world.metrics);
	ck_assert_uint_eq(world.metrics->damages, 1);
	ck_assert_uint_eq(world.metrics->scrubs, 1);
	ck_assert_uint_eq(world.metrics->scrub_snapshots, 3);
	ck_assert_uint_ne(current(), entry.generation);
	ck_assert_int_eq(world_ask(PAGE), 200);
	/* No time for another scrub yet. */
	scrub_some(world.server->store, settings, world.metrics);
	ck_assert_uint_eq(world.metrics->scrubs, 1);
}
END_TEST

/* The page that a supplier's name is shown on, and what it says. */
#define LIST "/api/v1/fournisseurs"
#define SHOWN "Laiterie"
#define SPOILT "Maiterie"

static int
await_status(const char *uri, int status)
{
	int got = 0;

	for (int i = 0; got != status && i < 400; i++) {
		got = world_ask(uri);
		usleep(10000);
	}
	return got;
}

START_TEST(facts_that_are_damaged_are_a_500_until_they_are_sound)
{
	uint64_t generation;

	ck_assert_int_eq(
	    source_current(&generation, world.server->store), ERR_OK);
	ck_assert_int_eq(
	    store_facts_path(path, world.server->store, generation, ""),
	    ERR_OK);
	ck_assert_int_eq(world_ask(LIST), 200);
	ck_assert_ptr_nonnull(strstr(world_body(), SHOWN));
	ck_assert_uint_gt(spoil(SHOWN), 0);
	ck_assert_int_eq(await_status(LIST, 500), 500);
	ck_assert_int_eq(world_ask(PAGE), 500);
	ck_assert_uint_gt(spoil(SPOILT), 0);
	ck_assert_int_eq(await_status(LIST, 200), 200);
	ck_assert_ptr_nonnull(strstr(world_body(), SHOWN));
}
END_TEST

static void
spoil_record(struct kv *kv, unsigned table, const char *file, struct span key)
{
	char env[FS_PATH_MAX];

	ck_assert_int_eq(
	    fs_path(env, "%s/%s", world.settings.data_dir, file), ERR_OK);
	spoil_one(kv, table, env, key);
	world_close();
	world_open();
}

static void
spoil_entry(void)
{
	spoil_record(store_catalog(world.server->store), CATALOG_CURRENT,
	    "catalog.mdb", SPAN("S1"));
}

/* The snapshot is sound: it is neither blamed nor computed anew. */
START_TEST(a_damaged_network_record_is_told_as_damage)
{
	static const char csv[] =
	    "codeCentrale,caReseau,qteReseau,nbMagasinsReseau,margePctReseau,"
	    "fetchedAt,2024-10\n"
	    "100001,1,1,1,0.5,2025-02-01T04:00:00Z,100\n";
	char words[FS_PATH_MAX];
	int fd = open(scratch_path("n.csv"), O_WRONLY | O_CREAT, 0600);

	ck_assert_int_eq(fs_write_all(fd, csv, sizeof(csv) - 1), ERR_OK);
	close(fd);
	ck_assert_int_eq(
	    fs_path(words, "network %s", scratch_path("n.csv")), ERR_OK);
	world_gridctl(words); /* newer than the snapshot */
	world_close();
	world_open();
	ck_assert_int_eq(world_ask(PAGE), 200);
	spoil_record(store_live(world.server->store), LIVE_NETWORK, "live.mdb",
	    SPAN("100001"));
	ck_assert_int_eq(world_ask(PAGE), 500);
	ck_assert_ptr_nonnull(strstr(world_body(), "damaged"));
	ck_assert_uint_eq(current(), entry.generation);
	world_gridctl(words);
	ck_assert_int_eq(world_ask(PAGE), 200);
}
END_TEST

START_TEST(an_entry_of_the_catalogue_that_is_damaged_is_computed_anew)
{
	spoil_entry();
	ck_assert_int_eq(world_ask("/api/v1/products/A1"), 500);
	ck_assert_uint_gt(world.metrics->damages, 0);
	await_a_new_one();
	ck_assert_int_eq(world_ask("/api/v1/products/A1"), 200);
}
END_TEST

START_TEST(a_list_tells_of_a_damaged_entry_and_has_it_made_anew)
{
	/* S3 was never computed, S4 has no article. */
	ck_assert_int_eq(world_ask(LIST "?withData=1"), 200);
	ck_assert_ptr_nonnull(strstr(world_body(), "\"sansSnapshot\":0"));
	spoil_entry();
	ck_assert_int_eq(world_ask(LIST "?withData=1"), 200);
	ck_assert_ptr_nonnull(strstr(world_body(), "\"sansSnapshot\":1"));
	ck_assert_uint_gt(world.metrics->damages, 0);
	await_a_new_one();
	ck_assert_int_eq(world_ask(LIST), 200);
	ck_assert_ptr_nonnull(strstr(world_body(), "\"sansSnapshot\":2"));
}
END_TEST

START_TEST(a_search_tells_of_a_damaged_entry_and_has_it_made_anew)
{
	spoil_entry();
	ck_assert_int_eq(world_ask("/api/v1/products/search?q=a"), 200);
	ck_assert_ptr_nonnull(strstr(world_body(), "\"sansSnapshot\":2"));
	ck_assert_uint_gt(world.metrics->damages, 0);
	await_a_new_one();
}
END_TEST

Suite *
test_suite(void)
{
	Suite *suite = suite_create("damage");
	TCase *tc = tcase_create("damage");

	tcase_add_unchecked_fixture(tc, world_make, world_remove);
	tcase_add_checked_fixture(tc, make, drop);
	tcase_add_test(tc, a_row_that_was_shown_and_then_damaged_is_a_500);
	tcase_add_test(
	    tc, an_article_has_no_answer_while_one_of_its_snapshots_is_lost);
	tcase_add_test(tc, a_file_that_was_touched_and_is_whole_is_served);
	tcase_add_test(tc, a_file_that_was_cut_is_not_touched);
	tcase_add_test(tc, what_nobody_asks_for_is_found_by_the_walk);
	tcase_add_test(
	    tc, facts_that_are_damaged_are_a_500_until_they_are_sound);
	tcase_add_test(tc, a_damaged_network_record_is_told_as_damage);
	tcase_add_test(
	    tc, an_entry_of_the_catalogue_that_is_damaged_is_computed_anew);
	tcase_add_test(
	    tc, a_list_tells_of_a_damaged_entry_and_has_it_made_anew);
	tcase_add_test(
	    tc, a_search_tells_of_a_damaged_entry_and_has_it_made_anew);
	tcase_set_timeout(tc, 120);
	suite_add_tcase(suite, tc);
	return suite;
}
