/*
 * gate: which endpoint a request is for, who may use it, and what it gets.
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
#include "tools/gridhook/settings.h"
#include "tools/gridhook/window/relay.h"

struct gate;

struct gate_spec {
	const struct settings *settings; /* as they are when a request comes */
	struct journal *journal;
	struct relay *relay;
	struct calls *calls;
	struct guard *guard;
	const struct recipes *recipes; /* families of files */
};

/* The members of *spec are kept by pointer. */
enum err gate_open(struct gate **out, const struct gate_spec *spec);
void gate_close(struct gate *gate);

/* A request's head is there: refused, answered, or its body may come. */
void gate_head(struct gate *gate, struct conn *conn);

/* Whether one more refusal of theirs gets a line in the log. */
bool gate_may_log(struct gate *gate, struct conn *conn);
bool gate_may_log_address(
    struct gate *gate, const struct sockaddr_storage *address);

/* The whole request is there. */
void gate_request(struct gate *gate, struct conn *conn);

/*
 * The end of a round: stores what it has brought, answers the senders, and
 * lets the window have it.
 */
void gate_round(struct gate *gate);
