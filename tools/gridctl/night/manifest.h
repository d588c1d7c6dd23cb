/*
 * manifest: the list of a delivery's files, which says that it is complete:
 *
 *	import merge
 *	1234 SHA-256-in-hex articles.csv
 *	end
 *
 * "import whole" or "import merge", then size, digest and name of each file,
 * then "end", so that a manifest cut short is told from a whole one.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "common/digest.h"
#include "common/err.h"
#include "common/span.h"

#define MANIFEST_FILES_MAX 32
#define MANIFEST_BYTES_MAX (64 << 10)
#define MANIFEST_NAME_MAX 64

struct manifest_file {
	uint64_t bytes;
	uint8_t digest[DIGEST_SHA256_LEN];
	char name[MANIFEST_NAME_MAX + 1];
};

struct manifest {
	bool merge;
	unsigned count;
	struct manifest_file files[MANIFEST_FILES_MAX];
};

/* ERR_BAD_INPUT: `fault` has the line, and what it may be. */
enum err manifest_read(
    struct manifest *out, struct span text, struct fault *fault);

/*
 * Reads a marker without a list: "merge", or "whole", which an empty one means
 * as well.
 */
enum err manifest_mode(bool *merge, struct span text, struct fault *fault);

/* NULL when the manifest does not name the file. */
const struct manifest_file *manifest_find(
    const struct manifest *manifest, const char *name);
