#include "fcgi/server.h"

#include <stdlib.h>
#include <string.h>

#include "common/date.h"
#include "common/digest.h"
#include "common/log.h"
#include "fcgi/on_demand.h"
#include "fcgi/roster.h"
#include "lmdb-schema/attempts.h"
#include "lmdb-schema/store.h"

#define ARENA_MAX ((size_t)64 << 20)
#define TEXT_MAX (1u << 20)
#define RANKS_MAX ((size_t)1 << 30)
#define IDLE_SECONDS 3600
#define WRITE_USES_NS INT64_C(60000000000)

enum err
server_open(struct server **out, const struct settings *settings,
    struct metrics *metrics, struct fault *fault)
{
	struct server *server = calloc(1, sizeof(*server));
	enum err err;

	*out = NULL;
	if (server == NULL) {
		fault_set(fault, settings->data_dir, "cannot be served: %s",
		    err_text(ERR_NO_MEMORY));
		return ERR_NO_MEMORY;
	}
	server->settings = settings;
	server->metrics = metrics;
	pthread_mutex_init(&server->source_lock, NULL);
	pthread_mutex_init(&server->uses_lock, NULL);
	err = store_open(&server->store, settings->data_dir, fault);
	if (err == ERR_OK)
		err = attempts_open(&server->attempts, server->store);
	if (err == ERR_OK) {
		server->snapcache = snapcache_new(
		    server->store, (unsigned)settings->snapshots_open, metrics);
		server->excerpts = excerpts_new(EXCERPTS_BYTES);
		server->roster = roster_slot_new();
		server->computing = computing_table_new(settings, metrics);
		if (server->snapcache == NULL || server->excerpts == NULL ||
		    server->roster == NULL || server->computing == NULL)
			err = ERR_NO_MEMORY;
	}
	if (err != ERR_OK) {
		/* The first one stays: what the store says is closer. */
		fault_set(fault, settings->data_dir, "cannot be served: %s",
		    err_text(err));
		server_close(server);
		return err;
	}
	*out = server;
	return ERR_OK;
}

void
server_release_source(struct shared_source *source)
{
	if (source == NULL || atomic_fetch_sub(&source->users, 1) != 1)
		return;
	source_close(source->source);
	free(source);
}

static void
write_uses(struct server *server)
{
	struct access_use uses[SERVER_USES];
	unsigned count;

	pthread_mutex_lock(&server->uses_lock);
	count = server->use_count;
	memcpy(uses, server->uses, count * sizeof(*uses));
	server->use_count = 0;
	pthread_mutex_unlock(&server->uses_lock);
	if (count > 0)
		access_note_uses(server->store, uses, count); /* logged there */
}

void
server_close(struct server *server)
{
	if (server == NULL)
		return;
	if (server->store != NULL)
		write_uses(server);
	server_release_source(server->source);
	roster_slot_free(server->roster);
	excerpts_free(server->excerpts);
	snapcache_free(server->snapcache);
	computing_table_free(server->computing);
	attempts_close(server->attempts);
	store_close(server->store);
	pthread_mutex_destroy(&server->source_lock);
	pthread_mutex_destroy(&server->uses_lock);
	free(server);
}

void
server_tick(struct server *server)
{
	int64_t now = date_monotonic_ns();

	if (now - server->ticked_ns < WRITE_USES_NS)
		return;
	server->ticked_ns = now;
	write_uses(server);
	roster_slot_tick(server->roster, IDLE_SECONDS);
	excerpts_tick(server->excerpts, IDLE_SECONDS);
	snapcache_tick(server->snapcache, IDLE_SECONDS);
}

void
server_note_use(struct server *server, struct span id)
{
	int64_t now = date_now_ms();
	unsigned i = 0;

	pthread_mutex_lock(&server->uses_lock);
	while (
	    i < server->use_count && !span_eq(id, span_of(server->uses[i].id)))
		i++;
	/* Beyond the table's size a use stays unnoted until the next tick. */
	if (i < SERVER_USES &&
	    (i < server->use_count ||
		span_copy(
		    server->uses[i].id, sizeof(server->uses[i].id), id))) {
		server->uses[i].used_ms = now;
		if (i == server->use_count)
			server->use_count++;
	}
	pthread_mutex_unlock(&server->uses_lock);
}

