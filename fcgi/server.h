/*
 * server: the life of what call.h shows: what a worker process keeps, and what
 * each of its threads keeps.
 */
#pragma once

#include "common/err.h"
#include "fcgi/metrics.h"
#include "fcgi/settings.h"

struct server; /* a worker process: the store, open snapshots, caches */
struct serving; /* one of its threads: views and buffers kept between requests
		 */

/*
 * Opens the store; call after fork(). `settings` and `metrics` must outlive
 * the server. On failure `fault` says where and why, always.
 */
enum err server_open(struct server **out, const struct api_settings *settings,
    struct metrics *metrics, struct fault *fault);
void server_close(struct server *server);

/* Housekeeping between requests, every few seconds: closes idle snapshots. */
void server_tick(struct server *server);

/* NULL when memory is out or the store cannot be read. */
struct serving *serving_new(struct server *server);
void serving_free(struct serving *serving);

/*
 * Memory beyond these that an answer took goes back when the answer is put:
 * what a thread keeps is at most SERVING_KEEP of each of eleven buffers, and
 * IOVBUF_KEEP chunks of each of two bodies.
 */
#define SERVING_KEEP ((size_t)128 << 10)
void serving_give_back(struct serving *serving);
