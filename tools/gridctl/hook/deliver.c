/*
 * A turn: take the newest view of the state, read on in the trail, begin the
 * tries that are due, and store what the answers have changed. Between turns the
 * process sleeps until an answer comes, a try is due, or a moment has passed.
 */
#include "tools/gridctl/hook/deliver.h"

#include <assert.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "common/date.h"
#include "common/log.h"
#include "lmdb-schema/facts/live.h"
#include "lmdb-schema/snapshot/catalog.h"
#include "lmdb-schema/state/lease.h"
#include "lmdb-schema/state/trail.h"
#include "lmdb-schema/store/store.h"
#include "lmdb-schema/upkeep/keeping.h"
#include "lmdb-schema/upkeep/notice.h"
#include "tools/gridctl/hook/event.h"
#include "tools/gridctl/hook/line.h"

#define TURN_MS 200
#define PROBLEM_MS 5000 /* the pause after a failure of the storage */

struct sender {
	struct store *store;
	const struct deliver_options *options;
	struct posts *posts;
	struct state_view *view;
	struct catalog_view *catalog;
	struct live_view *live;
	uint64_t state_version, catalog_version, live_version;
	uint64_t shared_version; /* of the snapshots that nodes share */
	struct line *lines[HOOK_COUNT_MAX];
	unsigned count;
	unsigned wanted; /* events of all hooks */
	/* Of nodes that share the state one sends; else NULL. */
	struct lease *lease, lease_of_node;
	uint64_t hooks_version;
	unsigned hooks; /* that there are */
	struct hook_removals removals; /* that the lines show */
};

static volatile sig_atomic_t ending;

static void
on_end(int number)
{
	(void)number;
	ending = 1;
}

/* --- the hooks that there are --------------------------------------------- */

static struct line *
find(const struct sender *sender, uint64_t id)
{
	for (unsigned i = 0; i < sender->count; i++)
		if (sender->lines[i]->hook.id == id)
			return sender->lines[i];
	return NULL;
}

static enum err
take_hook(void *context, const struct hook *hook)
{
	struct sender *sender = context;
	struct line *line = find(sender, hook->id);
	enum err err = ERR_OK;

	sender->wanted |= hook->events;
	if (line == NULL && sender->count < HOOK_COUNT_MAX) {
		err = line_open(&line, sender->view, hook);
		if (err == ERR_OK)
			sender->lines[sender->count++] = line;
	}
	/* A hook whose place is damaged keeps no other from its events. */
	if (err == ERR_DAMAGED || err == ERR_NOT_FOUND) {
		log_error("hook %.*s: its place in the trail cannot be read: "
			  "remove it and add it again",
		    SPAN_ARG(hook->name));
		return ERR_OK;
	}
	if (line != NULL) {
		line->there = true;
		line_resume(line, hook->resumed_ms);
	}
	return err;
}

static void
drop(struct sender *sender, unsigned place)
{
	struct line *line = sender->lines[place];

	posts_drop(sender->posts, line);
	line_close(line);
	sender->lines[place] = sender->lines[--sender->count];
}

/*
 * A removed hook keeps its lock until what is under way has ended: a request
 * that is cut off may still be read by the receiver, after the removal.
 */
static void
drop_absent(struct sender *sender)
{
	for (unsigned i = sender->count; i-- > 0;)
		if (!sender->lines[i]->there && sender->lines[i]->busy == 0)
			drop(sender, i);
}

static enum err
take_hooks(struct sender *sender)
{
	sender->wanted = 0;
	for (unsigned i = 0; i < sender->count; i++)
		sender->lines[i]->there = false;
	return hook_each(sender->view, take_hook, sender);
}

/*
 * Entries about imports and computations come with the next view. What other
 * nodes alone keep changes nothing in this node's catalogue.
 */
static enum err
notice(struct sender *sender)
{
	uint64_t catalog, live, shared;
	enum err err = ERR_OK;

	if ((sender->wanted & HOOK_FAILED) != 0)
		err = notice_failures(sender->store);
	if (err == ERR_OK)
		err = catalog_view_renew(sender->catalog);
	if (err != ERR_OK)
		return err;
	catalog = catalog_view_version(sender->catalog);
	catalog_view_rest(sender->catalog);
	err = live_view_renew(sender->live);
	if (err != ERR_OK)
		return err;
	live = live_view_version(sender->live);
	live_view_rest(sender->live);
	err = keeping_version(&shared, sender->store);
	if (err != ERR_OK)
		return err;
	if (catalog == sender->catalog_version &&
	    live == sender->live_version && shared == sender->shared_version)
		return ERR_OK;
	err = notice_look(sender->store, sender->wanted);
	if (err == ERR_OK) {
		sender->catalog_version = catalog;
		sender->live_version = live;
		sender->shared_version = shared;
	}
	return err;
}

/* --- which node sends ----------------------------------------------------- */

static void
let_go(struct sender *sender)
{
	if (sender->count > 0)
		log_info("hooks: this node does not send any more");
	while (sender->count > 0)
		drop(sender, sender->count - 1);
	sender->state_version = 0;
}

