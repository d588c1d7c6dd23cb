/*
 * query: a raw request target -> its path's segments and its parameters,
 * decoded and checked. What is malformed is told by a fault; nothing is
 * guessed.
 */
#pragma once

#include <stdbool.h>

#include "common/arena.h"
#include "common/err.h"
#include "common/span.h"

#define QUERY_SEGMENTS_MAX 8
#define QUERY_PAIRS_MAX 64

struct query_pair {
	struct span name, value;
};

struct query {
	struct span raw; /* the part behind '?', as it was sent */
	unsigned segment_count;
	struct span segments[QUERY_SEGMENTS_MAX];
	unsigned pair_count;
	struct query_pair pairs[QUERY_PAIRS_MAX];
	/* A path that can be none of ours: too deep, or an empty segment. */
	bool no_path;
	bool bad_pair; /* what is wrong is a parameter, the fault's place */
};

/*
 * Decoded texts are taken from `arena`. ERR_BAD_INPUT: a bad escape, a NUL, a
 * control character, bytes that are not UTF-8, or too many parameters; the
 * fault's place is the parameter's name, or "path".
 */
enum err query_parse(struct query *query, struct span uri, struct arena *arena,
    struct fault *fault);
