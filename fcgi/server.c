#include "fcgi/server.h"

#include <assert.h>
#include <malloc.h>
#include <stdlib.h>
#include <string.h>

#include "common/arena.h"
#include "common/date.h"
#include "common/digest.h"
#include "common/log.h"
#include "common/web/many.h"
#include "fcgi/call.h"
#include "fcgi/dump/gzip_dump.h"
#include "fcgi/key_uses.h"
#include "fcgi/rows/figures.h"
#include "fcgi/rows/row_cache.h"
#include "fcgi/rows/on_demand.h"
#include "fcgi/rows/shared_source.h"
#include "fcgi/rows/snapcache.h"
#include "fcgi/rows/splice.h"
#include "fcgi/search/peers.h"
#include "fcgi/search/scope.h"
#include "lmdb-schema/state/attempts.h"
#include "lmdb-schema/store/cluster.h"
#include "lmdb-schema/store/store.h"

#define ARENA_MAX ((size_t)64 << 20)
#define TEXT_MAX (1u << 20)
#define DETAILS_MAX ((size_t)16 << 20)
#define ANSWER_MAX ((size_t)256 << 20)
#define RANKS_MAX ((size_t)1 << 30)
#define IDLE_SECONDS 3600
#define WRITE_USES_NS INT64_C(60000000000)

/* The part of a server that only this file sees. */
struct ticking {
	struct server server; /* first: a server is its ticking */
	int64_t ticked_ns;
};

/* A thread's state, with the parts that headers above call.h define. */
struct serving_parts {
	struct serving serving; /* first: a serving is its parts */
	struct splice splice;
	struct gzip_dump gzip_dump;
};

static enum err
make_parts(struct server *server)
{
	const struct api_settings *settings = server->settings;

	server->snapcache = snapcache_new(
	    server->store, (unsigned)settings->snapshots_open, server->metrics);
	server->row_cache = row_cache_new(ROW_CACHE_BYTES);
	server->figures = figures_cache_new(FIGURES_BYTES);
	server->scope = scope_slot_new();
	server->computing = computing_table_new(settings, server->metrics);
	server->source = source_slot_new();
	server->uses = key_uses_new();
	return server->snapcache == NULL || server->row_cache == NULL ||
		server->figures == NULL || server->scope == NULL ||
		server->computing == NULL || server->source == NULL ||
		server->uses == NULL
	    ? ERR_NO_MEMORY
	    : ERR_OK;
}

static enum err
name_node(struct server *server, struct fault *fault)
{
	struct engine_node node;
	struct cluster_sharing sharing;
	enum err err = cluster_node(&node, server->settings->data_dir, fault);

	if (err == ERR_OK)
		err = cluster_sharing(
		    &sharing, server->settings->data_dir, fault);
	if (err != ERR_OK || node.name[0] == '\0')
		return err;
	server->keeps_part = sharing.keep > 0;
	if (server->keeps_part)
		err = peers_new(
		    &server->peers, server->settings->data_dir, fault);
	if (err != ERR_OK)
		return err;
	server->node = strdup(node.name);
	return server->node == NULL ? ERR_NO_MEMORY : ERR_OK;
}

/* Once, and not by each process. */
static void
tell_cut_off(const struct server *server)
{
	struct fault fault;

	if (!store_is_cut_off(server->store) ||
	    atomic_exchange(&server->metrics->cut_off_told, true))
		return;
	fault_clear(&fault);
	(void)cluster_cut_off(server->settings->data_dir, &fault);
	log_error("%s: %s", fault.place, fault.message);
}

enum err
server_open(struct server **out, const struct api_settings *settings,
    struct metrics *metrics, struct fault *fault)
{
	struct ticking *ticking = calloc(1, sizeof(*ticking));
	struct server *server;
	enum err err;

