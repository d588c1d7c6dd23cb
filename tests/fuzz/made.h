/*
 * made: a small data directory for targets that need one, made by gridctl the
 * first time it is asked for and removed when the process ends.
 */
#pragma once

#include <stdint.h>

#include "common/fs.h"
#include "common/span.h"

/*
 * S1, S2 and S5 of tests/flow/data are computed, S3 is not. The path, without
 * a slash behind it.
 */
const char *made_flow(void);

/* 300 articles of made-up demo data, all computed. */
const char *made_demo(void);

/* 600 such articles, their rows packed. */
const char *made_packed(void);

/* Runs gridctl there; the first line that it says. */
struct span made_gridctl(const char *data, const char *words);

/* The one file below `folder` whose name ends so; "" when there is none. */
void made_find(char path[FS_PATH_MAX], const char *folder, const char *end);

/*
 * Damage: a list of {u32 place, u8 length, bytes} lays its bytes over `file`,
 * each place taken modulo its length. What is left of `patches` is ignored.
 */
void made_damage(char *file, size_t len, struct span patches);

/*
 * Writes a copy of `sound` to `path`, with the damage that an input asks for:
 * `lay` gets the copy, the input's first byte and what follows it. With 'c' as
 * first byte the file is cut short as well.
 */
void made_write_damaged(const char *path, struct span sound,
    void (*lay)(char *file, uint8_t how, struct span patches),
    struct span input);

/* Replaces a file's bytes, without a sync. */
void made_write(const char *path, const void *bytes, size_t len);
