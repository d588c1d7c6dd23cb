/*
 * The list of a checkpoint's files, or of an edition's, as another node has it, or
 * etcd's note of a checkpoint; the first byte is which. A list that is read is
 * written the same, and names no file elsewhere.
 */
#include <stdlib.h>
#include <string.h>

#include "lmdb-schema/upkeep/checkpoint.h"
#include "lmdb-schema/upkeep/edition_text.h"
#include "lmdb-schema/upkeep/parcel.h"
#include "tests/fuzz/fuzz.h"

static void
look_at_file(const struct files_id *file)
{
	FUZZ_CHECK(files_is_name(span_of(file->name)));
	FUZZ_CHECK(file->bytes <= INT64_MAX);
}

static void
look_at_parcel(struct span text)
{
	struct parcel parcel, again;
	struct buf written;
	enum err err = parcel_read(&parcel, text);

	FUZZ_CHECK(err == ERR_OK || err == ERR_BAD_INPUT || err == ERR_VERSION);
	if (err != ERR_OK)
		return;
	look_at_file(&parcel.state);
	for (unsigned i = 0; i < parcel.count; i++) {
		FUZZ_CHECK(strchr(parcel.parts[i].name, '/') == NULL);
		look_at_file(&parcel.parts[i].file);
	}
	buf_init(&written, PARCEL_MAX);
	parcel_write(&written, &parcel);
	FUZZ_CHECK(parcel_read(&again, buf_span(&written)) == ERR_OK);
	FUZZ_CHECK(again.count == parcel.count);
	parcel_fini(&again);
	parcel_fini(&parcel);
	buf_fini(&written);
}

static void
look_at_edition(struct span text)
{
	static struct edition_files files, again;
	struct buf written;
	enum err err = edition_text_read(&files, text);

	FUZZ_CHECK(err == ERR_OK || err == ERR_BAD_INPUT || err == ERR_VERSION);
	if (err != ERR_OK)
		return;
	look_at_file(&files.live);
	for (unsigned i = 0; i < files.count; i++) {
		FUZZ_CHECK(strchr(files.facts[i].name, '/') == NULL);
		look_at_file(&files.facts[i].file);
	}
	buf_init(&written, EDITION_TEXT_MAX);
	edition_text_write(&written, &files);
	FUZZ_CHECK(edition_text_read(&again, buf_span(&written)) == ERR_OK);
	FUZZ_CHECK(again.count == files.count);
	buf_fini(&written);
}

static void
look_at_note(struct span text)
{
	struct checkpoint found;

	if (checkpoint_read(
		&found, SPAN("checkpoint/00000000000004d2"), text)) {
		look_at_file(&found.parcel);
		FUZZ_CHECK(found.made_ms >= 0);
	}
	checkpoint_read(&found, text, SPAN(""));
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t len)
{
	/* Of its own length: a read behind it is seen. */
	char *copy = malloc(len == 0 ? 1 : len);
	struct span text = span_make(copy, len == 0 ? 0 : len - 1);

	FUZZ_CHECK(copy != NULL);
	if (len > 0)
		memcpy(copy, data + 1, len - 1);
	if (len > 0 && data[0] == 'n')
		look_at_note(text);
	else if (len > 0 && data[0] == 'e')
		look_at_edition(text);
	else
		look_at_parcel(text);
	free(copy);
	return 0;
}
