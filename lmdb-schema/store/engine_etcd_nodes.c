/* engine_etcd: the nodes' records, and etcd's members. */
#include <string.h>

#include "common/num.h"
#include "lmdb-schema/store/engine_etcd_priv.h"

static enum err
ask_lease(struct etcd *etcd, struct lane *lane, unsigned seconds, char *lease)
{
	enum err err;

	buf_clear(&lane->body);
	etcd_ask_lease(&lane->body, seconds);
	err = engine_etcd_ask(etcd, lane, "/v3/lease/grant", true);
	return err == ERR_OK ? etcd_lease(buf_span(&lane->answer), lease) : err;
}

static enum err
put_node(struct etcd *etcd, const struct engine_node *node, const char *lease,
    bool is_new, struct engine_node *other)
{
	struct lane *lane = &etcd->nodes;
	enum err err;

	buf_clear(&lane->body);
	etcd_ask_node(&lane->body, name_of(etcd), node, span_of(lease), is_new);
	err = engine_etcd_ask(etcd, lane, "/v3/kv/txn", true);
	if (err == ERR_OK)
		err = etcd_node_put(
		    buf_span(&lane->answer), span_of(node->run), other);
	return err;
}

static enum err
node_put(struct engine *engine, const struct engine_node *node,
    unsigned seconds, struct engine_node *other)
{
	struct etcd *etcd = (struct etcd *)engine;
	char lease[NUM_TEXT_MAX];
	enum err err;

	pthread_mutex_lock(&etcd->nodes.lock);
	err = ask_lease(etcd, &etcd->nodes, seconds, lease);
	if (err == ERR_OK)
		err = put_node(etcd, node, lease, false, other);
	if (err == ERR_NOT_FOUND)
		err = put_node(etcd, node, lease, true, other);
	if (err == ERR_OK)
		engine_etcd_written(etcd, &etcd->nodes);
	pthread_mutex_unlock(&etcd->nodes.lock);
	return engine_etcd_as_away(err);
}

static enum err
get_nodes(struct engine *engine,
    enum err (*each)(void *context, const struct engine_node *node),
    void *context)
{
	struct etcd *etcd = (struct etcd *)engine;
	struct lane *lane = &etcd->nodes;
	enum err err;

	pthread_mutex_lock(&lane->lock);
	buf_clear(&lane->body);
	etcd_ask_nodes(&lane->body, name_of(etcd));
	err = engine_etcd_ask(etcd, lane, "/v3/kv/range", true);
	if (err == ERR_OK)
		err = etcd_nodes(buf_span(&lane->answer), each, context);
	pthread_mutex_unlock(&lane->lock);
	return engine_etcd_as_away(err);
}

/* --- etcd's members -------------------------------------------------------- */

/*
 * A member answers of itself without a majority, which a login needs: it is asked
 * without one first.
 */
static enum err
ask_status(struct etcd *etcd, struct lane *lane)
{
	static const char path[] = "/v3/maintenance/status";
	char token[ETCD_TOKEN_MAX];
	int status = 0;
	enum err err;

	memcpy(token, lane->token, sizeof(token));
	lane->token[0] = '\0';
	err = engine_etcd_ask_member(etcd, lane, path, &lane->body, &status);
	memcpy(lane->token, token, sizeof(token));
	return err == ERR_OK && status != 200
	    ? engine_etcd_ask_one(etcd, lane, path)
	    : err;
}

static enum err
ask_server(struct etcd *etcd, unsigned which, struct engine_server *server)
{
	struct lane *lane = &etcd->nodes;
	enum err err;

	*server = (struct engine_server){.address = etcd->member[which]};
	lane->member = which;
	lane->refused = lane->denied = lane->writes = false;
	lane->said[0] = '\0';
	lane->end_ns = engine_end_ns(0);
	buf_clear(&lane->body);
	buf_add_text(&lane->body, "{}");
	err = buf_end(&lane->body);
	if (err == ERR_OK && lane->asker == NULL)
		err = asker_new(&lane->asker, &etcd->trust);
	if (err == ERR_OK)
		err = ask_status(etcd, lane);
	if (err == ERR_OK)
		err = etcd_status(buf_span(&lane->answer), server);
	/* Of one whose certificate is not trusted no answer was read. */
	server->there =
	    err == ERR_OK || (lane->refused && lane->said[0] != '\0');
	if (err != ERR_OK)
		server->why = engine_etcd_why(lane, err);
	return err == ERR_NO_MEMORY ? err : ERR_OK;
}

static enum err
get_servers(struct engine *engine,
    enum err (*each)(void *context, const struct engine_server *server),
    void *context)
{
	struct etcd *etcd = (struct etcd *)engine;
	enum err err = ERR_OK;

	pthread_mutex_lock(&etcd->nodes.lock);
	for (unsigned i = 0; i < etcd->count && err == ERR_OK; i++) {
		struct engine_server server;

		err = ask_server(etcd, i, &server);
		if (err == ERR_OK)
			err = each(context, &server);
	}
	pthread_mutex_unlock(&etcd->nodes.lock);
	return err;
}

void
engine_etcd_for_nodes(struct engine *engine)
{
	engine->node_put = node_put;
	engine->nodes = get_nodes;
	engine->servers = get_servers;
}
