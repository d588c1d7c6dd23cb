/*
 * call: one request on its way, as each of its steps sees it: what was asked,
 * who asks, the answer in the making, and what the worker process and the
 * thread keep for it.
 */
#pragma once

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "common/buf.h"
#include "common/digest.h"
#include "common/err.h"
#include "common/siphash.h"
#include "common/span.h"
#include "fcgi/http/params.h"
#include "fcgi/http/query.h"
#include "fcgi/http/reply.h"
#include "fcgi/http/request.h"
#include "fcgi/views.h"
#include "lmdb-schema/state/access.h"
#include "lmdb-schema/state/rights.h"

struct arena;
struct attempts;
struct computing_table;
struct figures_cache;
struct holder_list;
struct holders;
struct row_cache;
struct key_uses;
struct many;
struct metrics;
struct peers;
struct scope_slot;
struct route;
struct api_settings;
struct snapcache;
struct source_slot;
struct splice;
struct gzip_dump;
struct store;

/* Shared by the threads of a worker process; server.c makes it. */
struct server {
	const struct api_settings *settings;
	struct metrics *metrics;
	struct store *store;
	struct snapcache *snapcache;
	struct row_cache *row_cache;
	struct figures_cache *figures;
	struct scope_slot *scope;
	struct computing_table *computing; /* on_demand.c */
	struct attempts *attempts; /* to log in */
	struct source_slot *source; /* shared_source.c */
	struct key_uses *uses;
	char *node; /* its name among several; NULL: on its own */
	bool keeps_part; /* of the suppliers, as others do: rows/holder.h */
	atomic_bool told_no_passing; /* the log: nginx passes nothing on */
	struct peers *peers; /* search/peers.h, where it does */
	atomic_uint waiting; /* threads, for other nodes' entries: seen.c */
};

/*
 * The API key that was found valid last, and at which commit of the state. Of
 * its text only a hash is kept, under a random key of this thread: a core file
 * or a stray read gives away no API key.
 */
struct known_key {
	uint8_t secret[SIPHASH_KEY_LEN];
	uint8_t hash[SIPHASH_LEN];
	bool valid; /* false: no key is known */
	uint64_t commit;
	char id[ACCESS_ID_LEN + 1], name[ACCESS_NAME_MAX + 1];
	bool may_propose;
	int64_t expires_ms, per_minute; /* 0: none */
	char suppliers[ACCESS_SUPPLIERS_MAX + 1]; /* as access.h has them */
};

/* State that a thread keeps between requests. */
struct serving {
	struct server *server;
	struct views views; /* renewed for each request, at rest between two */
	struct known_key key; /* auth.c */
	struct arena *arena;
	struct reply reply;
	struct splice *splice;
	struct gzip_dump *gzip_dump;
	struct many *many; /* search/gather.c: connections to other nodes */
	/* Texts, each with the one module that writes it. */
	struct buf message; /* steps.c: of an error in the query */
	struct buf details; /* fail.c, steps.c: of an error */
	struct buf folded; /* call_fold() */
	struct buf text; /* answer.c: the answer, but for its rows */
	struct buf label; /* across_order.c: of a row, without escapes */
	struct buf ranks; /* across.c: that a search has found */
	/* Things that the answer refers to, until it is put: call_hold(). */
	struct held *held;
	unsigned held_count, held_room;
};

/* The caller. */
enum subject_kind { SUBJECT_NOBODY, SUBJECT_KEY, SUBJECT_USER };

struct subject {
	enum subject_kind kind;
	struct span name; /* recorded as the author of proposals */
	struct span id; /* a key's id */
	bool may_propose;
	int64_t expires_ms; /* a user's session */
	int64_t per_minute; /* requests of a key; 0: any number */
	struct span suppliers; /* that a key may see; empty: all */
	struct rights rights; /* of a user */
	uint8_t session[DIGEST_SHA256_LEN]; /* a user's: session.h's id */
	bool outside; /* a user's session that session_admit() made */
};

struct call {
	struct serving *serving;
	struct server *server;
	const struct request *request;
	const struct route *route;
	struct subject subject;
	struct span path[2]; /* what {…} in the route's path stands for */
	struct reply *reply;
	bool handed_over; /* nginx is to ask again elsewhere */
	const struct holder_list *passed; /* to these nodes: rows/holder.h */
	struct holders *holders; /* rows/holder.c: of the nodes, once asked */
	/* Two kilobytes that their steps fill: not cleared before. */
	struct query query;
	struct params params;
};

/*
 * Keeps `what` until the answer is put: `release` is then called with both.
 * ERR_NO_MEMORY has called it at once: what refers to it must not go out.
 */
enum err call_hold(struct call *call, void (*release)(void *owner, void *what),
    void *owner, void *what);

/* The answer is put. */
void call_release_held(struct serving *serving);

/* Whether the caller may see a supplier: to others it does not exist. */
static inline bool
call_sees(const struct call *call, struct span supplier)
{
	return call->subject.suppliers.len == 0 ||
	    access_sees(call->subject.suppliers, supplier);
}

/* The folded words of a search text, valid until the next call. */
enum err call_fold(struct span *words, struct call *call, struct span text);
