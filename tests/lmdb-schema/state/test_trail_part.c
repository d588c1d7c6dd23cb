/* tests/lmdb-schema/state/test_trail_part.c: lmdb-schema/state/trail_part.h */
#include "lmdb-schema/state/trail_part.h"

#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "common/buf.h"
#include "common/fs.h"
#include "lmdb-schema/deflate.h"
#include "lmdb-schema/pack.h"
#include "lmdb-schema/state/trail_part_priv.h"
#include "tests/support/quiet.h"
#include "tests/support/run.h"
#include "tests/support/scratch.h"

#define FIRST 1000
#define COUNT 3000

/* Entry i: of supplier i % 7 and article i % 50; nobody's at all each 100th. */
static void
value_of(struct buf *value, uint64_t i)
{
	char author[32], supplier[32], codein[32];
	bool about = i % 100 != 99;

	snprintf(author, sizeof(author), i < 500 ? "early" : "key %u",
	    (unsigned)(i % 3));
	snprintf(supplier, sizeof(supplier), "S%u", (unsigned)(i % 7));
	snprintf(codein, sizeof(codein), "A%u", (unsigned)(i % 50));
	buf_clear(value);
	pack_add_unsigned(value, UINT64_C(1772000000000) + i * 1000);
	pack_add_text(value, SPAN("proposed"));
	pack_add_text(value, span_of(author));
	pack_add_text(value, about ? span_of(supplier) : SPAN(""));
	pack_add_text(value, span_of(codein));
	pack_add_text(value, SPAN("B"));
	pack_add_text(value, SPAN(""));
	ck_assert_int_eq(buf_end(value), ERR_OK);
}

static void
make_part(const char *name, uint64_t count)
{
	struct trail_making *making;
	struct buf value;
	enum err err = trail_making_begin(&making, scratch_path(name), FIRST);

	buf_init(&value, 4096);
	for (uint64_t i = 0; i < count && err == ERR_OK; i++) {
		struct audit_entry entry;

		value_of(&value, i);
		ck_assert_int_eq(
		    audit_read(&entry, FIRST + i, buf_span(&value)), ERR_OK);
		err = trail_making_add(making, buf_span(&value), &entry);
	}
	ck_assert_int_eq(trail_making_end(making, err), ERR_OK);
	buf_fini(&value);
}

static struct trail_part *
open_part(const char *name)
{
	struct trail_part *part;

	ck_assert_int_eq(trail_part_open(&part, scratch_path(name)), ERR_OK);
	return part;
}

START_TEST(each_entry_is_got_as_it_was_put)
{
	struct trail_part *part;
	struct buf value;
	struct span got;

	make_part("a.part", COUNT);
	part = open_part("a.part");
	buf_init(&value, 4096);
	ck_assert_uint_eq(trail_part_head(part)->first, FIRST);
	ck_assert_uint_eq(trail_part_head(part)->last, FIRST + COUNT - 1);
	ck_assert_uint_gt(trail_part_head(part)->blocks, 3);
	for (uint64_t i = 0; i < COUNT; i++) {
		uint64_t at = i * 1237 % COUNT;

		value_of(&value, at);
		ck_assert_int_eq(
		    trail_part_get(part, FIRST + at, &got), ERR_OK);
		ck_assert(span_eq(got, buf_span(&value)));
	}
	ck_assert_int_eq(trail_part_get(part, FIRST - 1, &got), ERR_NOT_FOUND);
	ck_assert_int_eq(
	    trail_part_get(part, FIRST + COUNT, &got), ERR_NOT_FOUND);
	ck_assert_int_eq(trail_part_verify(part), ERR_OK);
	buf_fini(&value);
	trail_part_close(part);
}
END_TEST

START_TEST(a_part_of_one_entry_is_a_part)
{
	struct trail_part *part;

	make_part("one.part", 1);
	part = open_part("one.part");
	ck_assert_int_eq(trail_part_verify(part), ERR_OK);
	trail_part_close(part);
}
END_TEST

/* --- walking -------------------------------------------------------------- */

