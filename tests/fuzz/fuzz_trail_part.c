/*
 * A part of the trail from a hostile disk: a sound one with damage laid over it
 * (made.h). The first byte says what else: 'c' it is cut short, too; 'h' the
 * damage is to the head; a digit, to that section. But for 'c' and 's' all
 * checksums are made to fit again, or nobody would look behind them. Whatever
 * the part says, reading it touches nothing that is not its own.
 */
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "common/buf.h"
#include "lmdb-schema/deflate.h"
#include "lmdb-schema/pack.h"
#include "lmdb-schema/state/trail_part_priv.h"
#include "tests/fuzz/fuzz.h"
#include "tests/fuzz/made.h"

#define ENTRIES 1200

static struct buf sound;
static char dir[] = "/tmp/fuzz-part-XXXXXX", path[FS_PATH_MAX];

static void
remove_folder(void)
{
	unlink(path);
	rmdir(dir);
}

static void
add_entry(struct trail_making *making, struct buf *value, uint64_t i)
{
	static const char *const names[] = {"erp", "anne", "gridctl", "web"};
	struct audit_entry entry;
	char code[16];

	snprintf(code, sizeof(code), "%u", (unsigned)(i % 90));
	buf_clear(value);
	pack_add_unsigned(value, UINT64_C(1772000000000) + i * 60000);
	pack_add_text(value, i % 2 == 0 ? SPAN("proposed") : SPAN("validated"));
	pack_add_text(value, span_of(names[i % 3]));
	pack_add_text(value, i % 50 == 0 ? SPAN("") : SPAN("S1"));
	pack_add_text(value, span_of(code));
	pack_add_text(value, SPAN("A"));
	pack_add_text(value, SPAN("B"));
	if (i % 2 != 0) {
		pack_add_text(value, SPAN("seasonal"));
		pack_add_text(value, span_of(names[3]));
		pack_add_unsigned(value, UINT64_C(1771000000000));
		pack_add_text(value, SPAN(""));
	}
	FUZZ_CHECK(audit_read(&entry, 1 + i, buf_span(value)) == ERR_OK);
	FUZZ_CHECK(trail_making_add(making, buf_span(value), &entry) == ERR_OK);
}

static void
begin(void)
{
	struct trail_making *making;
	struct buf value;

	FUZZ_CHECK(mkdtemp(dir) != NULL);
	FUZZ_CHECK(fs_path(path, "%s/a.part", dir) == ERR_OK);
	atexit(remove_folder);
	buf_init(&value, 4096);
	FUZZ_CHECK(trail_making_begin(&making, path, 1) == ERR_OK);
	for (uint64_t i = 0; i < ENTRIES; i++)
		add_entry(making, &value, i);
	FUZZ_CHECK(trail_making_end(making, ERR_OK) == ERR_OK);
	buf_fini(&value);
	buf_init(&sound, (size_t)64 << 20);
	FUZZ_CHECK(fs_read(&sound, path) == ERR_OK);
}

/* --- damage --------------------------------------------------------------- */

static bool
is_within(const struct trail_part_head *head, unsigned i)
{
	return head->section[i].at <= sound.len &&
	    head->section[i].bytes <= sound.len - head->section[i].at;
}

/* The rows of the runs, and their frames. */
static void
sum_runs(char *file, const struct trail_part_head *head)
{
	char *articles = file + head->section[TRAIL_PART_ARTICLES].at;
	uint64_t bytes = head->section[TRAIL_PART_ARTICLES].bytes;
	char *rows =
	    articles + bytes - head->runs * sizeof(struct trail_part_run);

	if (bytes / sizeof(struct trail_part_run) < head->runs)
		return;
	for (uint32_t i = 0; i < head->runs; i++) {
		char *at = rows + i * sizeof(struct trail_part_run);
		struct trail_part_run row;

		memcpy(&row, at, sizeof(row));
		if (row.at <= bytes && row.packed <= bytes - row.at)
			row.frame_crc =
			    deflate_crc(0, articles + row.at, row.packed);
		row.crc = trail_part_run_crc(&row, i);
		memcpy(at, &row, sizeof(row));
	}
}

