/*
 * edition_text: which files an edition has (edition.h), as a text of lines, which
 * is a file named by its SHA-256 as those that it names are.
 *
 *	product-grid edition 1
 *	number 12
 *	live BYTES SHA             a copy of live.mdb (facts/live_copy.h)
 *	facts NAME BYTES SHA       any number, files of the folder facts
 *	end
 */
#pragma once

#include <stdint.h>

#include "common/buf.h"
#include "common/err.h"
#include "lmdb-schema/facts/source.h"
#include "lmdb-schema/store/files.h"

#define EDITION_FACTS_MAX (SOURCE_SHARES_MAX + SOURCE_PARTS_MAX + 1)
#define EDITION_TEXT_MAX ((size_t)256 << 10)
#define EDITION_FILE_MAX (UINT64_C(1) << 40) /* bytes */

struct edition_fact {
	char name[SOURCE_NAME_MAX];
	struct files_id file;
};

struct edition_files {
	uint64_t number;
	struct files_id live;
	struct edition_fact facts[EDITION_FACTS_MAX];
	unsigned count;
};

/* ERR_BAD_INPUT for a name that none of the facts' files has. */
enum err edition_text_add(
    struct edition_files *files, struct span name, const struct files_id *file);

void edition_text_write(struct buf *out, const struct edition_files *files);

/* ERR_VERSION for one of a later version, ERR_BAD_INPUT for what is none. */
enum err edition_text_read(struct edition_files *files, struct span text);

/* The bytes of all of them. */
uint64_t edition_text_bytes(const struct edition_files *files);

/* Whether a file with that SHA-256 is one of them. */
bool edition_text_has(const struct edition_files *files, const char *sha);
