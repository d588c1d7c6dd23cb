/*
 * router_priv: internals shared by the router's files only.
 *
 *	router.c         which endpoint a request is for, and its answer
 *	router_access.c  who may use it
 */
#pragma once

#include "tools/gridhook/router.h"

#define PUSH_ID_LEN 12

struct waiting;

struct router {
	struct router_spec spec;
	struct waiting *first, **last;
	char push_id[PUSH_ID_LEN + 1]; /* of this run */
	uint64_t pushes;
};

/* The path behind the push path, without the slash before it. */
struct span router_suffix(struct router *gate, struct conn *conn);

/* A header by its lower-case name; `arg` is the struct http. */
struct span router_header(void *arg, const char *name);

/*
 * Each is false when the request has been refused, or waits: pages of other
 * origins, other users' programs, and who does not have the secret. A push may
 * come from a sender with a secret of its own.
 */
bool router_let_page_pass(struct router *gate, struct conn *conn);
bool router_let_user_pass(struct router *gate, struct conn *conn);
bool router_let_secret_pass(
    struct router *gate, struct conn *conn, bool is_push);

/* The body of a push is there: the signature over it, where one is needed. */
bool router_let_signature_pass(struct router *gate, struct conn *conn);
