/*
 * tests/fcgi/test_months.c: what is answered of the trail is the same whether its
 * months are in state.mdb or in files (lmdb-schema/state/trail_close.h).
 */
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "common/date.h"
#include "common/fs.h"
#include "common/kv/kv.h"
#include "common/log.h"
#include "fcgi/process/scrub.h"
#include "lmdb-schema/state/audit.h"
#include "lmdb-schema/state/trail_archive.h"
#include "lmdb-schema/state/trail_close.h"
#include "lmdb-schema/state/trail_part.h"
#include "lmdb-schema/store/store.h"
#include "tests/fcgi/world.h"
#include "tests/support/run.h"

/* Entry i of a month, of supplier S1 to S3 and article A1 to A9. */
static void
note(struct audit *audit, struct kv_txn *txn, int month, unsigned i)
{
	static const char *const events[] = {
	    "proposed", "validated", "proposed", "rejected"};
	char supplier[] = "S1", codein[] = "A1";
	bool proposes = i % 2 == 0;
	int64_t when_ms =
	    (int64_t)date_day_of(2031, month, 2) * 86400000 + i * 60000;

	supplier[1] = (char)('1' + i / 2 % 3);
	codein[1] = (char)('1' + i / 2 % 9);
	ck_assert_int_eq(
	    audit_note(audit,
		&(struct audit_entry){.when_ms = when_ms,
		    .event = span_of(events[i % 4]),
		    .actor = !proposes ? SPAN("marie")
			: i < 200      ? SPAN("early")
				       : SPAN("erp"),
		    .supplier = span_of(supplier),
		    .codein = span_of(codein),
		    .gamme = SPAN("B"),
		    .author = proposes ? SPAN("")
			: i < 200      ? SPAN("early")
				       : SPAN("erp"),
		    .proposed_ms = proposes ? 0 : when_ms - 60000}),
	    ERR_OK);
	ck_assert_int_eq(kv_put(txn, STATE_VERSIONS, span_of(supplier),
			     SPAN("\1\0\0\0\0\0\0\0")),
	    ERR_OK);
}

static enum err
add(void *context, struct kv_txn *txn)
{
	struct audit audit;

	(void)context;
	audit_begin(&audit, txn);
	for (int month = 1; month <= 3; month++)
		for (unsigned i = 0; i < 900; i++)
			note(&audit, txn, month, i);
	return audit_end(&audit, ERR_OK);
}

/* --- questions ------------------------------------------------------------ */

#define FEED "/api/v1/propositions"

static const char *const questions[] = {
    FEED "?limit=10000",
    FEED "?limit=10000&order=asc",
    FEED "?limit=10000&auteur=early",
    FEED "?limit=10000&auteur=early&order=asc",
    FEED "?limit=10000&auteur=nobody",
    FEED "?limit=10000&fournisseur=S2&etat=validee,rejetee",
    FEED "?limit=10000&codein=A4",
    FEED "?limit=10000&codein=A4&order=asc",
    FEED "?limit=10000&codein=A4&fournisseur=S1&order=asc",
    FEED "?limit=10000&codein=A77",
    FEED "?limit=10000&du=2031-01-02T05:00:00Z&au=2031-02-02T03:00:00Z",
    FEED "?limit=10000&du=2031-02-02T05:00:00Z&auteur=erp&order=asc",
    FEED "?limit=7&fournisseur=S3&au=2031-02-02T00:00:00Z",
    FEED "?limit=10000&format=csv",
    "/api/v1/products/A4/gammes?fournisseur=S1&limit=10000",
    "/api/v1/products/A1/gammes?limit=10000",
    "/api/v1/products/A1/gammes?limit=5&page=3&order=asc",
};

#define QUESTIONS (sizeof(questions) / sizeof(questions[0]))

static char *
ask(const char *uri)
{
	ck_assert_msg(world_ask(uri) == 200, "%s: %.900s", uri, world_body());
	return strdup(world_body());
}

