#include "tools/gridctl/hook/show.h"

#include <assert.h>
#include <stdio.h>
#include <stdlib.h>

#include "common/members.h"
#include "common/web/post.h"
#include "lmdb-schema/state/hook_at.h"
#include "lmdb-schema/state/trail.h"
#include "tools/gridctl/hook/event.h"

#define TURN_MS 200

struct showing {
	struct cmd_list *list;
	struct state_view *view;
};

static const char *
state_of(const struct hook *hook, const struct hook_at *at)
{
	static const char *const names[] = {[HOOK_NEW] = "never tried",
	    [HOOK_FINE] = "fine",
	    [HOOK_CATCHING_UP] = "catching up",
	    [HOOK_FAILING] = "failing",
	    [HOOK_STOPPED] = "stopped"};

	return names[hook_state_of(hook, at)];
}

/* A query may hold a password: it is not shown. */
static void
add_url(struct buf *text, struct span url)
{
	size_t query = span_find(url, '?');

	buf_add_span(text, span_sub(url, 0, query));
	if (query < url.len)
		buf_add_span(text, SPAN("?…"));
}

/* Further lines: what a hook is told of, the last failure, the next try. */
static void
add_more(struct buf *text, const struct hook *hook, const struct hook_at *at)
{
	enum hook_state state = hook_state_of(hook, at);
	char failure[DATE_TEXT_MAX], next[DATE_TEXT_MAX];
	struct span code, rest = hook->suppliers;
	const char *between = "";

	buf_addf(text, "%-16s ", "");
	for (unsigned i = 0; i < HOOK_EVENTS; i++)
		if ((hook->events & 1u << i) != 0) {
			buf_addf(text, "%s%.*s", between,
			    SPAN_ARG(hook_event_names[i]));
			between = ",";
		}
	between = " of ";
	while (rest.len > 0 && span_cut(&code, &rest, '\n'))
		if (code.len > 0) {
			buf_addf(text, "%s%.*s", between, SPAN_ARG(code));
			between = ",";
		}
	buf_addf(text, "\n");
	if (state == HOOK_NEW || state == HOOK_FINE)
		return;
	cmd_time(failure, at->failure_ms);
	cmd_time(next, hook_next_ms(at));
	buf_addf(text, "%-16s %s: %s\n", "", failure, at->error);
	if (state == HOOK_STOPPED)
		buf_addf(text,
		    "%-16s 'gridctl hook resend %.*s' lets it go on\n", "",
		    SPAN_ARG(hook->name));
	else
		buf_addf(text, "%-16s next try: %s\n", "", next);
}

static void
add_names(struct jsonw *json, const struct hook *hook)
{
	struct span code, rest = hook->suppliers;

	jsonw_key(json, "events");
	jsonw_array_begin(json);
	for (unsigned i = 0; i < HOOK_EVENTS; i++)
		if ((hook->events & 1u << i) != 0)
			jsonw_string(json, hook_event_names[i]);
	jsonw_array_end(json);
	jsonw_key(json, "suppliers");
	if (rest.len == 0) {
		jsonw_null(json);
		return;
	}
	jsonw_array_begin(json);
	while (span_cut(&code, &rest, '\n'))
		if (code.len > 0)
			jsonw_string(json, code);
	jsonw_array_end(json);
}

static void
add_object(struct jsonw *json, const struct hook *hook,
    const struct hook_at *at, const struct hook_waiting *waiting)
{
	bool stopped = hook_is_stopped(hook, at);
	struct buf url;

	buf_init(&url, HOOK_URL_MAX + 8);
	jsonw_object_begin(json);
	members_text(json, "name", hook->name);
	add_url(&url, hook->url);
	members_text(json, "url", buf_span(&url));
	add_names(json, hook);
	members_string(json, "state", state_of(hook, at));
	members_time(json, "createdAt", hook->created_ms);
	members_time(json, "lastSuccessAt", at->success_ms);
	members_time(json, "lastFailureAt", at->failure_ms);
	members_null_text(json, "lastError", span_of(at->error));
	members_time(json, "nextTryAt", stopped ? 0 : hook_next_ms(at));
	members_int(json, "delivered", (int64_t)at->delivered);
	members_int(json, "repeated", (int64_t)at->repeated);
	members_int(json, "waiting", (int64_t)waiting->count);
	members_time(json, "oldestAt", waiting->oldest_ms);
	members_int(json, "givenUp", (int64_t)waiting->lost);
	jsonw_object_end(json);
	buf_fini(&url);
}

static void
add_lines(struct buf *text, const struct hook *hook, const struct hook_at *at,
    const struct hook_waiting *waiting)
{
	char success[DATE_TEXT_MAX];

	cmd_time(success, at->success_ms);
	buf_addf(text, "%-16.*s %-11s %10s %10s  %-24s  ", SPAN_ARG(hook->name),
	    state_of(hook, at), cmd_count(waiting->count),
	    cmd_count(waiting->lost), success);
	add_url(text, hook->url);
	buf_addf(text, "\n");
	add_more(text, hook, at);
}