static enum err
count_hook(void *context, const struct hook *hook)
{
	struct sender *sender = context;

	(void)hook;
	sender->hooks++;
	return ERR_OK;
}

static bool
is_busy(const struct sender *sender)
{
	for (unsigned i = 0; i < sender->count; i++)
		if (sender->lines[i]->busy > 0)
			return true;
	return false;
}

/* Tells hook_remove() on another node that all has ended of what was removed. */
static enum err
tell_ended(struct sender *sender)
{
	enum err err;

	if (sender->removals.ended >= sender->removals.removed)
		return ERR_OK;
	for (unsigned i = 0; i < sender->count; i++)
		if (!sender->lines[i]->there)
			return ERR_OK;
	err = hook_removals_end(
	    sender->store, sender->lease, sender->removals.removed);
	if (err == ERR_OK)
		sender->removals.ended = sender->removals.removed;
	return err;
}

/* Without a hook nothing is written, and so nothing is held. */
static enum err
count_hooks(struct sender *sender)
{
	uint64_t version = state_view_version(sender->view);
	enum err err;

	if (sender->hooks_version == version)
		return ERR_OK;
	sender->hooks = 0;
	err = hook_each(sender->view, count_hook, sender);
	if (err == ERR_OK)
		sender->hooks_version = version;
	return err;
}

/*
 * Takes the lease, or renews it. ERR_BUSY: another node has it, or it is not
 * needed. A lease that cannot be renewed holds until its time is over.
 */
static enum err
hold(struct sender *sender)
{
	bool held = sender->lease->token != 0;
	enum err err = count_hooks(sender);

	if (err == ERR_OK && sender->hooks == 0 && !is_busy(sender)) {
		lease_release(sender->lease, sender->store);
		return ERR_BUSY;
	}
	if (err == ERR_OK)
		err = lease_hold(
		    sender->lease, sender->store, date_monotonic_ns());
	if (err == ERR_OK && !held)
		log_info("hooks: this node sends: token=%llu",
		    (unsigned long long)sender->lease->token);
	if (err != ERR_OK && err != ERR_BUSY &&
	    lease_is_held(sender->lease, date_monotonic_ns()))
		err = ERR_OK;
	/* The next view has all that the node before has stored. */
	if (err == ERR_OK) {
		state_view_rest(sender->view);
		err = state_view_renew(sender->view);
	}
	return err;
}

static bool
may_send(const struct sender *sender)
{
	return sender->lease == NULL ||
	    lease_is_held(sender->lease, date_monotonic_ns());
}

/* --- tries ---------------------------------------------------------------- */

static enum err
post(struct sender *sender, struct line *line, const struct audit_entry *entry)
{
	struct event_headers headers = {.list = {NULL}};
	char id[EVENT_ID_MAX];
	struct buf body;
	enum err err;

	buf_init(&body, EVENT_BODY_MAX);
	err = event_write(&body, entry);
	if (err == ERR_OK) {
		event_id(id, entry->number, entry->when_ms);
		event_sign(&headers, line->hook.secret, id, date_now_ms(),
		    buf_span(&body));
		err = posts_add(sender->posts,
		    &(struct post_request){.url = line->url,
			.headers = headers.list,
			.body = buf_span(&body),
			.timeout_ms = sender->options->timeout_ms,
			.owner = line,
			.tag = entry->number});
	}
	buf_fini(&body);
	return err;
}

/* With the lock, and on a view from after it, the hook is still there. */
static enum err
begin_try(struct sender *sender, struct line *line, uint64_t number)
{
	struct audit_entry entry;
	struct hook hook;
	enum err err = line_lock(line, sender->store);

	if (err != ERR_OK)
		return err;
	state_view_rest(sender->view);
	err = state_view_renew(sender->view);
	if (err == ERR_OK)
		err = hook_get(&hook, sender->view, line->hook.name);
	if (err == ERR_OK && hook.id != line->hook.id)
		err = ERR_NOT_FOUND;
	if (err != ERR_OK)
		return err;
	err = trail_get(sender->view, number, &entry);
	if (err == ERR_OK && !may_send(sender))
		err = ERR_BUSY;
	return err == ERR_OK ? post(sender, line, &entry) : err;
}

/* ERR_NOT_FOUND: the hook is gone. An entry that is damaged is given up. */
static enum err
begin_due(struct sender *sender, struct line *line, int64_t now_ms)
{
	uint64_t number;
	enum err err = ERR_OK;

	while (err == ERR_OK && line->lost_count < HOOK_LANES &&
	    line_due(&number, line, now_ms)) {
		err = begin_try(sender, line, number);
		if (err == ERR_OK)
			line_begun(line, number);
		else if (err == ERR_DAMAGED) {
			line_give_up(line, number, now_ms, "it is damaged");
			err = line_move_on(line, sender->view, number);
		}
	}
	if (line->busy == 0)
		line_unlock(line);
	return err == ERR_BUSY ? ERR_OK : err;
}