/* The entries of all pages of a feed; how many pages these are. */
static unsigned
follow(struct buf *text, const char *query)
{
	char uri[256], cursor[64] = "";
	unsigned pages = 0;
	bool more = true;

	while (more && ++pages < 200) {
		const char *at, *body;

		snprintf(uri, sizeof(uri), FEED "?limit=100%s%s%s", query,
		    cursor[0] == '\0' ? "" : "&depuis=", cursor);
		ck_assert_int_eq(world_ask(uri), 200);
		body = world_body();
		/* A cursor may stand before entries that are not shown. */
		at = strstr(body, "\"meta\":");
		ck_assert_ptr_nonnull(at);
		buf_add(text, body, (size_t)(at - body));
		at = strstr(body, "\"suivant\":\"");
		more = strstr(body, "\"complet\":false") != NULL;
		ck_assert(!more || at != NULL);
		if (at != NULL)
			snprintf(cursor, sizeof(cursor), "%.*s",
			    (int)strcspn(at + 11, "\""), at + 11);
	}
	buf_add_char(text, '\0');
	ck_assert_int_eq(buf_end(text), ERR_OK);
	return pages;
}

static void
close_months(void)
{
	struct trail_closed closed;

	ck_assert_int_eq(trail_close(&closed, world.server->store,
			     TRAIL_PART_ENTRIES_MAX, INT64_MAX),
	    ERR_OK);
	ck_assert_uint_eq(closed.parts, 3);
	ck_assert_uint_ge(closed.removed, 1801);
}

START_TEST(each_answer_is_the_same_across_closed_months)
{
	static const char *const feeds[] = {"", "&order=asc",
	    "&auteur=early&order=asc", "&fournisseur=S2", "&codein=A4",
	    "&codein=A4&order=asc"};
	char *before[QUESTIONS];
	struct buf pages[6], now;
	unsigned counts[6];

	ck_assert_int_eq(
	    store_write(world.server->store, STORE_STATE, add, NULL), ERR_OK);
	for (unsigned i = 0; i < QUESTIONS; i++)
		before[i] = ask(questions[i]);
	for (unsigned i = 0; i < 6; i++) {
		buf_init(&pages[i], (size_t)1 << 26);
		counts[i] = follow(&pages[i], feeds[i]);
	}
	ck_assert_uint_ge(counts[0], 27);
	close_months();
	for (unsigned i = 0; i < QUESTIONS; i++) {
		char *after = ask(questions[i]);

		ck_assert_msg(strcmp(before[i], after) == 0,
		    "%s\nbefore %.900s\nafter  %.900s", questions[i], before[i],
		    after);
		free(before[i]);
		free(after);
	}
	buf_init(&now, (size_t)1 << 26);
	for (unsigned i = 0; i < 6; i++) {
		buf_clear(&now);
		ck_assert_uint_eq(follow(&now, feeds[i]), counts[i]);
		ck_assert_int_eq(strcmp(now.data, pages[i].data), 0);
		buf_fini(&pages[i]);
	}
	buf_fini(&now);
}
END_TEST

/* The status of a feed that goes on at the cursor. */
static unsigned
status_behind(const char *cursor)
{
	char uri[256];

	snprintf(uri, sizeof(uri), FEED "?limit=1&order=asc&depuis=%s", cursor);
	return (unsigned)world_ask(uri);
}

static void
cursor_behind(char cursor[64], unsigned count)
{
	char uri[256];
	const char *at;

	snprintf(uri, sizeof(uri), FEED "?limit=%u&order=asc", count);
	ck_assert_int_eq(world_ask(uri), 200);
	at = strstr(world_body(), "\"suivant\":\"");
	ck_assert_ptr_nonnull(at);
	snprintf(cursor, 64, "%.*s", (int)strcspn(at + 11, "\""), at + 11);
}

