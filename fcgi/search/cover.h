/*
 * cover: which node answers for which supplier, where each keeps a part of them:
 * the first of those in the supplier's order (lmdb-schema/state/share.h) that keep
 * it and are there. So the parts of all nodes are the same, whichever is asked, as
 * long as they agree on who is there.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "common/err.h"
#include "common/span.h"
#include "fcgi/search/scope.h"
#include "lmdb-schema/state/share.h"

struct call;

struct cover_part {
	const char *address; /* NULL: this node itself */
	unsigned node; /* its number */
	struct scope_wanted
	    wanted; /* in `codes`, which are of the call's arena */
	struct span *codes;
};

struct cover {
	struct call *call;
	struct share share;
	unsigned own;
	uint64_t down; /* nodes that are not asked, a bit for each */
	struct cover_part parts[SHARE_NODES_MAX + 1];
	unsigned count;
	struct span *left; /* suppliers of nobody who is there */
	unsigned left_count;
};

/* Reads which nodes there are. */
enum err cover_begin(struct cover *cover, struct call *call);

/*
 * Suppliers with a snapshot of all nodes, or of this one, in the order of their
 * codes; *absent is how many others have articles.
 */
enum err cover_suppliers(
    struct span **codes, unsigned *count, int64_t *absent, struct cover *cover);

/* Whether this node, or another one, has a snapshot of the supplier. */
enum err cover_is_computed(bool *is, struct cover *cover, struct span supplier);

/* Makes the parts of these suppliers, which are ascending. */
enum err cover_make(
    struct cover *cover, const struct span *codes, unsigned count);

/* Notes that a node answers, and tells whether one has since then. */
void cover_answers(struct cover *cover, unsigned node);
bool cover_has_answered(
    const struct cover *cover, unsigned node, int64_t since_ns);

/* A node that gave no answer is not asked again, and by no request for a while. */
void cover_is_down(struct cover *cover, unsigned node, bool for_others);
