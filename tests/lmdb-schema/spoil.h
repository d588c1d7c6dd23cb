/*
 * spoil: each record of an environment's table with one byte flipped on the
 * disk, one after the other, while the store is open.
 */
#pragma once

#include "common/kv/kv.h"

/* Flips a bit of the value of `key`, or of its checksum when that is empty. */
void spoil_one(
    struct kv *kv, unsigned table, const char *path, struct span key);

/*
 * For each byte of each value of `table`, its checksum too: flips a bit of it
 * in `path`, calls `look`, and flips it back. How many bytes that were.
 */
unsigned spoil_each(struct kv *kv, unsigned table, const char *path,
    void (*look)(const char *table, struct span key));