/* A script that has read January to its end has missed nothing. */
START_TEST(a_cursor_at_the_end_of_what_is_archived_goes_on)
{
	const int64_t february = (int64_t)date_day_of(2031, 2, 1) * 86400000;
	char last[64], before[64], folder[FS_PATH_MAX];
	struct fault fault;
	uint64_t moved;

	fault_clear(&fault);
	ck_assert_int_eq(
	    store_write(world.server->store, STORE_STATE, add, NULL), ERR_OK);
	cursor_behind(last, 900);
	cursor_behind(before, 899);
	close_months();
	ck_assert_int_eq(
	    fs_path(folder, "%s/../archive", store_dir(world.server->store)),
	    ERR_OK);
	ck_assert_int_eq(fs_mkdir(folder), ERR_OK);
	ck_assert_int_eq(trail_archive(&moved, world.server->store, folder,
			     february, &fault),
	    ERR_OK);
	ck_assert_uint_eq(moved, 2); /* and what came before January */
	ck_assert_uint_eq(status_behind(last), 200);
	ck_assert_ptr_nonnull(strstr(world_body(), "2031-02-02T00:00:00"));
	ck_assert_uint_eq(status_behind(before), 404);
}
END_TEST

/* --- a month that came back ------------------------------------------------- */

static enum err
bring_back(void *context, const char *name)
{
	char from[FS_PATH_MAX], to[FS_PATH_MAX];

	if (strncmp(name, "2031-01-", 8) != 0)
		return ERR_OK;
	ck_assert_int_eq(
	    fs_path(from, "%s/../archive/%s", (const char *)context, name),
	    ERR_OK);
	ck_assert_int_eq(
	    fs_path(to, "%s/trail/%s", (const char *)context, name), ERR_OK);
	ck_assert_int_eq(link(from, to), 0);
	return ERR_EXISTS;
}

/* January is here, February is in the archive, and March is in state.mdb. */
static void
leave_a_gap(void)
{
	const char *dir = store_dir(world.server->store);
	char folder[FS_PATH_MAX];
	uint64_t moved;

	ck_assert_int_eq(
	    store_write(world.server->store, STORE_STATE, add, NULL), ERR_OK);
	close_months();
	ck_assert_int_eq(fs_path(folder, "%s/../archive", dir), ERR_OK);
	ck_assert_int_eq(fs_mkdir(folder), ERR_OK);
	ck_assert_int_eq(trail_archive(&moved, world.server->store, folder,
			     (int64_t)date_day_of(2031, 3, 1) * 86400000, NULL),
	    ERR_OK);
	ck_assert_uint_eq(moved, 3);
	ck_assert_int_eq(
	    fs_list(folder, bring_back, (void *)(uintptr_t)dir), ERR_EXISTS);
}

static unsigned
entries_of(const char *month)
{
	char text[64];
	unsigned count = 0;

	snprintf(text, sizeof(text), "\"proposeeLe\":\"%s", month);
	for (const char *at = world_body(); (at = strstr(at, text)) != NULL;
	     at++)
		count++;
	return count;
}

/*
 * Follows a feed page by page, from `cursor` on where it is not empty, up to what
 * is not 200, which is returned; *count entries of January came.
 */
static int
follow_to_the_end(unsigned *count, const char *query, char cursor[64])
{
	for (unsigned pages = 0;; pages++) {
		char uri[256];
		const char *at;
		int status;

		ck_assert_uint_lt(pages, 200);
		snprintf(uri, sizeof(uri), FEED "?order=asc%s%s%s", query,
		    cursor[0] == '\0' ? "" : "&depuis=", cursor);
		status = world_ask(uri);
		if (status != 200)
			return status;
		*count += entries_of("2031-01");
		ck_assert_uint_eq(entries_of("2031-03"), 0);
		ck_assert_ptr_nonnull(
		    strstr(world_body(), "\"complet\":false"));
		at = strstr(world_body(), "\"suivant\":\"");
		ck_assert_ptr_nonnull(at);
		snprintf(
		    cursor, 64, "%.*s", (int)strcspn(at + 11, "\""), at + 11);
	}
}

