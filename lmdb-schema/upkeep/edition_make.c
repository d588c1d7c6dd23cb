/* Editions that this node makes. */
#include <assert.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "common/date.h"
#include "common/kv/kv.h"
#include "lmdb-schema/facts/live_copy.h"
#include "lmdb-schema/facts/source.h"
#include "lmdb-schema/state/lease_keep.h"
#include "lmdb-schema/store/cluster.h"
#include "lmdb-schema/store/store.h"
#include "lmdb-schema/upkeep/edition_priv.h"

#define SECOND_NS INT64_C(1000000000)
#define LOOK_US 50000

struct edition_making {
	struct store *store;
	const char *dir;
	struct cluster_sharing sharing;
	struct engine_node own;
	bool anew;
	bool apart; /* what this node shows is not the base */
	struct edition base; /* the published one when this began */
	struct edition made;
	uint64_t published;
	struct lease_keeper lease;
};

/* --- the lease ------------------------------------------------------------ */

static enum err
refuse_busy(
    const struct edition_making *making, const char *who, struct fault *fault)
{
	fault_set(fault, making->dir,
	    "an import is running on node %s: wait for it to end", who);
	return ERR_BUSY;
}

/* A holder that goes on renews the lease. This process has the lock of imports. */
static enum err
take_lease(
    struct edition_making *making, struct lease *lease, struct fault *fault)
{
	int64_t end = date_monotonic_ns() + LEASE_ENDS_NS + 5 * SECOND_NS;
	uint64_t beat = 0;
	enum err err;

	for (;;) {
		int64_t now = date_monotonic_ns();

		err = lease_hold_alone(lease, making->store, now);
		if (err != ERR_BUSY || now >= end ||
		    (beat != 0 && lease->seen.beat != beat))
			break;
		beat = lease->seen.beat;
		usleep(LOOK_US);
		(void)store_follow(making->store);
	}
	if (err == ERR_BUSY)
		return refuse_busy(making, lease->seen.who, fault);
	if (err == ERR_AWAY)
		edition_say_away(making->dir, fault);
	else if (err != ERR_OK)
		fault_set(fault, making->dir,
		    "nothing was changed: an import needs the log that the "
		    "nodes share: %s",
		    err_text(err));
	return err;
}

static enum err
begin_lease(struct edition_making *making, struct fault *fault)
{
	struct lease lease;
	enum err err = lease_init(&lease, "import");

	memcpy(lease.who, making->own.name, sizeof(lease.who));
	if (err == ERR_OK)
		err = take_lease(making, &lease, fault);
	return err == ERR_OK ? lease_keep(&making->lease, making->store, &lease)
			     : err;
}

void
edition_say_away(const char *dir, struct fault *fault)
{
	fault_set(fault, dir,
	    "nothing was changed: this node does not reach the log that the "
	    "nodes share: 'gridctl cluster status' says which server does not "
	    "answer. Once it does, repeat the command, or run it on a node "
	    "that reaches the log");
}

/* --- beginning ------------------------------------------------------------ */

static enum err
begin_here(struct edition_making *making, struct fault *fault)
{
	struct editions editions;
	char text[FAULT_TEXT_MAX];
	struct fault why;
	enum err err = begin_lease(making, fault);

	fault_clear(&why);
	/* With the lease, so that no other edition is published from here on. */
	if (err == ERR_OK)
		err = store_follow(making->store);
	if (err == ERR_OK && !making->anew)
		err = edition_take(making->store, true, &why);
	if (err == ERR_OK)
		err = edition_look(&editions, making->store);
	if (err == ERR_OK) {
		making->base = editions.now;
		making->apart = !editions.is_current;
	} else
		fault_set(fault, making->dir,
		    "nothing was changed: this node does not show the last "
		    "import of the cluster: %s",
		    fault_text(text, &why, err));
	return err;
}

enum err
edition_begin(struct edition_making **out, struct store *store, bool anew,
    struct fault *fault)
{
	struct edition_making *making = calloc(1, sizeof(*making));
	enum err err;

	*out = making;
	if (making == NULL)
		return ERR_NO_MEMORY;
	making->store = store;
	making->dir = store_dir(store);
	making->anew = anew;
	if (store_is_cut_off(store))
		return cluster_cut_off(making->dir, fault);
	err = cluster_can_share(&making->sharing, making->dir, fault);
	if (err == ERR_OK && making->sharing.files)
		err = cluster_node(&making->own, making->dir, fault);
	return err == ERR_OK && making->sharing.files
	    ? begin_here(making, fault)
	    : err;
}

