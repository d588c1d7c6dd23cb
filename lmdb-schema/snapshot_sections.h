/*
 * snapshot_sections: a snapshot's sections as they lie in the file. For
 * snapshot*.c only.
 */
#pragma once

#include "lmdb-schema/snapshot.h"

/* What the head says of a section, which must be below head->sections. */
const struct snap_section *snapshot_section_row(
    const struct snapshot *snap, unsigned section);

/* Its bytes; NULL when they are not there. */
const char *snapshot_section(struct snapshot *snap, unsigned section);

/* True when the file has lists of grams to find rows by. */
bool snapshot_has_grams(const struct snapshot *snap);
