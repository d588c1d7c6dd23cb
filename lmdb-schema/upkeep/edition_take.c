/* Editions that other nodes have made. */
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "common/hex.h"
#include "common/kv/kv.h"
#include "common/log.h"
#include "lmdb-schema/facts/live_copy.h"
#include "lmdb-schema/facts/source.h"
#include "lmdb-schema/store/cluster.h"
#include "lmdb-schema/store/store.h"
#include "lmdb-schema/upkeep/edition_priv.h"
#include "lmdb-schema/upkeep/holders.h"

/* --- showing -------------------------------------------------------------- */

/* A file of that name that is another one is damaged, or of no edition. */
static enum err
put_fact(const char *dir, const struct edition_fact *fact)
{
	char path[FS_PATH_MAX];
	enum err err = fs_path(path, "%s/facts/%s", dir, fact->name);

	return err == ERR_OK ? files_place(dir, &fact->file, path) : err;
}

static enum err
must_list(void *context, const char *name)
{
	const struct edition_files *files = context;

	for (unsigned i = 0; i < files->count; i++)
		if (strcmp(files->facts[i].name, name) == 0)
			return ERR_OK;
	return ERR_DAMAGED;
}

/* Whether this program reads the facts that the copy names, and has them all. */
static enum err
check_facts(
    struct store *store, const struct edition_files *files, const char *live)
{
	struct source *source = NULL;
	char path[FS_PATH_MAX];
	uint64_t generation;
	enum err err = live_copy_facts(&generation, live);

	if (err != ERR_OK || generation == 0)
		return err;
	err = store_facts_path(path, store, generation, "");
	if (err == ERR_OK)
		err = source_open_file(&source, path, generation);
	if (err == ERR_OK)
		err = source_files(source, must_list, (void *)(uintptr_t)files);
	if (err == ERR_OK)
		err = source_verify_tables(source);
	source_close(source);
	return err;
}

static void
forget_file(const char *dir, const char *sha, const struct edition_files *keep)
{
	if (!edition_text_has(keep, sha))
		files_drop(dir, sha);
}

static enum err
read_named(struct edition_files *out, const char *dir, const char *sha)
{
	struct files_id text = {.bytes = 0};

	memset(out, 0, sizeof(*out));
	if (!files_is_name(span_of(sha)))
		return ERR_NOT_FOUND;
	memcpy(text.name, sha, sizeof(text.name));
	return edition_read_text(out, dir, &text);
}

void
edition_forget(const char *dir, const char *sha, const char *keep)
{
	struct edition_files *files = calloc(2, sizeof(*files));
	struct edition_files *kept;
	enum err err;

	if (files == NULL)
		return;
	kept = files + 1;
	err = read_named(files, dir, sha);
	if (err == ERR_OK)
		err = read_named(kept, dir, keep);
	if (err == ERR_OK || err == ERR_NOT_FOUND) {
		for (unsigned i = 0; i < files->count; i++)
			forget_file(dir, files->facts[i].file.name, kept);
		/* The text last: a kill leaves what tells of the others. */
		if (files->number > 0) {
			forget_file(dir, files->live.name, kept);
			forget_file(dir, sha, kept);
		}
	}
	free(files);
}

enum err
edition_show(struct store *store, const struct edition *edition,
    const struct edition_files *files, bool own, struct fault *fault)
{
	const char *dir = store_dir(store);
	struct live_edition before, shown = {.number = edition->number};
	char live[FS_PATH_MAX], sha[FILES_NAME_LEN + 1];
	enum err err = live_edition(&before, store);

	if (err == ERR_OK)
		err = files_path(live, dir, files->live.name, "");
	for (unsigned i = 0; i < files->count && err == ERR_OK; i++)
		err = put_fact(dir, &files->facts[i]);
	if (err == ERR_OK)
		err = check_facts(store, files, live);
	if (err == ERR_OK &&
	    !hex_bytes(
		shown.hash, sizeof(shown.hash), span_of(edition->text.name)))
		err = ERR_DAMAGED;
	if (err == ERR_OK)
		err = live_copy_take(store, live, &shown, own);
	if (err == ERR_OK && before.number > 0 &&
	    memcmp(&before, &shown, sizeof(shown)) != 0) {
		hex_text(sha, before.hash, sizeof(before.hash));
		edition_forget(dir, sha, edition->text.name);
	}
	if (err != ERR_OK)
		fault_set(fault, dir,
		    "does not show import %llu of node %s: %s",
		    (unsigned long long)edition->number, edition->node,
		    err_text(err));
	return err;
}

/* --- getting -------------------------------------------------------------- */

/* The editions that are wanted, and the nodes that may have their files. */
struct getting {
	struct store *store;
	const char *dir;
	struct editions editions;
	struct engine_node own;
	struct holders holders;
	char names[FILES_HOLDERS_MAX][ENGINE_NODE_NAME_MAX];
	unsigned named;
	char held_text[FILES_NAME_LEN + 1]; /* that this node's record names */
	struct edition_files files;
	unsigned damaged; /* files here */
	bool always;
	struct fault *fault;
};

