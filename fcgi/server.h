/*
 * server: what a worker process keeps, and what each of its threads keeps.
 * Only serve.c and the steps it calls look inside.
 */
#pragma once

#include <pthread.h>

#include "common/arena.h"
#include "fcgi/excerpts.h"
#include "fcgi/params.h"
#include "fcgi/query.h"
#include "fcgi/reply.h"
#include "fcgi/serve.h"
#include "fcgi/snapcache.h"
#include "fcgi/splice.h"
#include "fcgi/stitch.h"
#include "lmdb-schema/access.h"
#include "lmdb-schema/catalog.h"
#include "lmdb-schema/live.h"
#include "lmdb-schema/source.h"
#include "lmdb-schema/state.h"

#define SERVER_USES 256 /* keys whose last use is waiting to be written */

struct server {
	const struct settings *settings;
	struct metrics *metrics;
	struct store *store;
	struct snapcache *snapcache;
	struct excerpts *excerpts;
	struct roster_slot *roster; /* roster.c */
	/* The current facts, opened anew when an import has replaced them. */
	pthread_mutex_t source_lock;
	struct shared_source *source;
	/* When keys were used last, until server_tick() writes it. */
	pthread_mutex_t uses_lock;
	struct access_use uses[SERVER_USES];
	unsigned use_count;
	struct computing_table *computing; /* on_demand.c */
	struct attempts *attempts; /* to log in */
	int64_t ticked_ns;
};

/* Facts that several requests may be reading when they are replaced. */
struct shared_source {
	atomic_uint users;
	struct source *source;
};

/* The key that was found good last, and of which commit of the state. */
struct known_key {
	uint64_t commit;
	char text[ACCESS_KEY_MAX]; /* empty: none */
	size_t text_len;
	char id[ACCESS_ID_LEN + 1], name[ACCESS_NAME_MAX + 1];
	bool may_propose;
};

struct serving {
	struct server *server;
	struct live_view *live;
	struct catalog_view *catalog;
	struct state_view *state;
	struct known_key key; /* auth.c */
	struct arena *arena;
	struct reply reply;
	struct splice splice;
	struct buf message, details, folded;
	struct buf ranks; /* that a search across suppliers has found */
	struct pieces tail; /* what stands behind the rows */
	struct stitch stitch;
	struct packed *packed; /* what it refers to, until it is put */
	/* Snapshots and rosters that the answer refers to, until it is put. */
	struct held *held;
	unsigned held_count, held_room;
};

/* Who calls. */
enum subject_kind { SUBJECT_NOBODY, SUBJECT_KEY, SUBJECT_USER };

struct subject {
	enum subject_kind kind;
	struct span name; /* recorded as the author of proposals */
	struct span id; /* a key's id */
	bool may_propose;
	int64_t expires_ms; /* a user's session */
};

/* One request on its way. */
struct call {
	struct serving *serving;
	struct server *server;
	const struct request *request;
	const struct route *route;
	struct subject subject;
	struct span path[2]; /* what {…} in the route's path stands for */
	struct reply *reply;
	bool handed_over; /* nginx is to ask again elsewhere */
	/* Two kilobytes that their steps fill: not cleared before. */
	struct query query;
	struct params params;
};

/* The current facts; pair with server_release_source(). */
enum err server_source(struct shared_source **out, struct call *call);
void server_release_source(struct shared_source *source);

/* Keeps a snapshot open until the answer is put; NULL is fine. */
void server_hold(struct call *call, struct pinned *pinned);

/* Keeps a roster until then; ERR_NO_MEMORY has released it. */
struct roster;
enum err server_hold_roster(struct call *call, struct roster *roster);

/* The answer is put. */
void server_release_held(struct serving *serving);

/* Notes that a key was used now. */
void server_note_use(struct server *server, struct span id);
