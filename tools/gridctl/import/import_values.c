/*
 * import_values: the live values of an import, network metrics and ranges, sorted
 * by code until they are handed over, and what comes twice among them.
 *
 * Records to be sorted: of a product u64 line, then the packed metrics, by its
 * code; of an article u8 range, u64 line, 0 where articles.csv has the range, by
 * supplier 00 codein.
 */
#include <assert.h>

#include "lmdb-schema/sorter.h"
#include "tools/gridctl/import/import_priv.h"

enum err
import_put_gamme(struct import *import, struct span supplier,
    struct span codein, uint8_t gamme, uint64_t line)
{
	struct key key = key_pair(supplier, codein);
	struct buf value;
	enum err err;

	buf_init(&value, 64);
	buf_add(&value, &gamme, 1);
	buf_add_u64(&value, line);
	err = buf_end(&value);
	if (err == ERR_OK)
		err = sorter_add(
		    import->gammes, key_span(&key), buf_span(&value));
	buf_fini(&value);
	return err;
}

enum err
import_put_network(struct import *import, struct span code,
    const struct network *network, uint64_t line)
{
	struct buf value;
	enum err err;

	buf_init(&value, 64 * 1024);
	buf_add_u64(&value, line);
	network_write(&value, network);
	err = buf_end(&value);
	if (err == ERR_OK)
		err = sorter_add(import->networks, code, buf_span(&value));
	buf_fini(&value);
	return err;
}

/* --- what comes twice ----------------------------------------------------- */

void
import_tell_twice(struct import *import, enum import_file file, unsigned column,
    const char *what, struct span code, uint64_t line)
{
	csv_faults_add_late(&import->faults[file], import->names[file], line,
	    import_rows[file].columns[column],
	    "comes twice in this file: %s \"%.*s\"", what, SPAN_ARG(code));
}

static uint64_t
line_of(enum import_file file, struct span value)
{
	return key_value_u64(span_sub(value, file == IMPORT_GAMMES ? 1 : 0, 8));
}

/* The first line with a code is right, the others are faults. */
static enum err
find_twice(struct import *import, enum import_file file, struct sorter *sorter)
{
	struct span key, value, before = SPAN("");
	enum err err = ERR_OK;

	while (sorter_next(sorter, &key, &value)) {
		uint64_t line = line_of(file, value);

		if (line == 0)
			continue;
		if (span_eq(key, before)) {
			if (file == IMPORT_GAMMES)
				import_tell_twice(import, file, 1,
				    "this supplier's article", key_second(key),
				    line);
			else
				import_tell_twice(
				    import, file, 0, "central code", key, line);
			err = ERR_BAD_INPUT;
		}
		before = key;
	}
	return err;
}

static enum err
seal(bool *sealed, struct sorter *sorter)
{
	enum err err = *sealed ? ERR_OK : sorter_seal(sorter);

	*sealed = *sealed || err == ERR_OK;
	return err;
}

enum err
import_end_values(struct import *import, enum import_file file)
{
	bool gammes = file == IMPORT_GAMMES;
	struct sorter *sorter = gammes ? import->gammes : import->networks;
	enum err err;

	assert(gammes || file == IMPORT_NETWORK);
	err = seal(
	    gammes ? &import->gammes_sealed : &import->networks_sealed, sorter);
	return err == ERR_OK ? find_twice(import, file, sorter) : err;
}

/* --- handing over --------------------------------------------------------- */

static enum err
put_networks(struct import *import, struct live_change *change)
{
	struct network network;
	struct span code, value;
	enum err err = seal(&import->networks_sealed, import->networks);

	if (err == ERR_OK)
		sorter_rewind(import->networks);
	while (err == ERR_OK && sorter_next(import->networks, &code, &value)) {
		err = network_read(&network, span_from(value, 8));
		if (err == ERR_OK)
			err = live_put_network(change, code, &network);
	}
	return err;
}

struct ranges {
	struct live_change *change;
	struct span code; /* of the article; empty: none yet */
	uint8_t gamme;
};

static enum err
put_range(const struct ranges *ranges)
{
	return ranges->code.len == 0
	    ? ERR_OK
	    : live_put_gamme(ranges->change, key_first(ranges->code),
		  key_second(ranges->code), ranges->gamme);
}

/* A range of gammes.csv, which is read behind articles.csv, overrides. */
static enum err
put_gammes(struct import *import, struct live_change *change)
{
	struct ranges ranges = {.change = change, .code = SPAN("")};
	struct span code, value;
	enum err err = seal(&import->gammes_sealed, import->gammes);

	if (err == ERR_OK)
		sorter_rewind(import->gammes);
	while (err == ERR_OK && sorter_next(import->gammes, &code, &value)) {
		if (!span_eq(code, ranges.code))
			err = put_range(&ranges);
		ranges.code = code;
		ranges.gamme = (uint8_t)value.ptr[0];
	}
	return err == ERR_OK ? put_range(&ranges) : err;
}

enum err
import_live(struct import *import, struct live_change *change)
{
	enum err err;

	assert(change != NULL);
	err = put_networks(import, change);
	return err == ERR_OK ? put_gammes(import, change) : err;
}