/* A node with the offered one had the one before, and keeps it until it goes. */
static enum err
take_holder(void *context, struct span node, struct span sha)
{
	struct getting *getting = context;

	if (span_eq(node, span_of(getting->own.name))) {
		if (!span_copy(
			getting->held_text, sizeof(getting->held_text), sha))
			getting->held_text[0] = '\0';
		return ERR_OK;
	}
	if (getting->named == FILES_HOLDERS_MAX ||
	    (!span_eq(sha, span_of(getting->editions.now.text.name)) &&
		!span_eq(sha, span_of(getting->editions.offered.text.name))))
		return ERR_OK;
	if (span_copy(getting->names[getting->named], sizeof(getting->names[0]),
		node))
		getting->named++;
	return ERR_OK;
}

static enum err
list_holders(struct getting *getting)
{
	struct kv_txn *txn;
	enum err err = kv_read(&txn, store_state(getting->store));

	if (err != ERR_OK)
		return err;
	err = edition_holders(txn, take_holder, getting);
	kv_abort(txn);
	return err;
}

static bool
is_named(void *context, const char *node)
{
	const struct getting *getting = context;

	for (unsigned i = 0; i < getting->named; i++)
		if (strcmp(getting->names[i], node) == 0)
			return true;
	return false;
}

/* Nodes that are alive, and the one that made it, whose gridapi may be down. */
static enum err
find_holders(struct getting *getting, const struct edition *edition)
{
	enum err err =
	    holders_begin(&getting->holders, getting->dir, getting->fault);

	if (err != ERR_OK)
		return err;
	holders_add(&getting->holders, edition->node, edition->address);
	return holders_add_alive(
	    &getting->holders, store_engine(getting->store), is_named, getting);
}

static bool
has_all(struct getting *getting, const struct edition *edition)
{
	const struct edition_files *files = &getting->files;
	bool has = files_have(getting->dir, &edition->text) &&
	    edition_read_text(&getting->files, getting->dir, &edition->text) ==
		ERR_OK &&
	    files_have(getting->dir, &files->live);

	for (unsigned i = 0; has && i < files->count; i++)
		has = files_have(getting->dir, &files->facts[i].file);
	return has;
}

/*
 * A text that is another than its name says, by a damage here, is removed, and
 * comes anew with the next look.
 */
static enum err
get_text(struct getting *getting, const struct edition *edition)
{
	enum err err = files_fetch(getting->dir, &edition->text,
	    &getting->holders.from, getting->fault);

	if (err != ERR_OK)
		return err;
	err = edition_read_text(&getting->files, getting->dir, &edition->text);
	if (err == ERR_BAD_INPUT) {
		files_drop(getting->dir, edition->text.name);
		err = ERR_DAMAGED;
	}
	return err == ERR_OK && getting->files.number != edition->number
	    ? ERR_DAMAGED
	    : err;
}

static enum err
get_all(struct getting *getting, const struct edition *edition)
{
	const struct edition_files *files = &getting->files;
	enum err err;

	if (has_all(getting, edition))
		return ERR_OK;
	err = find_holders(getting, edition);
	if (err == ERR_OK)
		err = get_text(getting, edition);
	for (unsigned i = 0; i < files->count && err == ERR_OK; i++)
		err = files_fetch(getting->dir, &files->facts[i].file,
		    &getting->holders.from, getting->fault);
	if (err == ERR_OK)
		err = files_fetch(getting->dir, &files->live,
		    &getting->holders.from, getting->fault);
	return err;
}

struct holding {
	const char *node, *sha;
};

static enum err
put_holding(void *context, struct kv_txn *txn)
{
	const struct holding *holding = context;

	return edition_put_holder(txn, holding->node, holding->sha);
}

/* Tells the others, once. */
static enum err
tell(struct getting *getting, const struct edition *edition)
{
	struct holding holding = {getting->own.name, edition->text.name};
	enum err err;

	if (strcmp(getting->held_text, edition->text.name) == 0)
		return ERR_OK;
	err = store_write(getting->store, STORE_STATE, put_holding, &holding);
	if (err == ERR_OK)
		memcpy(getting->held_text, edition->text.name,
		    sizeof(getting->held_text));
	return err;
}

static enum err
show(struct getting *getting, bool locked)
{
	int lock = -1;
	enum err err =
	    locked ? ERR_OK : store_lock_import(&lock, getting->store, false);

	if (err == ERR_OK)
		err = edition_show(getting->store, &getting->editions.now,
		    &getting->files, false, getting->fault);
	if (lock >= 0)
		close(lock);
	return err;
}

static enum err
take_now(struct getting *getting, bool locked)
{
	const struct edition *now = &getting->editions.now;
	enum err err = ERR_OK;

	if (!getting->editions.is_current) {
		err = get_all(getting, now);
		if (err == ERR_OK)
			err = show(getting, locked);
	} else if (now->number == 0 ||
	    strcmp(getting->held_text, now->text.name) == 0 ||
	    !has_all(getting, now))
		return ERR_OK;
	return err == ERR_OK ? tell(getting, now) : err;
}

