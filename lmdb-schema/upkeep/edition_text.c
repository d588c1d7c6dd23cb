#include "lmdb-schema/upkeep/edition_text.h"

#include <string.h>

#include "lmdb-schema/key.h"
#include "lmdb-schema/upkeep/parcel.h"

static const char head[] = "product-grid edition ";

/* As source_files() tells it, so that it leads out of no folder. */
static bool
is_fact_name(const char *name)
{
	bool temporary;

	return strspn(name, "0123456789abcdef-.mdb") == strlen(name) &&
	    key_facts_generation(name, &temporary) != 0 && !temporary;
}

enum err
edition_text_add(
    struct edition_files *files, struct span name, const struct files_id *file)
{
	struct edition_fact *fact = &files->facts[files->count];

	if (files->count == EDITION_FACTS_MAX ||
	    !span_copy(fact->name, sizeof(fact->name), name) ||
	    !is_fact_name(fact->name))
		return ERR_BAD_INPUT;
	fact->file = *file;
	files->count++;
	return ERR_OK;
}

static void
add_file(struct buf *out, const struct files_id *file)
{
	buf_addf(out, "%llu %s\n", (unsigned long long)file->bytes, file->name);
}

void
edition_text_write(struct buf *out, const struct edition_files *files)
{
	buf_addf(out, "%s1\nnumber %llu\nlive ", head,
	    (unsigned long long)files->number);
	add_file(out, &files->live);
	for (unsigned i = 0; i < files->count; i++) {
		buf_addf(out, "facts %s ", files->facts[i].name);
		add_file(out, &files->facts[i].file);
	}
	buf_add_text(out, "end\n");
}

/* As parcel_file(), with a ceiling. */
static bool
take_file(struct files_id *file, struct span text)
{
	return parcel_file(file, text) && file->bytes <= EDITION_FILE_MAX;
}

static enum err
take_fact(struct edition_files *files, struct span value)
{
	struct files_id file;
	struct span name;

	if (!span_cut(&name, &value, ' ') || !take_file(&file, value))
		return ERR_BAD_INPUT;
	return edition_text_add(files, name, &file);
}

enum err
edition_text_read(struct edition_files *files, struct span text)
{
	struct span value;
	uint64_t version;
	enum err err = ERR_OK;

	memset(files, 0, sizeof(*files));
	if (!parcel_line(&value, &text, head) ||
	    !parcel_number(&version, value) || version == 0)
		return ERR_BAD_INPUT;
	if (version > 1)
		return ERR_VERSION;
	if (!parcel_line(&value, &text, "number ") ||
	    !parcel_number(&files->number, value) || files->number == 0 ||
	    !parcel_line(&value, &text, "live ") ||
	    !take_file(&files->live, value))
		return ERR_BAD_INPUT;
	while (err == ERR_OK && parcel_line(&value, &text, "facts "))
		err = take_fact(files, value);
	if (err == ERR_OK && !span_eq(text, SPAN("end\n")))
		err = ERR_BAD_INPUT;
	return err;
}

uint64_t
edition_text_bytes(const struct edition_files *files)
{
	uint64_t bytes = files->live.bytes;

	for (unsigned i = 0; i < files->count; i++)
		bytes += files->facts[i].file.bytes;
	return bytes;
}

bool
edition_text_has(const struct edition_files *files, const char *sha)
{
	bool has = strcmp(files->live.name, sha) == 0;

	for (unsigned i = 0; i < files->count && !has; i++)
		has = strcmp(files->facts[i].file.name, sha) == 0;
	return has;
}