struct seen {
	uint64_t count, first, last;
	int step;
};

static enum err
see(void *context, const struct audit_entry *entry)
{
	struct seen *seen = context;

	if (seen->count++ == 0)
		seen->first = entry->number;
	else if (seen->step > 0)
		ck_assert_uint_gt(entry->number, seen->last);
	else
		ck_assert_uint_lt(entry->number, seen->last);
	seen->last = entry->number;
	return ERR_OK;
}

static struct seen
walk(struct trail_part *part, const struct trail_wanted *wanted, uint64_t from,
    uint64_t to, bool back)
{
	struct seen seen = {.step = back ? -1 : 1};

	ck_assert_int_eq(
	    trail_part_each(part, wanted, from, to, back, see, &seen), ERR_OK);
	return seen;
}

START_TEST(a_walk_has_its_range_in_either_direction)
{
	struct trail_part *part;
	struct seen seen;

	make_part("a.part", COUNT);
	part = open_part("a.part");
	seen = walk(part, NULL, 0, UINT64_MAX, false);
	ck_assert_uint_eq(seen.count, COUNT);
	ck_assert_uint_eq(seen.first, FIRST);
	seen = walk(part, NULL, FIRST + 700, FIRST + 1900, true);
	ck_assert_uint_eq(seen.count, 1201);
	ck_assert_uint_eq(seen.first, FIRST + 1900);
	ck_assert_uint_eq(seen.last, FIRST + 700);
	ck_assert_uint_eq(walk(part, NULL, 1, FIRST - 1, false).count, 0);
	trail_part_close(part);
}
END_TEST

static enum err
stop(void *context, const struct audit_entry *entry)
{
	(void)entry;
	return ++*(unsigned *)context == 5 ? ERR_EXISTS : ERR_OK;
}

START_TEST(a_walk_ends_where_the_reader_says)
{
	struct trail_part *part;
	unsigned count = 0;

	make_part("a.part", COUNT);
	part = open_part("a.part");
	ck_assert_int_eq(
	    trail_part_each(part, NULL, 0, UINT64_MAX, true, stop, &count),
	    ERR_EXISTS);
	ck_assert_uint_eq(count, 5);
	trail_part_close(part);
}
END_TEST

/* Entries of the author's, of all that the walk shows. */
static enum err
count_author(void *context, const struct audit_entry *entry)
{
	*(unsigned *)context += span_eq(entry->actor, SPAN("early"));
	return ERR_OK;
}

START_TEST(blocks_without_what_is_wanted_are_skipped)
{
	struct trail_wanted wanted = {.author = SPAN("early")};
	struct trail_part *part;
	unsigned count = 0;

	make_part("a.part", COUNT);
	part = open_part("a.part");
	ck_assert_int_eq(trail_part_each(part, &wanted, 0, UINT64_MAX, false,
			     count_author, &count),
	    ERR_OK);
	ck_assert_uint_eq(count, 500);
	ck_assert_uint_lt(
	    walk(part, &wanted, 0, UINT64_MAX, false).count, 1500);
	wanted.author = SPAN("nobody");
	ck_assert_uint_eq(walk(part, &wanted, 0, UINT64_MAX, true).count, 0);
	wanted.author = SPAN("");
	wanted.supplier = SPAN("S3");
	ck_assert_uint_eq(
	    walk(part, &wanted, 0, UINT64_MAX, false).count, COUNT);
	wanted.from_ms = 1772000000000 + 2900 * 1000;
	ck_assert_uint_lt(
	    walk(part, &wanted, 0, UINT64_MAX, false).count, 1000);
	ck_assert_uint_ge(walk(part, &wanted, 0, UINT64_MAX, false).count, 100);
	wanted.from_ms = 0;
	wanted.until_ms = 1772000000000;
	ck_assert_uint_eq(walk(part, &wanted, 0, UINT64_MAX, false).count, 0);
	trail_part_close(part);
}
END_TEST

static enum err
count_entry(void *context, const struct audit_entry *entry, struct span value)
{
	uint64_t i = entry->number - FIRST;

	ck_assert_uint_gt(value.len, 0);
	ck_assert_uint_eq(i % 50, 12);
	++*(unsigned *)context;
	return ERR_OK;
}