static enum err
take_answers(struct sender *sender)
{
	struct post_result result;
	enum err err = ERR_OK;

	while (err == ERR_OK && posts_next(&result, sender->posts))
		for (unsigned i = 0; i < sender->count; i++)
			if (sender->lines[i] == result.owner)
				err = line_answer(sender->lines[i],
				    sender->view, sender->options, &result);
	return err;
}

static enum err
serve_line(struct sender *sender, struct line *line, int64_t now_ms)
{
	enum err err;

	if (!line->there)
		return ERR_OK;
	err = line_read(line, sender->view);
	if (err == ERR_OK)
		err = line_save(line, sender->store, sender->lease);
	if (err == ERR_OK)
		err = begin_due(sender, line, now_ms);
	if (err != ERR_NOT_FOUND)
		return err;
	line->there = false;
	return ERR_OK;
}

/* --- turns ---------------------------------------------------------------- */

static enum err
send_due(struct sender *sender)
{
	int64_t now_ms = date_now_ms();
	enum err err = take_answers(sender);

	if (err == ERR_OK &&
	    state_view_version(sender->view) != sender->state_version) {
		err = take_hooks(sender);
		if (err == ERR_OK)
			err = hook_removals(&sender->removals, sender->view);
		if (err == ERR_OK)
			sender->state_version =
			    state_view_version(sender->view);
	}
	if (err == ERR_OK)
		err = notice(sender);
	for (unsigned i = 0; i < sender->count && err == ERR_OK; i++)
		err = serve_line(sender, sender->lines[i], now_ms);
	drop_absent(sender);
	return err == ERR_OK && sender->lease != NULL ? tell_ended(sender)
						      : err;
}

static enum err
turn(struct sender *sender)
{
	enum err err = state_view_renew(sender->view);

	if (err == ERR_OK && sender->lease != NULL)
		err = hold(sender);
	if (err == ERR_OK)
		err = send_due(sender);
	if (sender->lease != NULL && (err == ERR_BUSY || !may_send(sender)))
		let_go(sender);
	state_view_rest(sender->view);
	return sender->lease != NULL && err == ERR_BUSY ? ERR_OK : err;
}

static int
pause_of(const struct sender *sender, enum err err)
{
	int64_t now_ms = date_now_ms(), due_ms = now_ms + TURN_MS;

	if (err != ERR_OK)
		return PROBLEM_MS;
	for (unsigned i = 0; i < sender->count; i++)
		if (sender->lines[i]->there)
			due_ms = line_next_ms(sender->lines[i], due_ms);
	return due_ms <= now_ms ? 0 : (int)(due_ms - now_ms);
}

static enum err
open_views(struct sender *sender)
{
	enum err err = state_view_open(&sender->view, sender->store);

	if (err == ERR_OK)
		err = catalog_view_open(&sender->catalog, sender->store);
	if (err == ERR_OK)
		err = live_view_open(&sender->live, sender->store);
	if (err != ERR_OK)
		return err;
	state_view_rest(sender->view);
	catalog_view_rest(sender->catalog);
	live_view_rest(sender->live);
	return ERR_OK;
}

static void
catch_signals(void)
{
	struct sigaction action = {.sa_handler = on_end};

	sigaction(SIGTERM, &action, NULL);
	sigaction(SIGINT, &action, NULL);
	signal(SIGPIPE, SIG_IGN);
}

enum err
deliver_run(struct store *store, const struct deliver_options *options)
{
	struct sender sender = {.store = store, .options = options};
	int lock;
	enum err err = store_lock_sender(&lock, store, false);

	assert(options->first_wait_ms > 0 && options->timeout_ms > 0);
	if (err != ERR_OK)
		return err;
	/* A store that is cut off gets no lease, and so sends nothing. */
	if (store_is_shared(store) || store_is_cut_off(store)) {
		sender.lease = &sender.lease_of_node;
		err = lease_init(sender.lease, HOOK_LEASE);
	}
	if (err == ERR_OK)
		err = posts_new(&sender.posts, options->ca_file);
	if (err == ERR_OK)
		err = open_views(&sender);
	catch_signals();
	while (err == ERR_OK && !ending) {
		enum err problem = turn(&sender);

		if (problem != ERR_OK)
			log_error("hooks: %s: the next try is in %d s",
			    err_text(problem), PROBLEM_MS / 1000);
		if (!may_send(&sender))
			let_go(&sender);
		posts_wait(sender.posts, pause_of(&sender, problem));
	}
	for (unsigned i = sender.count; i-- > 0; drop(&sender, i))
		if (sender.lines[i]->there &&
		    line_save(sender.lines[i], store, sender.lease) != ERR_OK)
			log_warn("a hook's last events are sent again");
	if (sender.lease != NULL)
		lease_release(sender.lease, store);
	live_view_close(sender.live);
	catalog_view_close(sender.catalog);
	state_view_close(sender.view);
	posts_free(sender.posts);
	close(lock);
	return err;
}
