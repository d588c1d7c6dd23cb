#include "fcgi/endpoints/listed.h"

#include <assert.h>
#include <stdio.h>

#include "common/arena.h"
#include "fcgi/rows/shared_source.h"
#include "lmdb-schema/facts/source.h"

/* Most articles have a supplier or two. */
static bool
make_room(struct listed *listed)
{
	unsigned room = listed->room == 0 ? 4 : 2 * listed->room;
	struct span *codes =
	    arena_array(listed->call->serving->arena, room, sizeof(*codes));

	if (codes == NULL)
		return false;
	if (listed->count > 0)
		memcpy(codes, listed->codes, listed->count * sizeof(*codes));
	listed->codes = codes;
	listed->room = room;
	return true;
}

static enum err
add_listed(void *context, struct span supplier)
{
	struct listed *listed = context;
	struct span copy;

	if (!call_sees(listed->call, supplier) || listed->count == LISTED_MAX)
		return ERR_OK;
	copy = arena_copy(listed->call->serving->arena, supplier);
	if (copy.ptr == NULL ||
	    (listed->count == listed->room && !make_room(listed)))
		return ERR_NO_MEMORY;
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
	err = shared_source_get(&source, call);
	if (err != ERR_OK)
		return err == ERR_NOT_FOUND ? ERR_OK : err;
	err = source_where(source->source, call->path[0], add_listed, listed);
	shared_source_release(source);
	return err;
}

bool
listed_has(const struct listed *listed, struct span supplier)
{
	assert(listed->count <= LISTED_MAX);
	for (unsigned i = 0; i < listed->count; i++)
		if (span_eq(listed->codes[i], supplier))
			return true;
	return false;
}

unsigned
listed_count(
    struct call *call, struct span supplier, const struct codemap *codeins)
{
	struct shared_source *source;
	unsigned count = 0;

	assert(supplier.len > 0 && codeins != NULL);
	if (shared_source_get(&source, call) != ERR_OK)
		return 0;
	for (uint32_t i = 0; i < codemap_count(codeins); i++) {
		bool lists;

		if (source_lists(&lists, source->source, supplier,
			codemap_code(codeins, i)) == ERR_OK)
			count += lists;
	}
	shared_source_release(source);
	return count;
}

struct span
listed_not_yet(char text[LISTED_TEXT_MAX], const struct reply *reply,
    const char *what, struct span supplier)
{
	assert(what != NULL && supplier.len > 0);
	snprintf(text, LISTED_TEXT_MAX,
	    reply_words(reply,
		"%s came with an import that the snapshot of supplier %.*s "
		"does not have yet: have it computed (gridctl compute %.*s), "
		"or wait for the timer that does so."),
	    what, SPAN_ARG(supplier), SPAN_ARG(supplier));
	return span_of(text);
}

void
listed_write(struct jsonw *json, const struct listed *listed)
{
	assert(listed->count <= LISTED_MAX);
	jsonw_key(json, "fournisseurs");
	jsonw_array_begin(json);
	for (unsigned i = 0; i < listed->count; i++)
		jsonw_string(json, listed->codes[i]);
	jsonw_array_end(json);
}