START_TEST(a_feed_ends_at_a_gap_and_the_next_call_is_a_404)
{
	static const struct {
		const char *query;
		unsigned count;
	} feeds[] = {{"&limit=100", 900}, {"&limit=900", 900},
	    {"&limit=10000", 900}, {"&limit=50&fournisseur=S2", 300},
	    {"&limit=10000&auteur=early", 200},
	    {"&limit=10000&auteur=nobody", 0}, {"&limit=7&codein=A4", 100},
	    {"&limit=10000&codein=A77", 0}};

	leave_a_gap();
	for (unsigned i = 0; i < sizeof(feeds) / sizeof(feeds[0]); i++) {
		char cursor[64] = "";
		unsigned count = 0;

		ck_assert_int_eq(
		    follow_to_the_end(&count, feeds[i].query, cursor), 404);
		ck_assert_ptr_nonnull(strstr(world_body(), "in an archive"));
		ck_assert_ptr_nonnull(
		    strstr(world_body(), "du=2031-03-02T00:00:00"));
		ck_assert_msg(
		    count == feeds[i].count, "%s: %u", feeds[i].query, count);
	}
}
END_TEST

/* As the 404 says: nothing that this asks for is in the archive. */
START_TEST(behind_the_gap_a_feed_is_whole)
{
	char cursor[64] = "", uri[256];
	const char *at;

	leave_a_gap();
	snprintf(uri, sizeof(uri),
	    FEED "?limit=500&order=asc&du=2031-03-02T00:00:00Z");
	ck_assert_int_eq(world_ask(uri), 200);
	ck_assert_uint_eq(entries_of("2031-03"), 500);
	at = strstr(world_body(), "\"suivant\":\"");
	ck_assert_ptr_nonnull(at);
	snprintf(cursor, 64, "%.*s", (int)strcspn(at + 11, "\""), at + 11);
	snprintf(uri, sizeof(uri),
	    FEED "?limit=500&order=asc&du=2031-03-02T00:00:00Z&depuis=%s",
	    cursor);
	ck_assert_int_eq(world_ask(uri), 200);
	ck_assert_uint_eq(entries_of("2031-03"), 400);
	ck_assert_ptr_nonnull(strstr(world_body(), "\"complet\":true"));
	/* The newest first, all that is here comes. */
	ck_assert_int_eq(world_ask(FEED "?limit=10000"), 200);
	ck_assert_uint_eq(entries_of("2031-01"), 900);
	ck_assert_uint_eq(entries_of("2031-03"), 900);
}
END_TEST

/* --- damage ----------------------------------------------------------------- */

static enum err
spoil_february(void *context, const char *name)
{
	char path[FS_PATH_MAX], byte;
	int fd;

	if (strncmp(name, "2031-02-", 8) != 0)
		return ERR_OK;
	ck_assert_int_eq(
	    fs_path(path, "%s/%s", (const char *)context, name), ERR_OK);
	fd = open(path, O_RDWR);
	ck_assert_int_ge(fd, 0);
	ck_assert_int_eq(pread(fd, &byte, 1, 5000), 1);
	byte ^= 8;
	ck_assert_int_eq(pwrite(fd, &byte, 1, 5000), 1);
	close(fd);
	return ERR_EXISTS;
}

/* A round to its end, in as many calls as it takes. */
static void
walk_through(void)
{
	uint64_t before = world.metrics->scrubs;

	world.metrics->scrub_began_ns = 0;
	for (unsigned i = 0; i < 1000 && world.metrics->scrubs == before; i++)
		scrub_some(world.server->store, &world.settings, world.metrics);
	ck_assert_uint_eq(world.metrics->scrubs, before + 1);
}