/* Opens what is current; the one before goes when its last reader ends. */
static enum err
reopen(struct server *server)
{
	struct shared_source *fresh = calloc(1, sizeof(*fresh));
	enum err err;

	if (fresh == NULL)
		return ERR_NO_MEMORY;
	atomic_init(&fresh->users, 1);
	err = source_open(&fresh->source, server->store);
	if (err != ERR_OK) {
		free(fresh);
		return err;
	}
	server_release_source(server->source);
	server->source = fresh;
	return ERR_OK;
}

enum err
server_source(struct shared_source **out, struct call *call)
{
	struct server *server = call->server;
	uint64_t current = live_facts(call->serving->live);
	enum err err = ERR_OK;

	*out = NULL;
	if (current == 0)
		return ERR_NOT_FOUND;
	pthread_mutex_lock(&server->source_lock);
	if (server->source == NULL ||
	    source_generation(server->source->source) != current)
		err = reopen(server);
	if (err == ERR_OK) {
		*out = server->source;
		atomic_fetch_add(&server->source->users, 1);
	}
	pthread_mutex_unlock(&server->source_lock);
	return err;
}

/* What an answer refers to: one of the two. */
struct held {
	struct pinned *pinned;
	struct roster *roster;
};

static void
let_go(struct serving *serving, struct held held)
{
	snapcache_unpin(serving->server->snapcache, held.pinned);
	roster_release(held.roster);
}

/* ERR_NO_MEMORY has let it go. */
static enum err
hold(struct serving *serving, struct held one)
{
	if (serving->held_count == serving->held_room) {
		unsigned room = serving->held_room * 2 + 8;
		struct held *held =
		    reallocarray(serving->held, room, sizeof(*held));

		if (held == NULL) {
			let_go(serving, one);
			return ERR_NO_MEMORY;
		}
		serving->held = held;
		serving->held_room = room;
	}
	serving->held[serving->held_count++] = one;
	return ERR_OK;
}

void
server_hold(struct call *call, struct pinned *pinned)
{
	/* What refers to one that was let go must not go out. */
	if (pinned != NULL &&
	    hold(call->serving, (struct held){.pinned = pinned}) != ERR_OK)
		call->reply->body.err = ERR_NO_MEMORY;
}

enum err
server_hold_roster(struct call *call, struct roster *roster)
{
	return roster == NULL
	    ? ERR_OK
	    : hold(call->serving, (struct held){.roster = roster});
}

void
server_release_held(struct serving *serving)
{
	packed_release(serving->packed);
	serving->packed = NULL;
	while (serving->held_count > 0)
		let_go(serving, serving->held[--serving->held_count]);
}

struct serving *
serving_new(struct server *server)
{
	struct serving *serving = calloc(1, sizeof(*serving));

	if (serving == NULL)
		return NULL;
	serving->server = server;
	reply_init(&serving->reply);
	splice_init(&serving->splice);
	pieces_init(&serving->tail);
	stitch_init(&serving->stitch);
	buf_init(&serving->message, TEXT_MAX);
	buf_init(&serving->details, TEXT_MAX);
	buf_init(&serving->folded, TEXT_MAX);
	buf_init(&serving->ranks, RANKS_MAX);
	serving->arena = arena_new(ARENA_MAX);
	if (serving->arena == NULL ||
	    live_view_open(&serving->live, server->store) != ERR_OK ||
	    catalog_view_open(&serving->catalog, server->store) != ERR_OK ||
	    state_view_open(&serving->state, server->store) != ERR_OK) {
		serving_free(serving);
		return NULL;
	}
	live_view_rest(serving->live);
	catalog_view_rest(serving->catalog);
	state_view_rest(serving->state);
	return serving;
}

void
serving_free(struct serving *serving)
{
	if (serving == NULL)
		return;
	live_view_close(serving->live);
	catalog_view_close(serving->catalog);
	state_view_close(serving->state);
	arena_free(serving->arena);
	reply_fini(&serving->reply);
	splice_fini(&serving->splice);
	pieces_fini(&serving->tail);
	stitch_fini(&serving->stitch);
	server_release_held(serving);
	digest_forget(&serving->key, sizeof(serving->key));
	free(serving->held);
	buf_fini(&serving->message);
	buf_fini(&serving->details);
	buf_fini(&serving->folded);
	buf_fini(&serving->ranks);
	free(serving);
}
