/*
 * kept: what the Grid screen keeps for a user on the server: edits that are not
 * saved yet, and views. The values are the screen's own text; here they have a
 * name, a version and ceilings. Without an owner a value is shared by all users.
 *
 * In the table meta: "kept" 00 owner 00 name -> packed: unsigned version,
 * text author, unsigned when ms, text value.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "common/err.h"
#include "common/span.h"

struct kv_txn;
struct state_view;
struct store;

#define KEPT_NAME_MAX 150
#define KEPT_VALUE_MAX (4u << 20)
#define KEPT_COUNT_MAX 500u /* of an owner */
#define KEPT_BYTES_MAX (24u << 20) /* of an owner */

#define KEPT_ANY UINT64_MAX /* a version: whichever there is */

struct kept {
	struct span name, author, value;
	uint64_t version; /* 0: there is none */
	int64_t when_ms;
};

/* 1 to KEPT_NAME_MAX bytes of UTF-8 without control characters. */
bool kept_name_ok(struct span name);

/* Borrowed from the view. ERR_NOT_FOUND, ERR_DAMAGED. */
enum err kept_get(struct kept *kept, struct state_view *view, struct span owner,
    struct span name);

/* Each of an owner, by name. */
enum err kept_each(struct state_view *view, struct span owner,
    enum err (*each)(void *context, const struct kept *kept), void *context);

/*
 * Stores `kept`, whose version is the one that the caller knows, 0 for none, or
 * KEPT_ANY. *version is the new one.
 *
 *   ERR_EXISTS     it has another version; nothing was stored
 *   ERR_TOO_LARGE  the owner's values would be too many or too large
 */
enum err kept_put(uint64_t *version, struct store *store, struct span owner,
    const struct kept *kept);

/* ERR_NOT_FOUND, or ERR_EXISTS when it has another version. */
enum err kept_remove(
    struct store *store, struct span owner, struct span name, uint64_t version);

/* All of an owner's, in the caller's transaction; *removed is how many. */
enum err kept_remove_all(
    struct kv_txn *txn, struct span owner, uint64_t *removed);
