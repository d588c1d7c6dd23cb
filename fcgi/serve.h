/*
 * serve: a request's whole life, from plain data to the last byte. No socket
 * and no process in it: a test serves into a buffer.
 */
#pragma once

#include "common/err.h"
#include "common/sink.h"
#include "fcgi/metrics.h"
#include "fcgi/request.h"
#include "fcgi/settings.h"

struct server; /* a worker process: the store, open snapshots, caches */
struct serving; /* one of its threads: views and buffers kept between requests
		 */

/*
 * Opens the store; call after fork(). `settings` and `metrics` must outlive
 * the server. On failure `fault` says where and why, always.
 */
enum err server_open(struct server **out, const struct settings *settings,
    struct metrics *metrics, struct fault *fault);
void server_close(struct server *server);

/* NULL when memory is out or the store cannot be read. */
struct serving *serving_new(struct server *server);
void serving_free(struct serving *serving);

/*
 * Answers the request into `out`: "Status: 200 OK", header lines, an empty
 * line, the body, as CGI has them. The first put holds the whole head, and for
 * short answers all of it. The result is ERR_OK when all was put, or the
 * sink's failure: then the connection must not look as though it ended well.
 */
enum err serve(
    struct serving *serving, const struct request *request, struct sink *out);

/* Housekeeping between requests, every few seconds: closes idle snapshots. */
void server_tick(struct server *server);