/* Where the head names sections in the file. */
static void
sum_again(char *file)
{
	struct trail_part_head head;
	uint64_t count = 0;

	memcpy(&head, file, sizeof(head));
	for (unsigned i = 0; i < TRAIL_PART_SECTIONS; i++) {
		if (!is_within(&head, i))
			return;
		if (i < TRAIL_PART_SUMMED)
			count += blocks_count(head.section[i].bytes);
	}
	if (head.section[TRAIL_PART_SUMS].bytes < count * sizeof(uint32_t) ||
	    head.section[TRAIL_PART_SUMS].at % sizeof(uint32_t) != 0)
		return;
	sum_runs(file, &head);
	count = 0;
	for (unsigned i = 0; i < TRAIL_PART_SUMMED; i++) {
		blocks_sum((uint32_t *)(void *)(file +
			       head.section[TRAIL_PART_SUMS].at) +
			count,
		    file + head.section[i].at, head.section[i].bytes);
		count += blocks_count(head.section[i].bytes);
	}
	head.sums_crc = deflate_crc(0, file + head.section[TRAIL_PART_SUMS].at,
	    head.section[TRAIL_PART_SUMS].bytes);
	memcpy(file, &head, sizeof(head));
	if (head.version > TRAIL_PART_VERSION_PAIRS)
		head.crc = sealed_head_crc(span_make(file, sizeof(head)),
		    offsetof(struct trail_part_head, crc), SPAN(""));
	else
		head.crc = sealed_head_crc(span_make(file, TRAIL_PART_HEAD_OLD),
		    offsetof(struct trail_part_head, crc),
		    span_make(file + head.section[TRAIL_PART_SUMS].at,
			head.section[TRAIL_PART_SUMS].bytes));
	memcpy(file, &head, sizeof(head));
}

static void
damage(char *file, uint8_t where, struct span patches)
{
	struct trail_part_head head;

	memcpy(&head, file, sizeof(head));
	if (where == 'h')
		made_damage(file, sizeof(head), patches);
	else if (where >= '0' && where < '0' + TRAIL_PART_SECTIONS)
		made_damage(file + head.section[where - '0'].at,
		    head.section[where - '0'].bytes, patches);
	else
		made_damage(file, sound.len, patches);
	if (where != 'c' && where != 's')
		sum_again(file);
}

/* --- reading -------------------------------------------------------------- */

static volatile uint64_t touched;

static enum err
touch(void *context, const struct audit_entry *entry)
{
	(void)context;
	touched += entry->number + entry->event.len + entry->codein.len;
	if (entry->motif.len > 0)
		touched += (unsigned char)entry->motif.ptr[0];
	return ERR_OK;
}

static enum err
touch_value(void *context, const struct audit_entry *entry, struct span value)
{
	touched += value.len;
	return touch(context, entry);
}

static void
get_all(struct trail_part *part)
{
	for (uint64_t i = 0; i <= ENTRIES; i += 7) {
		struct span value;
		enum err err = trail_part_get(part, i, &value);

		FUZZ_CHECK(err == ERR_OK || err == ERR_DAMAGED ||
		    err == ERR_NOT_FOUND);
	}
}

static void
read_all(struct trail_part *part, struct span given)
{
	static const struct trail_wanted wanted[] = {{.supplier = {"S1", 2}},
	    {.author = {"anne", 4}},
	    {.author = {"web", 3}, .from_ms = 1772000900000},
	    {.until_ms = 1772001900000}};
	char code[16];
	enum err err;

	for (unsigned i = 0; i < 4; i++) {
		err = trail_part_each(
		    part, &wanted[i], 0, UINT64_MAX, i % 2 == 0, touch, NULL);
		FUZZ_CHECK(err == ERR_OK || err == ERR_DAMAGED);
	}
	for (unsigned i = 0; i < 90; i += 9) {
		snprintf(code, sizeof(code), "%u", i);
		err = trail_part_of(
		    part, SPAN(""), span_of(code), touch_value, NULL);
		FUZZ_CHECK(err == ERR_OK || err == ERR_DAMAGED);
	}
	get_all(part);
	err = trail_part_of(part, span_sub(given, 8, 4), span_sub(given, 0, 8),
	    touch_value, NULL);
	FUZZ_CHECK(err == ERR_OK || err == ERR_DAMAGED);
	err = trail_part_verify(part);
	FUZZ_CHECK(err == ERR_OK || err == ERR_DAMAGED);
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t len)
{
	struct trail_part *part;
	struct span input = span_make(data, len);

	if (len == 0)
		return 0;
	if (sound.len == 0)
		begin();
	made_write_damaged(path, buf_span(&sound), damage, input);
	if (trail_part_open(&part, path) == ERR_OK)
		read_all(part, span_from(input, 1));
	else
		part = NULL;
	trail_part_close(part);
	return 0;
}