/* Once told, it has it; or, where its files went, another node does. */
static enum err
take_offered(struct getting *getting)
{
	const struct edition *offered = &getting->editions.offered;
	enum err err;

	if (strcmp(getting->held_text, offered->text.name) == 0)
		return ERR_OK;
	err = get_all(getting, offered);
	return err == ERR_OK ? tell(getting, offered) : err;
}

/* An edition that no node gives must not keep the next from coming. */
static enum err
take_both(struct getting *getting, bool locked)
{
	const struct editions *editions = &getting->editions;
	bool offered = editions->offered.number > editions->now.number;
	struct fault *told = getting->fault, unheard;
	enum err first, err = ERR_OK;

	/* Of an import that was given up. */
	if (editions->is_current && getting->held_text[0] != '\0' &&
	    strcmp(getting->held_text, editions->now.text.name) != 0 &&
	    strcmp(getting->held_text, editions->offered.text.name) != 0)
		edition_forget(
		    getting->dir, getting->held_text, editions->now.text.name);
	if (!offered || !editions->is_current)
		err = take_now(getting, locked);
	if (!offered)
		return err;
	first = err;
	fault_clear(&unheard);
	if (first != ERR_OK)
		getting->fault = &unheard;
	err = take_offered(getting);
	getting->fault = told;
	return first == ERR_OK ? err : first;
}

static enum err
with_editions(enum err (*run)(struct getting *getting, bool locked),
    struct getting *getting, bool locked)
{
	struct cluster_sharing sharing;
	enum err err = cluster_sharing(&sharing, getting->dir, getting->fault);

	if (err != ERR_OK || !sharing.files)
		return err;
	err = cluster_node(&getting->own, getting->dir, getting->fault);
	if (err == ERR_OK)
		err = edition_look(&getting->editions, getting->store);
	if (err == ERR_OK)
		err = list_holders(getting);
	return err == ERR_OK ? run(getting, locked) : err;
}

static enum err
new_getting(struct getting **out, struct store *store, struct fault *fault)
{
	*out = calloc(1, sizeof(**out));
	if (*out == NULL)
		return ERR_NO_MEMORY;
	(*out)->store = store;
	(*out)->dir = store_dir(store);
	(*out)->fault = fault;
	return ERR_OK;
}

enum err
edition_take(struct store *store, bool locked, struct fault *fault)
{
	struct getting *getting;
	enum err err = new_getting(&getting, store, fault);

	if (err == ERR_OK)
		err = with_editions(take_both, getting, locked);
	free(getting);
	return err;
}

/* --- repairing ------------------------------------------------------------ */

/* Readers may have the damaged file open; unlinking does not disturb them. */
static void
drop_damaged(struct getting *getting, const struct files_id *id)
{
	char path[FS_PATH_MAX];

	if (files_path(path, getting->dir, id->name, "") != ERR_OK ||
	    files_is_sound(path, id))
		return;
	log_error("a file of an import is damaged, and is asked of another "
		  "node: path=%s",
	    path);
	getting->damaged++;
	unlink(path);
}

/* The file in its place may be another than the one for the other nodes. */
static void
look_at_fact(struct getting *getting, const struct edition_fact *fact)
{
	char place[FS_PATH_MAX];

	drop_damaged(getting, &fact->file);
	if (fs_path(place, "%s/facts/%s", getting->dir, fact->name) != ERR_OK ||
	    files_is_at(getting->dir, &fact->file, place) ||
	    !files_have(getting->dir, &fact->file))
		return;
	if (!files_is_sound(place, &fact->file))
		getting->damaged++;
}

static enum err
repair(struct getting *getting, bool locked)
{
	const struct edition *now = &getting->editions.now;
	const struct edition_files *files = &getting->files;
	enum err err = ERR_OK;

	if (now->number == 0 || !getting->editions.is_current)
		return ERR_OK;
	drop_damaged(getting, &now->text);
	err = find_holders(getting, now);
	if (err == ERR_OK)
		err = get_text(getting, now);
	if (err != ERR_OK)
		return err;
	drop_damaged(getting, &files->live);
	for (unsigned i = 0; i < files->count; i++)
		look_at_fact(getting, &files->facts[i]);
	if (getting->damaged == 0 && !getting->always)
		return ERR_OK;
	err = get_all(getting, now);
	return err == ERR_OK ? show(getting, locked) : err;
}

enum err
edition_repair(unsigned *damaged, struct store *store, bool always, bool locked,
    struct fault *fault)
{
	struct getting *getting;
	enum err err = new_getting(&getting, store, fault);

	*damaged = 0;
	if (err == ERR_OK) {
		getting->always = always;
		err = with_editions(repair, getting, locked);
		*damaged = getting->damaged;
	}
	free(getting);
	return err;
}
