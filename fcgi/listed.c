#include "fcgi/listed.h"

#include "common/jsonw.h"

static enum err
add_listed(void *context, struct span supplier)
{
	struct listed *listed = context;
	struct span copy = arena_copy(listed->call->serving->arena, supplier);

	if (copy.ptr == NULL)
		return ERR_NO_MEMORY;
	if (listed->count < LISTED_MAX)
		listed->codes[listed->count++] = copy;
	return ERR_OK;
}

enum err
listed_find(struct listed **out, struct call *call)
{
	struct listed *listed =
	    arena_alloc(call->serving->arena, sizeof(*listed));
	struct shared_source *source;
	enum err err;

	*out = listed;
	if (listed == NULL)
		return ERR_NO_MEMORY;
	listed->call = call;
	listed->count = 0;
	err = server_source(&source, call);
	if (err != ERR_OK)
		return err == ERR_NOT_FOUND ? ERR_OK : err;
	err = source_where(source->source, call->path[0], add_listed, listed);
	server_release_source(source);
	return err;
}

void
listed_write(struct buf *json, const struct listed *listed)
{
	buf_add_char(json, '[');
	for (unsigned i = 0; i < listed->count; i++) {
		if (i > 0)
			buf_add_char(json, ',');
		jsonw_quote(json, listed->codes[i]);
	}
	buf_add_char(json, ']');
}
