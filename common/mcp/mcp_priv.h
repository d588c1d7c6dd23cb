/*
 * mcp_priv: shared by mcp.c and mcp_methods.c; no other file includes it.
 */
#pragma once

#include "common/mcp/mcp.h"
#include "common/mcp/mcpera.h"
#include "common/mcp/rpc.h"

/* A message of a POST. */
struct mcp_item {
	struct mcp_post *post;
	struct rpc rpc;
	enum mcp_era era;
	void *call; /* that the service has begun; NULL: none */
	struct buf answer; /* empty for what needs none */
	int status;
};

struct mcp_post {
	const struct mcp_service *service;
	void *owner;
	char *text; /* of the body: spans of the document point into it */
	struct jscan doc;
	struct mcp_item *items;
	unsigned count, open;
	size_t bytes; /* of the answers so far */
	bool batch;
	bool starting;
	void (*done)(void *arg, const struct mcp_answer *answer);
	void *arg;
};

/* Answers with an error of JSON-RPC; `data` is JSON, or NULL. */
void mcp_answer_error(struct mcp_item *item, int status, int code,
    const char *message, const char *data);

/* Performs the method: true when it is answered, false when a tool is at work. */
bool mcp_do_request(struct mcp_item *item);

/* Answers the POST once no tool is at work. */
void mcp_finish(struct mcp_post *post);