START_TEST(the_walk_through_all_files_finds_a_damaged_month)
{
	char folder[FS_PATH_MAX];

	ck_assert_int_eq(
	    fs_path(folder, "%s/trail", store_dir(world.server->store)),
	    ERR_OK);
	walk_through();
	ck_assert_uint_eq(world.metrics->damages, 0);
	ck_assert_int_eq(fs_list(folder, spoil_february, folder), ERR_EXISTS);
	walk_through();
	ck_assert_uint_eq(world.metrics->damages, 1);
	ck_assert_int_eq(fs_list(folder, spoil_february, folder), ERR_EXISTS);
}
END_TEST

static enum err
remove_january(void *context, const char *name)
{
	char path[FS_PATH_MAX];

	if (strncmp(name, "2031-01-", 8) != 0)
		return ERR_OK;
	ck_assert_int_eq(
	    fs_path(path, "%s/%s", (const char *)context, name), ERR_OK);
	ck_assert_int_eq(unlink(path), 0);
	return ERR_EXISTS;
}

/* The tests before have left the months. */
START_TEST(a_lost_month_is_a_500_and_the_others_are_answered)
{
	char folder[FS_PATH_MAX];

	ck_assert_int_eq(
	    fs_path(folder, "%s/trail", store_dir(world.server->store)),
	    ERR_OK);
	ck_assert_int_eq(fs_list(folder, remove_january, folder), ERR_EXISTS);
	ck_assert_int_eq(
	    world_ask(FEED "?limit=10&du=2031-01-01T00:00:00Z&order=asc"), 500);
	ck_assert_int_eq(
	    world_ask("/api/v1/products/A4/gammes?fournisseur=S1"), 500);
	ck_assert_int_eq(world_ask(FEED "?limit=10"), 200);
	ck_assert_int_eq(
	    world_ask(FEED "?limit=100&du=2031-02-20T00:00:00Z&order=desc"),
	    200);
	ck_assert_int_eq(world_ask("/api/v1/grid?fournisseur=S1&limit=3"), 200);
}
END_TEST

/* --- what the log says ------------------------------------------------------ */

static char said[8192];

static void
keep_line(enum log_level level, const char *line)
{
	size_t len = strlen(said);

	(void)level;
	snprintf(said + len, sizeof(said) - len, "%s\n", line);
}

static unsigned
count_of(const char *text)
{
	unsigned count = 0;

	for (const char *at = said; (at = strstr(at, text)) != NULL; at++)
		count++;
	return count;
}

/* Paths, and the entries that February's has. */
static char january[FS_PATH_MAX], february[FS_PATH_MAX];
static unsigned long long first;

static enum err
note_file(void *context, const char *name)
{
	char *path = strncmp(name, "2031-01-", 8) == 0 ? january
	    : strncmp(name, "2031-02-", 8) == 0        ? february
						       : NULL;

	if (path == NULL)
		return ERR_OK;
	if (path == february)
		first = strtoull(name + 8, NULL, 16);
	return fs_path(path, "%s/%s", (const char *)context, name);
}

static void
note_files(void)
{
	char folder[FS_PATH_MAX];

	ck_assert_int_eq(
	    fs_path(folder, "%s/trail", store_dir(world.server->store)),
	    ERR_OK);
	ck_assert_int_eq(fs_list(folder, note_file, folder), ERR_OK);
}

static void
cut_to(off_t bytes)
{
	ck_assert_int_eq(truncate(february, bytes), 0);
}

static void
empty(void)
{
	cut_to(0);
}

static void
cut(void)
{
	cut_to(200);
}

static void
lose(void)
{
	ck_assert_int_eq(unlink(february), 0);
}

static void
replace(void)
{
	ck_assert_int_eq(unlink(february), 0);
	ck_assert_int_eq(link(january, february), 0);
}

