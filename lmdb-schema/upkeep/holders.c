#include "lmdb-schema/upkeep/holders.h"

#include <string.h>

#define STALL_S 20

enum err
holders_begin(struct holders *holders, const char *dir, struct fault *fault)
{
	enum err err;

	memset(holders, 0, sizeof(*holders));
	err = cluster_node(&holders->own, dir, fault);
	if (err == ERR_OK)
		err = cluster_peers(&holders->peers, dir, fault);
	if (err == ERR_OK)
		err = cluster_bucket(&holders->bucket, dir, fault);
	if (holders->bucket.url[0] != '\0')
		holders->from.bucket = &holders->bucket;
	holders->from.token = holders->peers.token;
	holders->from.trust = (struct ask_trust){
	    holders->peers.ca, holders->peers.cert, holders->peers.key};
	holders->from.stall_s = STALL_S;
	return err;
}

void
holders_add(struct holders *holders, const char *node, const char *address)
{
	struct files_from *from = &holders->from;

	if (address[0] == '\0' || strcmp(node, holders->own.name) == 0 ||
	    from->count == FILES_HOLDERS_MAX)
		return;
	for (unsigned i = 0; i < from->count; i++)
		if (strcmp(from->holders[i], address) == 0)
			return;
	if (!span_copy(holders->addresses[from->count],
		sizeof(holders->addresses[0]), span_of(address)))
		return;
	from->holders[from->count] = holders->addresses[from->count];
	from->count++;
}

void
holders_prefer(struct holders *holders, const char *address)
{
	struct files_from *from = &holders->from;
	const char *wanted;
	unsigned i = 0;
	bool away;

	while (i < from->count && strcmp(from->holders[i], address) != 0)
		i++;
	if (i == from->count)
		return;
	wanted = from->holders[i];
	away = from->away[i];
	memmove(from->holders + 1, from->holders, i * sizeof(from->holders[0]));
	memmove(from->away + 1, from->away, i * sizeof(from->away[0]));
	from->holders[0] = wanted;
	from->away[0] = away;
}

struct adding {
	struct holders *holders;
	bool (*wanted)(void *context, const char *node);
	void *context;
};

static enum err
add_node(void *context, const struct engine_node *node)
{
	const struct adding *adding = context;

	if (adding->wanted == NULL ||
	    adding->wanted(adding->context, node->name))
		holders_add(adding->holders, node->name, node->address);
	return ERR_OK;
}

enum err
holders_add_alive(struct holders *holders, struct engine *engine,
    bool (*wanted)(void *context, const char *node), void *context)
{
	struct adding adding = {holders, wanted, context};

	return engine->nodes(engine, add_node, &adding);
}