START_TEST(an_article_has_its_entries_by_the_index)
{
	struct trail_part *part;
	unsigned count = 0;

	make_part("a.part", COUNT);
	part = open_part("a.part");
	ck_assert_int_eq(
	    trail_part_of(part, SPAN(""), SPAN("A12"), count_entry, &count),
	    ERR_OK);
	ck_assert_uint_eq(count, COUNT / 50);
	ck_assert_int_eq(
	    trail_part_of(part, SPAN(""), SPAN("A99"), count_entry, &count),
	    ERR_OK);
	ck_assert_uint_eq(count, COUNT / 50);
	trail_part_close(part);
}
END_TEST

/* --- the blocks that are read --------------------------------------------- */

#define RUN 250 /* successive entries of a supplier: some blocks */
#define RUNS 40
#define SUPPLIERS 10

/* Runs of proposals, each of one supplier and of articles 0 to RUN - 1. */
static void
make_runs(const char *name)
{
	struct trail_making *making;
	struct buf value;
	enum err err = trail_making_begin(&making, scratch_path(name), FIRST);

	buf_init(&value, 4096);
	for (unsigned i = 0; i < RUN * RUNS && err == ERR_OK; i++) {
		char supplier[32], codein[32];
		struct audit_entry entry;

		snprintf(
		    supplier, sizeof(supplier), "S%u", i / RUN % SUPPLIERS);
		snprintf(codein, sizeof(codein), "A%u", i % RUN);
		buf_clear(&value);
		pack_add_unsigned(&value, UINT64_C(1772000000000) + i);
		pack_add_text(&value, SPAN("proposed"));
		pack_add_text(
		    &value, SPAN("the name of a key, and a long one"));
		pack_add_text(&value, span_of(supplier));
		pack_add_text(&value, span_of(codein));
		pack_add_text(&value, SPAN("B"));
		pack_add_text(&value, SPAN(""));
		ck_assert_int_eq(buf_end(&value), ERR_OK);
		ck_assert_int_eq(
		    audit_read(&entry, FIRST + i, buf_span(&value)), ERR_OK);
		err = trail_making_add(making, buf_span(&value), &entry);
	}
	ck_assert_int_eq(trail_making_end(making, err), ERR_OK);
	buf_fini(&value);
}

struct reading {
	struct trail_part *part;
	unsigned count, own;
	uint64_t last; /* number */
};

static enum err
read_entry(void *context, const struct audit_entry *entry, struct span value)
{
	struct reading *reading = context;

	(void)value;
	reading->count++;
	reading->own += span_eq(entry->supplier, SPAN("S3")) &&
	    span_eq(entry->codein, SPAN("A100"));
	if (span_eq(entry->supplier, SPAN("S3"))) {
		ck_assert_uint_gt(entry->number, reading->last);
		reading->last = entry->number;
	}
	return ERR_OK;
}

/* An article's entries at a supplier, and all its runs that have them. */
START_TEST(an_article_takes_a_run_or_two)
{
	struct reading reading = {.part = NULL};

	make_runs("runs.part");
	reading.part = open_part("runs.part");
	ck_assert_uint_gt(trail_part_head(reading.part)->runs, 100);
	ck_assert_int_eq(trail_part_of(reading.part, SPAN("S3"), SPAN("A100"),
			     read_entry, &reading),
	    ERR_OK);
	ck_assert_uint_eq(reading.own, RUNS / SUPPLIERS);
	ck_assert_uint_eq(reading.count, RUNS / SUPPLIERS);
	ck_assert_uint_le(reading.part->loads, 2);
	ck_assert_int_eq(trail_part_of(reading.part, SPAN("S99"), SPAN("A100"),
			     read_entry, &reading),
	    ERR_OK);
	ck_assert_uint_eq(reading.count, RUNS / SUPPLIERS);
	reading = (struct reading){.part = reading.part};
	reading.part->loads = 0;
	ck_assert_int_eq(trail_part_of(reading.part, SPAN(""), SPAN("A100"),
			     read_entry, &reading),
	    ERR_OK);
	ck_assert_uint_eq(reading.count, RUNS);
	ck_assert_uint_eq(reading.own, RUNS / SUPPLIERS);
	ck_assert_uint_le(reading.part->loads, 4);
	/* Nothing else was read. */
	ck_assert_ptr_null(reading.part->file.bytes);
	trail_part_close(reading.part);
}
END_TEST

