/*
 * jsonr_priv: shared by jsonr*.c; no other file includes it.
 */
#pragma once

#include "common/jsonr.h"

struct arena;
struct json_t;

struct jsonr {
	struct arena *arena; /* holds all that jansson allocated */
	struct json_t *root;
	unsigned limit; /* of issues kept */
	size_t issues; /* noted; may be more than are kept */
	size_t kept;
	size_t room;
	struct fault *kept_issues; /* place is the path */
	const char *(*words)(const char *english); /* or NULL */
};
