#include "tools/gridctl/night/chain.h"

#include <assert.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "common/date.h"
#include "common/fs.h"
#include "common/log.h"
#include "common/span.h"
#include "tools/gridctl/night/inbox.h"
#include "tools/gridctl/night/step.h"
#include "tools/gridctl/night/steps.h"

#define TRIES_MAX 3

struct chain {
	const struct chain_options *options;
	struct night *night;
	struct inbox inbox;
	char work[FS_PATH_MAX];
	int lock;
	enum err unsaved; /* the last failure to write night.json */
};

/* --- the plan ------------------------------------------------------------------ */

static void
plan_deliveries(struct chain *chain)
{
	struct inbox_names names = {.count = 0};
	enum err err = ERR_OK;

	if (chain->inbox.folder[0] != '\0')
		err = inbox_list(&names, &chain->inbox);
	if (err == ERR_NOT_FOUND &&
	    !night_settings_has_inbox(chain->options->settings))
		err = ERR_OK;
	if (err != ERR_OK) /* the step tells why */
		night_add(chain->night, NIGHT_TAKE, "");
	for (unsigned i = 0; i < names.count; i++) {
		night_add(chain->night, NIGHT_TAKE, names.names[i]);
		night_add(chain->night, NIGHT_CHECK, names.names[i]);
		night_add(chain->night, NIGHT_IMPORT, names.names[i]);
	}
}

static void
plan(struct chain *chain)
{
	const struct night_settings *settings = chain->options->settings;
	struct night *night = chain->night;

	plan_deliveries(chain);
	night_add(night, NIGHT_COMPUTE, "");
	night_add(night, NIGHT_INDEX, "");
	if (settings->pack != NIGHT_PACK_NONE)
		night_add(night, NIGHT_PACK, "");
	if (settings->export_to[0] != '\0')
		night_add(night, NIGHT_EXPORT, "");
	if (settings->backup_to[0] != '\0')
		night_add(night, NIGHT_BACKUP, "");
	if (settings->backup_to[0] != '\0' && settings->send_to[0] != '\0')
		night_add(night, NIGHT_SEND, "");
	night_add(night, NIGHT_PRUNE, "");
	if (settings->command[0] != '\0' || settings->url[0] != '\0')
		night_add(night, NIGHT_REPORT, "");
}

/* The night that was cut off, or a new one. */
static enum err
find_night(struct chain *chain)
{
	enum err err = night_read(&chain->night, chain->options->data_dir);

	if (err == ERR_OK && chain->night->ended_ms == 0) {
		log_info("a night that was cut off goes on");
		return ERR_OK;
	}
	if (err == ERR_DAMAGED) /* the inbox itself says what to take */
		log_error("night.json is damaged: a new night begins");
	else if (err != ERR_OK && err != ERR_NOT_FOUND)
		return err;
	free(chain->night);
	chain->night = night_new();
	if (chain->night == NULL)
		return ERR_NO_MEMORY;
	plan(chain);
	return ERR_OK;
}

/* --- a step ---------------------------------------------------------------------- */

/* A full disk must not end the chain: the report tells of it. */
static void
save(struct chain *chain)
{
	chain->unsaved = night_write(chain->night, chain->options->data_dir);
}

static bool
delivery_failed(const struct chain *chain, const struct night_step *step)
{
	for (unsigned i = 0; i < chain->night->count; i++) {
		const struct night_step *other = &chain->night->steps[i];

		if (other->state == NIGHT_FAILED && step->delivery[0] != '\0' &&
		    strcmp(other->delivery, step->delivery) == 0)
			return true;
	}
	return false;
}

static void
end_step(struct chain *chain, struct night_step *step, enum night_state state)
{
	enum err err = ERR_OK;

	step->state = state;
	step->ended_ms = date_now_ms();
	save(chain);
	if (state == NIGHT_FAILED && step->delivery[0] != '\0')
		err = inbox_refuse(&chain->inbox, step->delivery);
	if (err != ERR_OK)
		log_error("a delivery cannot be set aside: folder=%s/%s "
			  "error=%s",
		    chain->inbox.folder, step->delivery, err_text(err));
}