static enum err
show_hook(void *context, const struct hook *hook)
{
	struct showing *showing = context;
	struct hook_waiting waiting = {.count = 0};
	struct hook_at at;
	enum err err = hook_at_get(&at, showing->view, hook->name);

	if (err == ERR_OK)
		err = hook_count(&waiting, showing->view, hook, &at);
	if (err != ERR_OK)
		return err == ERR_NOT_FOUND ? ERR_DAMAGED : err;
	if (showing->list->as_json)
		add_object(&showing->list->json, hook, &at, &waiting);
	else
		add_lines(&showing->list->text, hook, &at, &waiting);
	return buf_end(&showing->list->text);
}

enum err
show_hooks(struct cmd_list *list, struct store *store)
{
	struct showing showing = {.list = list};
	enum err err = state_view_open(&showing.view, store);

	if (!list->as_json)
		buf_addf(&list->text, "%-16s %-11s %10s %10s  %-24s  %s\n",
		    "name", "state", "waiting", "given up", "last success",
		    "address");
	if (err == ERR_OK)
		err = hook_each(showing.view, show_hook, &showing);
	state_view_close(showing.view);
	return err;
}

static enum err
show_one_lost(void *context, const struct hook_lost *lost)
{
	struct showing *showing = context;
	struct jsonw *json = &showing->list->json;
	struct audit_entry entry = {.when_ms = 0};
	char id[EVENT_ID_MAX], when[DATE_TEXT_MAX];
	enum err err = trail_get(showing->view, lost->number, &entry);

	if (err != ERR_OK && err != ERR_DAMAGED && err != ERR_NOT_FOUND)
		return err;
	event_id(id, lost->number, entry.when_ms);
	if (!showing->list->as_json) {
		cmd_time(when, lost->when_ms);
		buf_addf(&showing->list->text, "%-32s %-12.*s %-24s %5u  %s\n",
		    id, SPAN_ARG(hook_supplier_of(&entry)), when, lost->tries,
		    lost->error);
		return buf_end(&showing->list->text);
	}
	jsonw_object_begin(json);
	members_string(json, "id", id);
	members_null_text(json, "supplier", hook_supplier_of(&entry));
	members_time(json, "givenUpAt", lost->when_ms);
	members_int(json, "tries", lost->tries);
	members_string(json, "error", lost->error);
	members_bool(json, "again", lost->again);
	jsonw_object_end(json);
	return buf_end(&showing->list->text);
}

enum err
show_lost(struct cmd_list *list, struct store *store, struct span name)
{
	struct showing showing = {.list = list};
	struct hook hook;
	enum err err = state_view_open(&showing.view, store);

	if (!list->as_json)
		buf_addf(&list->text, "%-32s %-12s %-24s %5s  %s\n", "id",
		    "supplier", "given up", "tries", "why");
	if (err == ERR_OK)
		err = hook_get(&hook, showing.view, name);
	if (err == ERR_OK)
		err =
		    hook_lost_each(showing.view, name, show_one_lost, &showing);
	state_view_close(showing.view);
	return err;
}

/* --- a try ---------------------------------------------------------------- */

static enum err
post_test(struct posts *posts, const struct hook *hook, int64_t timeout_ms)
{
	int64_t now_ms = date_now_ms();
	char *url = span_dup(hook->url);
	struct event_headers headers = {.list = {NULL}};
	char id[EVENT_ID_MAX];
	struct buf body;
	enum err err;

	buf_init(&body, EVENT_BODY_MAX);
	err = event_write_test(&body, hook->name, now_ms);
	if (err == ERR_OK && url == NULL)
		err = ERR_NO_MEMORY;
	event_id(id, 0, now_ms);
	event_sign(&headers, hook->secret, id, now_ms, buf_span(&body));
	if (err == ERR_OK)
		err = posts_add(posts,
		    &(struct post_request){.url = url,
			.headers = headers.list,
			.body = buf_span(&body),
			.timeout_ms = timeout_ms,
			.owner = hook});
	buf_fini(&body);
	free(url);
	return err;
}

enum err
show_test(int *result, struct store *store, struct span name,
    const char *ca_file, int64_t timeout_ms)
{
	char text[POST_TEXT_MAX];
	struct post_result answer;
	struct state_view *view;
	struct posts *posts = NULL;
	struct hook hook;
	enum err err = state_view_open(&view, store);

	assert(timeout_ms > 0);
	if (err == ERR_OK)
		err = hook_get(&hook, view, name);
	if (err == ERR_OK)
		err = posts_new(&posts, ca_file);
	if (err == ERR_OK)
		err = post_test(posts, &hook, timeout_ms);
	while (err == ERR_OK && !posts_next(&answer, posts))
		posts_wait(posts, TURN_MS);
	posts_free(posts);
	state_view_close(view);
	if (err != ERR_OK)
		return err;
	*result = answer.status >= 200 && answer.status <= 299 ? CMD_DONE
							       : CMD_FAILED;
	post_text(text, &answer);
	if (answer.status != 0)
		printf("%s in %lld ms\n", text, (long long)answer.took_ms);
	else
		fprintf(stderr, "gridctl hook test: %s\n", text);
	return ERR_OK;
}