void
edition_end(struct edition_making *making)
{
	if (making == NULL)
		return;
	lease_keep_end(&making->lease);
	free(making);
}

uint64_t
edition_published(const struct edition_making *making)
{
	return making->published;
}

/* --- its files ------------------------------------------------------------ */

struct adding {
	struct edition_making *making;
	struct edition_files *files;
};

static enum err
add_fact(void *context, const char *name)
{
	struct adding *adding = context;
	const char *dir = adding->making->dir;
	struct files_id id = {.bytes = 0};
	char path[FS_PATH_MAX];
	enum err err = fs_path(path, "%s/facts/%s", dir, name);

	if (err == ERR_OK && !files_find(&id, dir, path))
		err = files_add(&id, dir, path);
	return err == ERR_OK
	    ? edition_text_add(adding->files, span_of(name), &id)
	    : err;
}

static enum err
add_facts(struct adding *adding, uint64_t generation)
{
	struct source *source = NULL;
	char path[FS_PATH_MAX];
	enum err err;

	if (generation == 0)
		return ERR_OK;
	err = store_facts_path(path, adding->making->store, generation, "");
	if (err == ERR_OK)
		err = source_open_file(&source, path, generation);
	if (err == ERR_OK)
		err = source_files(source, add_fact, adding);
	source_close(source);
	return err;
}

static enum err
add_text(struct edition_making *making, const struct edition_files *files)
{
	struct buf text;
	enum err err;

	buf_init(&text, EDITION_TEXT_MAX);
	edition_text_write(&text, files);
	err = buf_end(&text);
	if (err == ERR_OK)
		err = files_add_bytes(
		    &making->made.text, making->dir, buf_span(&text));
	buf_fini(&text);
	return err;
}

struct work {
	enum err (*run)(void *context, struct live_change *change);
	void *context;
	struct live_counts *counts;
};

static enum err
make_files(struct edition_making *making, struct edition_files *files,
    const struct work *work)
{
	struct adding adding = {making, files};
	char path[FS_PATH_MAX];
	uint64_t generation;
	enum err err = fs_path(path, "%s/files", making->dir);

	if (err == ERR_OK)
		err = fs_mkdir(path);
	if (err == ERR_OK)
		err = fs_path(path, "%s/files/live.tmp", making->dir);
	if (err == ERR_OK)
		err = fs_unlink(path); /* of a process that was killed */
	if (err == ERR_OK)
		err = live_copy_make(making->store, path, work->run,
		    work->context, work->counts, &generation);
	if (err != ERR_OK)
		return err;
	err = add_facts(&adding, generation);
	if (err == ERR_OK)
		err = files_add(&files->live, making->dir, path);
	unlink(path);
	files->number = making->made.number;
	return err == ERR_OK ? add_text(making, files) : err;
}

/* --- entries of the log --------------------------------------------------- */

struct entry {
	struct edition_making *making;
	struct lease lease; /* a copy: its thread changes it */
};

static enum err
check_turn(const struct entry *entry, struct kv_txn *txn)
{
	const struct edition_making *making = entry->making;
	struct edition now;
	enum err err = lease_check(&entry->lease, txn);

	if (err == ERR_OK)
		err = edition_get(&now, txn, edition_now);
	if (err == ERR_OK && strcmp(now.text.name, making->base.text.name) != 0)
		err = ERR_BUSY;
	return err;
}

static enum err
offer(void *context, struct kv_txn *txn)
{
	const struct entry *entry = context;
	enum err err = check_turn(entry, txn);

	return err == ERR_OK
	    ? edition_put(txn, edition_offered, &entry->making->made)
	    : err;
}

static enum err
publish(void *context, struct kv_txn *txn)
{
	const struct entry *entry = context;
	struct edition *made = &entry->making->made;
	enum err err = check_turn(entry, txn);

	if (err == ERR_OK)
		err = edition_put(txn, edition_now, made);
	if (err == ERR_OK)
		err = kv_del(txn, STATE_META, span_of(edition_offered));
	if (err == ERR_NOT_FOUND)
		err = ERR_OK;
	return err == ERR_OK ? edition_forget_holders(txn, made->text.name)
			     : err;
}

static enum err
withdraw(void *context, struct kv_txn *txn)
{
	const struct entry *entry = context;
	enum err err = check_turn(entry, txn);

	if (err == ERR_OK)
		err = kv_del(txn, STATE_META, span_of(edition_offered));
	return err == ERR_NOT_FOUND ? ERR_OK : err;
}

#define PATIENCE_NS (30 * SECOND_NS)