static void
fail_step(struct chain *chain, struct night_step *step, const char *why)
{
	snprintf(step->said, sizeof(step->said), "%s", why);
	end_step(chain, step, NIGHT_FAILED);
}

/* False: a signal ended the step, which is to be done again. */
static bool
try_step(struct chain *chain, struct night_step *step)
{
	struct steps_context context = {
	    chain->options, &chain->inbox, chain->night, step};
	struct step_result result;
	enum err err;

	step->state = NIGHT_RUNNING;
	step->tries++;
	step->began_ms = date_now_ms();
	save(chain);
	err = step_run(&result, chain->lock, steps_do, &context);
	if (err != ERR_OK) {
		fail_step(chain, step, err_text(err));
		return true;
	}
	step->rows = result.rows;
	if (result.code > 128)
		return false;
	if (result.code == 0)
		end_step(chain, step, NIGHT_DONE);
	else
		fail_step(chain, step, result.said);
	return true;
}

static void
run_step(struct chain *chain, struct night_step *step)
{
	if (delivery_failed(chain, step)) {
		step->state = NIGHT_SKIPPED;
		save(chain);
		return;
	}
	while (step->tries < TRIES_MAX)
		if (try_step(chain, step))
			return;
	fail_step(chain, step,
	    "was killed each of three times: is memory short? (dmesg)");
}

/* --- the night ------------------------------------------------------------------- */

static enum err
lock_night(int *lock, const char *data_dir)
{
	char path[FS_PATH_MAX];
	enum err err = fs_path(path, "%s/locks/night", data_dir);

	*lock = -1;
	return err == ERR_OK ? fs_lock(lock, path, false) : err;
}

bool
chain_is_running(const char *data_dir)
{
	int lock;
	enum err err = lock_night(&lock, data_dir);

	if (lock >= 0)
		close(lock);
	return err == ERR_BUSY;
}

/* A night.json that a kill has left half written. */
static enum err
sweep(void *context, const char *name)
{
	const struct chain *chain = context;
	char path[FS_PATH_MAX];
	enum err err;

	if (!span_starts(span_of(name), SPAN("night.json.")) ||
	    !span_ends(span_of(name), SPAN(".tmp")))
		return ERR_OK;
	err = fs_path(path, "%s/%s", chain->options->data_dir, name);
	return err == ERR_OK ? fs_unlink(path) : err;
}

static void
run_steps(struct chain *chain)
{
	for (unsigned i = 0; i < chain->night->count; i++) {
		struct night_step *step = &chain->night->steps[i];

		if (step->state == NIGHT_WAITING ||
		    step->state == NIGHT_RUNNING)
			run_step(chain, step);
	}
	chain->night->ended_ms = date_now_ms();
	save(chain);
}

enum err
chain_hold(int *lock, const char *data_dir)
{
	return lock_night(lock, data_dir);
}

enum err
chain_run(struct night **out, const struct chain_options *options)
{
	struct chain chain = {.options = options};
	enum err err = lock_night(&chain.lock, options->data_dir);

	assert(out != NULL);
	*out = NULL;
	if (err == ERR_OK)
		err = fs_path(chain.work, "%s/night", options->data_dir);
	chain.inbox.folder = options->settings->inbox;
	chain.inbox.work = chain.work;
	if (err == ERR_OK)
		err = fs_list(options->data_dir, sweep, &chain);
	if (err == ERR_OK)
		err = find_night(&chain);
	if (err == ERR_OK) {
		run_steps(&chain);
		err = chain.unsaved;
	}
	*out = chain.night;
	if (chain.lock >= 0)
		close(chain.lock);
	return err;
}