	assert(settings->data_dir != NULL && metrics != NULL);
	*out = NULL;
	if (ticking == NULL) {
		fault_set(fault, settings->data_dir, "cannot be served: %s",
		    err_text(ERR_NO_MEMORY));
		return ERR_NO_MEMORY;
	}
	server = &ticking->server;
	server->settings = settings;
	server->metrics = metrics;
	err = store_open(&server->store, settings->data_dir, fault);
	if (err == ERR_OK)
		err = name_node(server, fault);
	if (err == ERR_OK)
		err = store_watch(server->store);
	if (err == ERR_OK)
		err = attempts_open(&server->attempts, server->store);
	if (err == ERR_OK)
		err = make_parts(server);
	if (err != ERR_OK) {
		/* The first one stays: what the store says is closer. */
		fault_set(fault, settings->data_dir, "cannot be served: %s",
		    err_text(err));
		server_close(server);
		return err;
	}
	tell_cut_off(server);
	*out = server;
	return ERR_OK;
}

void
server_close(struct server *server)
{
	if (server == NULL)
		return;
	if (server->uses != NULL)
		key_uses_write(server->uses, server->store);
	source_slot_free(server->source);
	scope_slot_free(server->scope);
	figures_cache_free(server->figures);
	row_cache_free(server->row_cache);
	snapcache_free(server->snapcache);
	computing_table_free(server->computing);
	key_uses_free(server->uses);
	attempts_close(server->attempts);
	store_close(server->store);
	peers_free(server->peers);
	free(server->node);
	free((struct ticking *)server);
}

void
server_tick(struct server *server)
{
	struct ticking *ticking = (struct ticking *)server;
	int64_t now = date_monotonic_ns();

	if (now - ticking->ticked_ns < WRITE_USES_NS)
		return;
	ticking->ticked_ns = now;
	key_uses_write(server->uses, server->store);
	scope_slot_tick(server->scope, IDLE_SECONDS);
	figures_cache_tick(server->figures, IDLE_SECONDS);
	row_cache_tick(server->row_cache, IDLE_SECONDS);
	snapcache_tick(server->snapcache, IDLE_SECONDS);
	malloc_trim(0); /* what was freed below something that is still used */
}

struct serving *
serving_new(struct server *server)
{
	struct serving_parts *parts = calloc(1, sizeof(*parts));
	struct serving *serving;

	assert(server->store != NULL);
	if (parts == NULL)
		return NULL;
	serving = &parts->serving;
	serving->server = server;
	serving->splice = &parts->splice;
	serving->gzip_dump = &parts->gzip_dump;
	reply_init(&serving->reply);
	splice_init(serving->splice);
	gzip_dump_init(serving->gzip_dump);
	buf_init(&serving->message, TEXT_MAX);
	buf_init(&serving->details, DETAILS_MAX);
	buf_init(&serving->folded, TEXT_MAX);
	buf_init(&serving->text, ANSWER_MAX);
	buf_init(&serving->label, TEXT_MAX);
	buf_init(&serving->ranks, RANKS_MAX);
	serving->arena = arena_new(ARENA_MAX);
	if (serving->arena == NULL ||
	    digest_random(serving->key.secret, sizeof(serving->key.secret)) !=
		ERR_OK ||
	    views_open(&serving->views, server->store) != ERR_OK) {
		serving_free(serving);
		return NULL;
	}
	return serving;
}

static void
keep_less(struct buf *buf)
{
	if (buf->cap > SERVING_KEEP)
		buf_fini(buf);
}

void
serving_give_back(struct serving *serving)
{
	assert(serving->held_count == 0);
	keep_less(&serving->message);
	keep_less(&serving->details);
	keep_less(&serving->folded);
	keep_less(&serving->text);
	keep_less(&serving->label);
	keep_less(&serving->ranks);
	keep_less(&serving->splice->text);
	gzip_dump_give_back(serving->gzip_dump, SERVING_KEEP);
	iovbuf_give_back(&serving->reply.body);
	packer_give_back(&serving->reply.packer, SERVING_KEEP);
}

void
serving_free(struct serving *serving)
{
	if (serving == NULL)
		return;
	many_free(serving->many);
	views_close(&serving->views);
	arena_free(serving->arena);
	reply_fini(&serving->reply);
	splice_fini(serving->splice);
	gzip_dump_fini(serving->gzip_dump);
	call_release_held(serving);
	digest_forget(&serving->key, sizeof(serving->key));
	free(serving->held);
	buf_fini(&serving->message);
	buf_fini(&serving->details);
	buf_fini(&serving->folded);
	buf_fini(&serving->text);
	buf_fini(&serving->label);
	buf_fini(&serving->ranks);
	free((struct serving_parts *)serving);
}
