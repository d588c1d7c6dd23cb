#include "lmdb-schema/upkeep/parcel.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "common/hex.h"
#include "common/num.h"
#include "lmdb-schema/state/trail_parts.h"

static const char head[] = "product-grid checkpoint ";

void
parcel_init(struct parcel *parcel)
{
	memset(parcel, 0, sizeof(*parcel));
}

void
parcel_fini(struct parcel *parcel)
{
	free(parcel->parts);
	parcel_init(parcel);
}

/* As trail_parts_path() makes it, so that it leads out of no folder. */
static bool
is_part_name(const char *name)
{
	bool temporary;

	return strspn(name, "0123456789-abcdef.prt") == strlen(name) &&
	    trail_parts_first(name, &temporary) != 0 && !temporary;
}

enum err
parcel_add_part(
    struct parcel *parcel, struct span name, const struct files_id *file)
{
	struct parcel_part *part, *more;

	if (parcel->count == PARCEL_PARTS_MAX)
		return ERR_TOO_LARGE;
	/* Doubled at each power of two. */
	if ((parcel->count & (parcel->count - 1)) == 0) {
		more = reallocarray(parcel->parts,
		    parcel->count == 0 ? 1 : 2 * (size_t)parcel->count,
		    sizeof(*part));
		if (more == NULL)
			return ERR_NO_MEMORY;
		parcel->parts = more;
	}
	part = &parcel->parts[parcel->count];
	if (!span_copy(part->name, sizeof(part->name), name) ||
	    !is_part_name(part->name))
		return ERR_BAD_INPUT;
	part->file = *file;
	parcel->count++;
	return ERR_OK;
}

static void
add_file(struct buf *out, const struct files_id *file)
{
	buf_addf(out, "%llu %s\n", (unsigned long long)file->bytes, file->name);
}

void
parcel_write(struct buf *out, const struct parcel *parcel)
{
	char chain[2 * DIGEST_SHA256_LEN + 1];

	hex_text(chain, parcel->chain, sizeof(parcel->chain));
	buf_addf(out, "%s1\nepoch %llu\nnumber %llu\nchain %s\nmade %lld\n",
	    head, (unsigned long long)parcel->epoch,
	    (unsigned long long)parcel->number, chain,
	    (long long)parcel->made_ms);
	buf_add_text(out, "state ");
	add_file(out, &parcel->state);
	for (unsigned i = 0; i < parcel->count; i++) {
		buf_addf(out, "part %s ", parcel->parts[i].name);
		add_file(out, &parcel->parts[i].file);
	}
	buf_add_text(out, "end\n");
}

/* --- reading -------------------------------------------------------------- */

bool
parcel_number(uint64_t *out, struct span text)
{
	int64_t number;

	if (!num_int(&number, text, 0, INT64_MAX))
		return false;
	*out = (uint64_t)number;
	return true;
}

bool
parcel_file(struct files_id *file, struct span text)
{
	struct span bytes;

	return span_cut(&bytes, &text, ' ') && files_is_name(text) &&
	    parcel_number(&file->bytes, bytes) &&
	    span_copy(file->name, sizeof(file->name), text);
}

bool
parcel_line(struct span *value, struct span *text, const char *word)
{
	struct span line = span_sub(*text, 0, span_find(*text, '\n'));

	if (line.len == text->len || !span_starts(line, span_of(word)))
		return false;
	*text = span_from(*text, line.len + 1);
	*value = span_from(line, strlen(word));
	return true;
}

static bool
take_head(struct parcel *parcel, struct span *text)
{
	struct span value;
	uint64_t made;

	if (!parcel_line(&value, text, "epoch ") ||
	    !parcel_number(&parcel->epoch, value) ||
	    !parcel_line(&value, text, "number ") ||
	    !parcel_number(&parcel->number, value) ||
	    !parcel_line(&value, text, "chain ") ||
	    !hex_bytes(parcel->chain, sizeof(parcel->chain), value) ||
	    !parcel_line(&value, text, "made ") ||
	    !parcel_number(&made, value) ||
	    !parcel_line(&value, text, "state ") ||
	    !parcel_file(&parcel->state, value))
		return false;
	parcel->made_ms = (int64_t)made;
	return true;
}

static enum err
take_part(struct parcel *parcel, struct span value)
{
	struct files_id file;
	struct span name;

	if (!span_cut(&name, &value, ' ') || !parcel_file(&file, value))
		return ERR_BAD_INPUT;
	return parcel_add_part(parcel, name, &file);
}

enum err
parcel_read(struct parcel *parcel, struct span text)
{
	struct span value;
	uint64_t version;
	enum err err = ERR_OK;

	parcel_init(parcel);
	if (!parcel_line(&value, &text, head) ||
	    !parcel_number(&version, value) || version == 0)
		return ERR_BAD_INPUT;
	if (version > 1)
		return ERR_VERSION;
	if (!take_head(parcel, &text))
		return ERR_BAD_INPUT;
	while (err == ERR_OK && parcel_line(&value, &text, "part "))
		err = take_part(parcel, value);
	if (err == ERR_OK && !span_eq(text, SPAN("end\n")))
		err = ERR_BAD_INPUT;
	if (err != ERR_OK)
		parcel_fini(parcel);
	return err == ERR_TOO_LARGE ? ERR_BAD_INPUT : err;
}