/* Of an entry block: the head is sound. */
static void
flip(void)
{
	char folder[FS_PATH_MAX];
	char *name = strrchr(february, '/');

	ck_assert_ptr_nonnull(name);
	snprintf(
	    folder, sizeof(folder), "%.*s", (int)(name - february), february);
	ck_assert_int_eq(spoil_february(folder, name + 1), ERR_EXISTS);
}

/* As by permissions, which do not bind root. */
static void
deny(void)
{
	ck_assert_int_eq(unlink(february), 0);
	ck_assert_int_eq(mkdir(february, 0700), 0);
}

static const struct {
	void (*spoil)(void);
	const char *reason;
} spoilings[] = {
    {lose, "the file is missing: copy "},
    {empty, "the file is empty: copy "},
    {cut, "stored data damaged: copy "},
    {replace, "stored data damaged: copy "},
    {flip, "stored data damaged: copy "},
    {deny, ""},
};

/* The line that a person acts on, once for all the requests. */
START_TEST(the_log_names_what_a_500_lacks_once)
{
	uint64_t before;
	char words[256];

	ck_assert_int_eq(
	    store_write(world.server->store, STORE_STATE, add, NULL), ERR_OK);
	close_months();
	note_files();
	spoilings[_i].spoil();
	before = world.metrics->damages;
	said[0] = '\0';
	log_catch(keep_line);
	for (unsigned i = 0; i < 20; i++)
		ck_assert_int_eq(world_ask(FEED "?limit=2000&order=asc"), 500);
	log_catch(NULL);
	snprintf(words, sizeof(words),
	    "the audit trail cannot be read in full: entries %llu to %llu of "
	    "the audit trail (2031-02): %s",
	    first, first + 899, spoilings[_i].reason);
	ck_assert_msg(count_of(words) == 1, "%s", said);
	ck_assert_ptr_nonnull(strstr(said, february));
	ck_assert_msg(count_of("\n") <= 3, "%s", said);
	ck_assert_uint_eq(world.metrics->damages, before + 20);
	walk_through();
	ck_assert_uint_eq(world.metrics->damages, before + 21);
}
END_TEST

Suite *
test_suite(void)
{
	Suite *suite = suite_create("months");
	TCase *tc = tcase_create("months");

	tcase_add_unchecked_fixture(tc, world_make, world_remove);
	tcase_add_checked_fixture(tc, world_open, world_close);
	tcase_set_timeout(tc, 120);
	tcase_add_test(tc, each_answer_is_the_same_across_closed_months);
	tcase_add_test(tc, the_walk_through_all_files_finds_a_damaged_month);
	tcase_add_test(tc, a_lost_month_is_a_500_and_the_others_are_answered);
	suite_add_tcase(suite, tc);
	/* A world of its own: months of the one before are damaged and lost. */
	tc = tcase_create("archived");
	tcase_add_unchecked_fixture(tc, world_make, world_remove);
	tcase_add_checked_fixture(tc, world_open, world_close);
	tcase_set_timeout(tc, 120);
	tcase_add_test(tc, a_cursor_at_the_end_of_what_is_archived_goes_on);
	suite_add_tcase(suite, tc);
	tc = tcase_create("gap");
	tcase_add_checked_fixture(tc, world_make, world_remove);
	tcase_add_checked_fixture(tc, world_open, world_close);
	tcase_set_timeout(tc, 120);
	tcase_add_test(tc, a_feed_ends_at_a_gap_and_the_next_call_is_a_404);
	tcase_add_test(tc, behind_the_gap_a_feed_is_whole);
	suite_add_tcase(suite, tc);
	tc = tcase_create("told");
	tcase_add_checked_fixture(tc, world_make, world_remove);
	tcase_add_checked_fixture(tc, world_open, world_close);
	tcase_set_timeout(tc, 120);
	tcase_add_loop_test(tc, the_log_names_what_a_500_lacks_once, 0,
	    sizeof(spoilings) / sizeof(spoilings[0]));
	suite_add_tcase(suite, tc);
	return suite;
}