/* Each article, wherever its run is, and more runs than are read at once. */
START_TEST(each_article_is_found)
{
	struct reading reading = {.part = NULL};

	make_runs("runs.part");
	reading.part = open_part("runs.part");
	ck_assert_uint_gt(trail_part_head(reading.part)->runs, TRAIL_PART_ROWS);
	for (unsigned i = 0; i < RUN; i++) {
		char codein[32];

		snprintf(codein, sizeof(codein), "A%u", i);
		reading.count = 0;
		reading.last = 0;
		ck_assert_int_eq(trail_part_of(reading.part, SPAN("S3"),
				     span_of(codein), read_entry, &reading),
		    ERR_OK);
		ck_assert_uint_eq(reading.count, RUNS / SUPPLIERS);
	}
	trail_part_close(reading.part);
}
END_TEST

START_TEST(an_entry_is_unpacked_with_few_others)
{
	struct trail_part *part;
	struct span value;

	make_runs("runs.part");
	part = open_part("runs.part");
	ck_assert_int_eq(trail_part_get(part, FIRST + 700, &value), ERR_OK);
	ck_assert_uint_lt(part->plain.len, 5000);
	trail_part_close(part);
}
END_TEST

/* --- versions 1 and 2 ------------------------------------------------------ */

struct old {
	struct buf file;
	struct trail_part_head *head;
};

/* Of the index: trail_part_pairs.c. */
struct old_pair {
	uint32_t print, place;
};

static void *
section_at(const struct old *old, unsigned section)
{
	return old->file.data + old->head->section[section].at;
}

static uint32_t
rounded(uint64_t at)
{
	return (uint32_t)(at + TRAIL_PART_ALIGN - 1) / TRAIL_PART_ALIGN *
	    TRAIL_PART_ALIGN;
}

/* All pairs are in one bucket, in the order of their places. */
static void
add_pairs(struct buf *section, struct trail_part *part)
{
	uint32_t count = 0;

	buf_add_u32(section, 0);
	buf_add_u32(section, 0);
	for (uint32_t i = 0; i < part->count; i++) {
		struct audit_entry entry;
		struct span value;

		ck_assert_int_eq(
		    trail_part_get(part, FIRST + i, &value), ERR_OK);
		ck_assert_int_eq(audit_read(&entry, FIRST + i, value), ERR_OK);
		if (!trail_part_is_about(&entry))
			continue;
		buf_add_u32(section,
		    (uint32_t)trail_part_hash(entry.codein) << 16 |
			(uint16_t)trail_part_hash(entry.supplier));
		buf_add_u32(section, i);
		count++;
	}
	ck_assert_int_eq(buf_end(section), ERR_OK);
	memcpy(section->data + sizeof(count), &count, sizeof(count));
}

/* The file of version 3 as version 2 has it: pairs in place of the runs. */
static void
make_version_2(struct old *old, struct trail_part *part)
{
	struct trail_part_head head = part->head;
	struct buf section, whole;
	uint64_t sums = 0;

	buf_init(&section, (size_t)1 << 24);
	buf_init(&whole, (size_t)1 << 24);
	buf_add(&whole, &head, TRAIL_PART_HEAD_OLD);
	for (unsigned i = 0; i < TRAIL_PART_SECTIONS; i++) {
		const char *from = part->file.bytes + head.section[i].at;

		buf_clear(&section);
		if (i == TRAIL_PART_ARTICLES)
			add_pairs(&section, part);
		else if (i != TRAIL_PART_SUMS)
			buf_add(&section, from, head.section[i].bytes);
		while (whole.len != rounded(whole.len))
			buf_add_char(&whole, '\0');
		head.section[i].at = whole.len;
		head.section[i].bytes =
		    i == TRAIL_PART_SUMS ? sums : section.len;
		sums += blocks_count(section.len) * sizeof(uint32_t);
		buf_add_span(&whole, buf_span(&section));
	}
	memset(buf_room(&whole, sums), 0, sums);
	buf_grown(&whole, sums);
	head.version = TRAIL_PART_VERSION_PAIRS;
	head.article_bits = 0;
	head.bytes = whole.len;
	ck_assert_int_eq(buf_end(&whole), ERR_OK);
	memcpy(whole.data, &head, TRAIL_PART_HEAD_OLD);
	buf_fini(&section);
	old->file = whole;
	old->head = (void *)old->file.data;
}

