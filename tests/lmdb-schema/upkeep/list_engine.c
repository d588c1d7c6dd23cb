#include "tests/lmdb-schema/upkeep/list_engine.h"

#include <check.h>
#include <string.h>

#include "lmdb-schema/store/store.h"
#include "tests/support/quiet.h"
#include "tests/support/scratch.h"

uint64_t list_entries;
const char *list_alive;

static enum err
append(struct engine *own, enum store_env log, uint64_t after,
    struct span chain, struct span id, struct span entry)
{
	(void)own, (void)log, (void)chain, (void)id, (void)entry;
	ck_assert_uint_eq(after, list_entries);
	list_entries++;
	return ERR_OK;
}

static enum err
read_none(struct engine *own, enum store_env log, uint64_t after,
    enum err (*each)(void *context, uint64_t number, struct span entry),
    void *context)
{
	(void)own, (void)log, (void)each, (void)context;
	ck_assert_uint_eq(after, list_entries);
	return ERR_OK;
}

static enum err
heads(struct engine *own, bool sure, uint64_t out[STORE_ENVS])
{
	(void)own, (void)sure;
	memset(out, 0, STORE_ENVS * sizeof(out[0]));
	out[STORE_STATE] = list_entries;
	return ERR_OK;
}

static enum err
nodes(struct engine *own,
    enum err (*each)(void *context, const struct engine_node *node),
    void *context)
{
	struct span name, rest = span_of(list_alive == NULL ? "" : list_alive);

	(void)own;
	while (rest.len > 0 && span_cut(&name, &rest, ' ')) {
		struct engine_node node = {.name = ""};

		ck_assert(span_copy(node.name, sizeof(node.name), name));
		ck_assert_int_eq(each(context, &node), ERR_OK);
	}
	return list_alive == NULL ? ERR_AWAY : ERR_OK;
}

struct store *
list_begin(struct engine *engine)
{
	struct store *store;
	struct fault fault;

	*engine = (struct engine){.title = "a list",
	    .append = append,
	    .read = read_none,
	    .heads = heads,
	    .nodes = nodes};
	list_entries = 0;
	scratch_make();
	quiet_begin();
	fault_clear(&fault);
	ck_assert_int_eq(store_create(scratch_path("data"), &fault), ERR_OK);
	ck_assert_int_eq(
	    store_open(&store, scratch_path("data"), &fault), ERR_OK);
	store_share(store, engine);
	return store;
}

void
list_end(struct store *store)
{
	store_close(store);
	quiet_end();
	scratch_remove();
}
