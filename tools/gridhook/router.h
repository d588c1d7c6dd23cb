/*
 * router: which endpoint a request is for, who may use it, and what it gets.
 *
 * The order of the refusals is part of the contract: unknown paths are 404
 * before any secret is asked for, and a body is only read once nothing but
 * the body can be wrong.
 */
#pragma once

#include "common/err.h"
#include "tools/gridhook/events/journal.h"
#include "tools/gridhook/guard.h"
#include "tools/gridhook/mcp/call.h"
#include "tools/gridhook/net/conn.h"
#include "tools/gridhook/senders.h"
#include "tools/gridhook/settings.h"
#include "tools/gridhook/window/relay.h"

struct router;

struct router_spec {
	const struct hook_settings
	    *settings; /* as they are when a request comes */
	struct journal *journal;
	struct relay *relay;
	struct calls *calls;
	struct guard *guard;
	const struct recipes *recipes; /* families of files */
	const struct senders *senders; /* with secrets of their own; or NULL */
};

/* The members of *spec are kept by pointer. */
enum err router_open(struct router **out, const struct router_spec *spec);
void router_close(struct router *gate);

/* A request's head is there: refused, answered, or its body may come. */
void router_head(struct router *gate, struct conn *conn);

/* Whether one more refusal of theirs gets a line in the log. */
bool router_may_log(struct router *gate, struct conn *conn);
bool router_may_log_address(
    struct router *gate, const struct sockaddr_storage *address);

/* The whole request is there. */
void router_request(struct router *gate, struct conn *conn);

/*
 * The end of a round: stores what it has brought, answers the senders, and
 * lets the window have it.
 */
void router_round(struct router *gate);