/* An import took minutes: a member of etcd that is elected anew is waited for. */
static enum err
write_entry(struct edition_making *making,
    enum err (*work)(void *context, struct kv_txn *txn))
{
	struct entry entry = {.making = making};
	int64_t end = date_monotonic_ns() + PATIENCE_NS;
	enum err err;

	for (;;) {
		lease_keep_copy(&making->lease, &entry.lease);
		err = store_write(making->store, STORE_STATE, work, &entry);
		/* The caller finds it in the log, and shows it. */
		if (err == ERR_STORED)
			err = ERR_UNKNOWN;
		if (err != ERR_AWAY || date_monotonic_ns() >= end)
			return err;
		usleep(10 * LOOK_US);
	}
}

/* --- together ------------------------------------------------------------- */

static enum err
tell_failure(struct edition_making *making, enum err err, struct fault *fault)
{
	if (err == ERR_BUSY)
		fault_set(fault, making->dir,
		    "nothing was changed: another node has imported since");
	else if (err == ERR_UNKNOWN)
		fault_set(fault, making->dir,
		    "it may be published or not: 'gridctl cluster status' "
		    "says which import the nodes show; repeat it where it is "
		    "not this one");
	else
		fault_set(fault, making->dir,
		    "nothing was changed: the import's files could not be "
		    "made known: %s",
		    err_text(err));
	return err;
}

/* Of an unknown outcome the log tells, once it can be read. */
static enum err
find_out(struct edition_making *making)
{
	struct editions editions;
	int64_t end = date_monotonic_ns() + PATIENCE_NS;

	while (date_monotonic_ns() < end) {
		if (store_follow(making->store) == ERR_OK &&
		    edition_look(&editions, making->store) == ERR_OK &&
		    strcmp(editions.now.text.name, making->made.text.name) == 0)
			return ERR_OK;
		usleep(LOOK_US);
	}
	return ERR_UNKNOWN;
}

static enum err
send_out(struct edition_making *making, const struct edition_files *files,
    unsigned copies, struct fault *fault)
{
	enum err err = ERR_OK;

	if (copies > 1) {
		err = write_entry(making, offer);
		if (err == ERR_OK || err == ERR_UNKNOWN)
			err = edition_await(
			    &(struct edition_awaited){making->store,
				&making->own, &making->made, copies,
				making->sharing.bucket},
			    edition_text_bytes(files), fault);
	}
	if (err == ERR_OK)
		err = write_entry(making, publish);
	if (err == ERR_UNKNOWN)
		err = find_out(making);
	if (err == ERR_OK)
		return ERR_OK;
	if (err != ERR_UNKNOWN && copies > 1)
		(void)write_entry(making, withdraw);
	if (err != ERR_UNKNOWN)
		edition_forget(making->dir, making->made.text.name,
		    making->base.text.name);
	return tell_failure(making, err, fault);
}

static enum err
change_all(struct edition_making *making, const struct work *work,
    unsigned copies, struct fault *fault)
{
	struct edition_files *files = calloc(1, sizeof(*files));
	struct fault shown;
	enum err err;

	if (files == NULL)
		return ERR_NO_MEMORY;
	making->made.number = making->base.number + 1;
	memcpy(making->made.node, making->own.name, sizeof(making->own.name));
	memcpy(making->made.address, making->own.address,
	    sizeof(making->own.address));
	err = make_files(making, files, work);
	if (err == ERR_OK)
		err = send_out(making, files, copies, fault);
	if (err == ERR_OK) {
		making->published = making->made.number;
		fault_clear(&shown);
		if (edition_show(making->store, &making->made, files, true,
			&shown) != ERR_OK) {
			fault_set(fault, making->dir,
			    "it is published as import %llu, but this node "
			    "does not show it yet (%s): gridapi shows it once "
			    "it can, or 'gridctl cluster pull'",
			    (unsigned long long)making->published,
			    shown.message);
			err = ERR_LAST;
		}
	}
	free(files);
	return err;
}

/* Of two histories the numbers of one say nothing about the other. */
static enum err
publish_own(void *context, struct live_change *change)
{
	const struct edition_making *making = context;

	return making->apart ? live_forget_since(change) : ERR_OK;
}

enum err
edition_change(struct edition_making *making,
    enum err (*work)(void *context, struct live_change *change), void *context,
    struct live_counts *counts, unsigned copies, struct fault *fault)
{
	struct work one = {work, context, counts};

	if (work == NULL)
		one = (struct work){publish_own, making, NULL};
	if (!making->sharing.files) {
		assert(work != NULL);
		return live_change_run(making->store, work, context, counts);
	}
	return change_all(
	    making, &one, copies == 0 ? making->sharing.copies : copies, fault);
}