/* Prints of a code alone. */
static void
make_prints_bare(struct old *old, struct trail_part *part)
{
	uint32_t *starts = section_at(old, TRAIL_PART_ARTICLES);
	uint32_t buckets = UINT32_C(1) << old->head->article_bits;
	struct old_pair *pairs = (void *)(starts + buckets + 1);

	for (uint32_t i = 0; i < starts[buckets]; i++) {
		struct audit_entry entry;
		struct span value;
		uint64_t number = FIRST + pairs[i].place;

		ck_assert_int_eq(trail_part_get(part, number, &value), ERR_OK);
		ck_assert_int_eq(audit_read(&entry, number, value), ERR_OK);
		pairs[i].print = (uint32_t)trail_part_hash(entry.codein);
	}
}

/* Maps of blocks: few enough that a map is one word of either version. */
static void
make_maps_bare(struct old *old)
{
	char *names = section_at(old, TRAIL_PART_NAMES);
	uint64_t *maps =
	    (void *)(names + old->head->names * sizeof(struct trail_part_name));

	ck_assert_uint_le(old->head->blocks, 64);
	for (uint32_t i = 0; i < old->head->names; i++) {
		uint64_t map = 0;

		for (uint32_t block = 0; block < old->head->blocks; block++)
			map |= (maps[i] >> block / TRAIL_PART_GROUP & 1)
			    << block;
		maps[i] = map;
	}
}

static void
sum_again(struct old *old)
{
	uint32_t *sums = section_at(old, TRAIL_PART_SUMS);

	for (unsigned i = 0; i < TRAIL_PART_SUMMED; i++) {
		blocks_sum(
		    sums, section_at(old, i), old->head->section[i].bytes);
		sums += blocks_count(old->head->section[i].bytes);
	}
	old->head->crc =
	    sealed_head_crc(span_make(old->head, TRAIL_PART_HEAD_OLD),
		offsetof(struct trail_part_head, crc),
		span_make(section_at(old, TRAIL_PART_SUMS),
		    old->head->section[TRAIL_PART_SUMS].bytes));
}

/* The same entries as an earlier version has them. */
static void
write_old(const char *to, const char *from, uint32_t version)
{
	struct trail_part *part = open_part(from);
	struct old old;

	ck_assert_int_eq(trail_part_map(part), ERR_OK);
	make_version_2(&old, part);
	if (version == TRAIL_PART_VERSION_BARE) {
		old.head->version = version;
		make_prints_bare(&old, part);
		make_maps_bare(&old);
	}
	sum_again(&old);
	scratch_write(to, old.file.data, old.file.len);
	buf_fini(&old.file);
	trail_part_close(part);
}

