#include "lmdb-schema/state/hook_at.h"
#include "lmdb-schema/upkeep/stat_priv.h"

static void
count_state(struct stat_hooks *counts, enum hook_state state)
{
	switch (state) {
	case HOOK_NEW:
	case HOOK_FINE:
		counts->fine++;
		break;
	case HOOK_CATCHING_UP:
		counts->catching_up++;
		break;
	case HOOK_FAILING:
		counts->failing++;
		break;
	case HOOK_STOPPED:
		counts->stopped++;
		break;
	}
}

struct hooks {
	struct stat_hooks *counts;
	struct state_view *view;
};

static enum err
count_hook(void *context, const struct hook *hook)
{
	const struct hooks *hooks = context;
	struct stat_hooks *counts = hooks->counts;
	struct hook_waiting waiting = {.count = 0};
	struct hook_at at;
	enum err err = hook_at_get(&at, hooks->view, hook->name);

	if (err == ERR_OK)
		err = hook_count(&waiting, hooks->view, hook, &at);
	if (err != ERR_OK)
		return err;
	count_state(counts, hook_state_of(hook, &at));
	counts->delivered += at.delivered;
	counts->repeated += at.repeated;
	counts->given_up += at.given_up;
	counts->waiting += waiting.count;
	counts->lost += waiting.lost;
	if (waiting.oldest_ms != 0 &&
	    (counts->oldest_ms == 0 ||
		(uint64_t)waiting.oldest_ms < counts->oldest_ms))
		counts->oldest_ms = (uint64_t)waiting.oldest_ms;
	return ERR_OK;
}

enum err
stat_count_hooks(struct stat_hooks *counts, struct store *store)
{
	struct hooks hooks = {.counts = counts};
	enum err err = state_view_open(&hooks.view, store);

	if (err == ERR_OK)
		err = hook_each(hooks.view, count_hook, &hooks);
	state_view_close(hooks.view);
	return err;
}