START_TEST(files_of_earlier_versions_are_read)
{
	struct trail_wanted wanted = {.author = SPAN("early")};
	struct reading reading = {.part = NULL};
	unsigned count = 0;

	make_part("new.part", 2000);
	write_old("old.part", "new.part", (uint32_t)_i);
	reading.part = open_part("old.part");
	ck_assert_uint_eq(trail_part_head(reading.part)->version, _i);
	ck_assert_int_eq(trail_part_verify(reading.part), ERR_OK);
	ck_assert_int_eq(trail_part_of(reading.part, SPAN(""), SPAN("A12"),
			     count_entry, &count),
	    ERR_OK);
	ck_assert_uint_eq(count, 2000 / 50);
	ck_assert_int_eq(trail_part_of(reading.part, SPAN("S3"), SPAN("A12"),
			     read_entry, &reading),
	    ERR_OK);
	/* Entry i is of article i % 50, and of supplier i % 7. */
	ck_assert_uint_ge(reading.count, 2000 / 50 / 7);
	ck_assert_uint_le(reading.count, 2000 / 50 / 7 + 1);
	ck_assert_int_eq(trail_part_of(reading.part, SPAN("S99"), SPAN("A12"),
			     read_entry, &reading),
	    ERR_OK);
	ck_assert_uint_le(reading.count, 2000 / 50 / 7 + 1);
	count = 0;
	ck_assert_int_eq(trail_part_each(reading.part, &wanted, 0, UINT64_MAX,
			     false, count_author, &count),
	    ERR_OK);
	ck_assert_uint_eq(count, 500);
	trail_part_close(reading.part);
}
END_TEST

/* --- damage --------------------------------------------------------------- */

/* Reads what it can of a damaged file, which must never crash. */
static enum err
read_damaged(void)
{
	struct trail_part *part;
	enum err err = trail_part_open(&part, scratch_path("b.part"));

	if (err != ERR_OK)
		return err;
	err = trail_part_verify(part);
	trail_part_close(part);
	return err;
}

/* Bytes between two sections mean nothing. */
static bool
is_used(const struct trail_part_head *head, uint64_t at)
{
	if (at < sizeof(*head))
		return true;
	for (unsigned i = 0; i < TRAIL_PART_SECTIONS; i++)
		if (at >= head->section[i].at &&
		    at - head->section[i].at < head->section[i].bytes)
			return true;
	return false;
}

START_TEST(each_flipped_bit_is_told)
{
	struct trail_part_head head;
	struct buf file;

	make_part("a.part", 200);
	buf_init(&file, (size_t)1 << 24);
	ck_assert_int_eq(fs_read(&file, scratch_path("a.part")), ERR_OK);
	memcpy(&head, file.data, sizeof(head));
	for (size_t at = 0; at < file.len; at++) {
		if (!is_used(&head, at))
			continue;
		file.data[at] ^= (char)(1 << at % 8);
		scratch_write("b.part", file.data, file.len);
		file.data[at] ^= (char)(1 << at % 8);
		ck_assert_int_ne(read_damaged(), ERR_OK);
	}
	scratch_write("b.part", file.data, file.len);
	ck_assert_int_eq(read_damaged(), ERR_OK);
	buf_fini(&file);
}
END_TEST

/* Numbers of a history; the whole history, or the damage is told. */
static enum err
add_sum(void *context, const struct audit_entry *entry, struct span value)
{
	*(uint64_t *)context +=
	    entry->number * 1000003 + deflate_crc(0, value.ptr, value.len);
	return ERR_OK;
}

static enum err
history_sum(uint64_t *sum, const char *name)
{
	struct trail_part *part;
	enum err err = trail_part_open(&part, scratch_path(name));

	*sum = 0;
	if (err != ERR_OK)
		return err;
	for (unsigned i = 0; i < 50 && err == ERR_OK; i++) {
		char codein[32];

		snprintf(codein, sizeof(codein), "A%u", i);
		err = trail_part_of(
		    part, SPAN(""), span_of(codein), add_sum, sum);
	}
	trail_part_close(part);
	return err;
}

START_TEST(no_flipped_bit_makes_a_history_wrong)
{
	struct trail_part_head head;
	uint64_t sound, sum, told = 0;
	struct buf file;

	make_part("a.part", 200);
	ck_assert_int_eq(history_sum(&sound, "a.part"), ERR_OK);
	buf_init(&file, (size_t)1 << 24);
	ck_assert_int_eq(fs_read(&file, scratch_path("a.part")), ERR_OK);
	memcpy(&head, file.data, sizeof(head));
	for (size_t at = 0; at < file.len; at++) {
		enum err err;

		file.data[at] ^= (char)(1 << at % 8);
		scratch_write("b.part", file.data, file.len);
		file.data[at] ^= (char)(1 << at % 8);
		err = history_sum(&sum, "b.part");
		told += err != ERR_OK;
		ck_assert(err != ERR_OK || sum == sound);
	}
	/* The articles and the head, but for up to 7 bytes between. */
	ck_assert_uint_ge(
	    told, sizeof(head) + head.section[TRAIL_PART_ARTICLES].bytes - 7);
	buf_fini(&file);
}
END_TEST

START_TEST(a_file_that_is_cut_or_longer_is_told)
{
	struct buf file;

	make_part("a.part", 200);
	buf_init(&file, (size_t)1 << 24);
	ck_assert_int_eq(fs_read(&file, scratch_path("a.part")), ERR_OK);
	for (size_t len = 0; len < file.len; len += 97) {
		scratch_write("b.part", file.data, len);
		ck_assert_int_eq(read_damaged(), ERR_DAMAGED);
	}
	buf_add_char(&file, 'x');
	scratch_write("b.part", file.data, file.len);
	ck_assert_int_eq(read_damaged(), ERR_DAMAGED);
	buf_fini(&file);
}
END_TEST

START_TEST(a_later_version_is_refused)
{
	struct buf file;

	make_part("a.part", 10);
	buf_init(&file, (size_t)1 << 24);
	ck_assert_int_eq(fs_read(&file, scratch_path("a.part")), ERR_OK);
	file.data[8] = TRAIL_PART_VERSION + 1;
	scratch_write("b.part", file.data, file.len);
	ck_assert_int_eq(read_damaged(), ERR_DAMAGED); /* by the checksum */
	file.data[offsetof(struct trail_part_head, crc)] ^= 1;
	scratch_write("b.part", file.data, file.len);
	ck_assert_int_eq(read_damaged(), ERR_VERSION);
	buf_fini(&file);
}
END_TEST

START_TEST(a_making_that_fails_leaves_no_file)
{
	struct trail_making *making;

	ck_assert_int_eq(
	    trail_making_begin(&making, scratch_path("a.part"), 1), ERR_OK);
	ck_assert_int_eq(access(scratch_path("a.part"), F_OK), 0);
	ck_assert_int_eq(trail_making_end(making, ERR_NO_SPACE), ERR_NO_SPACE);
	ck_assert_int_ne(access(scratch_path("a.part"), F_OK), 0);
}
END_TEST

Suite *
test_suite(void)
{
	Suite *suite = suite_create("trail_part");
	TCase *tc = tcase_create("trail_part");

	tcase_add_checked_fixture(tc, scratch_make, scratch_remove);
	tcase_add_checked_fixture(tc, quiet_begin, quiet_end);
	tcase_set_timeout(tc, 120);
	tcase_add_test(tc, each_entry_is_got_as_it_was_put);
	tcase_add_test(tc, a_part_of_one_entry_is_a_part);
	tcase_add_test(tc, a_walk_has_its_range_in_either_direction);
	tcase_add_test(tc, a_walk_ends_where_the_reader_says);
	tcase_add_test(tc, blocks_without_what_is_wanted_are_skipped);
	tcase_add_test(tc, an_article_has_its_entries_by_the_index);
	tcase_add_test(tc, an_article_takes_a_run_or_two);
	tcase_add_test(tc, each_article_is_found);
	tcase_add_test(tc, an_entry_is_unpacked_with_few_others);
	tcase_add_loop_test(tc, files_of_earlier_versions_are_read,
	    TRAIL_PART_VERSION_BARE, TRAIL_PART_VERSION);
	tcase_add_test(tc, each_flipped_bit_is_told);
	tcase_add_test(tc, no_flipped_bit_makes_a_history_wrong);
	tcase_add_test(tc, a_file_that_is_cut_or_longer_is_told);
	tcase_add_test(tc, a_later_version_is_refused);
	tcase_add_test(tc, a_making_that_fails_leaves_no_file);
	suite_add_tcase(suite, tc);
	return suite;
}
