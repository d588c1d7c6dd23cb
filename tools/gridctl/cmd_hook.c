/* gridctl hook: addresses that are told what happens, and the sender. */
#include <stdio.h>
#include <string.h>

#include "common/digest.h"
#include "common/opt.h"
#include "common/web/post.h"
#include "lmdb-schema/key.h"
#include "lmdb-schema/state/hook_at.h"
#include "lmdb-schema/store/store.h"
#include "lmdb-schema/upkeep/notice.h"
#include "tools/gridctl/cmd.h"
#include "tools/gridctl/hook/deliver.h"
#include "tools/gridctl/hook/event.h"
#include "tools/gridctl/hook/show.h"

#define ACTOR "gridctl"
#define SECRET_BYTES 32 /* of one that is made */
#define SECRET_FILE_MAX 4096

struct options {
	const char *events, *suppliers, *secret_file, *ca;
	int64_t first_wait_ms, longest_wait_s, give_up_s, timeout_s;
	bool json;
};

#define AT(member) offsetof(struct options, member)

static const struct opt_row add_rows[] = {
    {"--events", 0, OPT_TEXT, AT(events), 0, 0, "A,B",
	"of proposed, saved, cancelled, imported, computed, failed"},
    {"--suppliers", 0, OPT_TEXT, AT(suppliers), 0, 0, "A,B",
	"only of these suppliers, by their codes"},
    {"--secret-file", 0, OPT_TEXT, AT(secret_file), 0, 0, "FILE",
	"the secret that events are signed with, whsec_ and base64; - is the "
	"standard input; without it one is made and shown this once"},
};

static const struct opt_row json_rows[] = {
    {"--json", 0, OPT_FLAG, AT(json), 0, 0, NULL, "as a JSON array"},
};

static const struct opt_row test_rows[] = {
    {"--ca", 0, OPT_TEXT, AT(ca), 0, 0, "FILE",
	"certificates to trust, instead of the system's"},
    {"--timeout", 0, OPT_SECONDS, AT(timeout_s), 1, 300, "SECONDS",
	"how long a try may take (default 15)"},
};

static const struct opt_row deliver_rows[] = {
    {"--ca", 0, OPT_TEXT, AT(ca), 0, 0, "FILE",
	"certificates to trust, instead of the system's"},
    {"--timeout", 0, OPT_SECONDS, AT(timeout_s), 1, 300, "SECONDS",
	"how long a try may take (default 15)"},
    {"--first-wait", 0, OPT_INT, AT(first_wait_ms), 1, 3600000, "MS",
	"milliseconds before the second try (default 5000); then the wait "
	"doubles"},
    {"--longest-wait", 0, OPT_SECONDS, AT(longest_wait_s), 1, 86400, "SECONDS",
	"the longest wait between tries (default 6h)"},
    {"--give-up", 0, OPT_SECONDS, AT(give_up_s), 1, 2592000, "SECONDS",
	"how long an event is tried (default 1d)"},
};

static const struct opt_spec add_spec = {
    .usage = "gridctl [--data DIR] hook add NAME URL --events A,B [OPTION]...",
    .about = "Has events sent to an address from now on, signed as Standard "
	     "Webhooks say. A secret that is made is printed, alone on its "
	     "line.",
    .rows = add_rows,
    .count = sizeof(add_rows) / sizeof(add_rows[0]),
    .args_min = 2,
    .args_max = 2,
};

static const struct opt_spec list_spec = {
    .usage = "gridctl [--data DIR] hook list [--json]",
    .about = "Lists the hooks: how each does, what waits, what was given up.",
    .rows = json_rows,
    .count = 1,
};

static const struct opt_spec lost_spec = {
    .usage = "gridctl [--data DIR] hook lost [--json] NAME",
    .about = "Lists the events that were given up.",
    .rows = json_rows,
    .count = 1,
    .args_min = 1,
    .args_max = 1,
};

static const struct opt_spec remove_spec = {
    .usage = "gridctl [--data DIR] hook remove NAME",
    .about = "Removes a hook with all that waits. When the command ends, "
	     "nothing is under way to the address, and nothing will be.",
    .args_min = 1,
    .args_max = 1,
};

static const struct opt_spec resend_spec = {
    .usage = "gridctl [--data DIR] hook resend NAME",
    .about = "Has what was given up sent again, and what waits tried at once; "
	     "a hook that has stopped goes on.",
    .args_min = 1,
    .args_max = 1,
};

static const struct opt_spec test_spec = {
    .usage = "gridctl [--data DIR] hook test [OPTION]... NAME",
    .about = "Sends an event of the type \"test\" at once, once, and says how "
	     "the receiver answers.",
    .rows = test_rows,
    .count = sizeof(test_rows) / sizeof(test_rows[0]),
    .args_min = 1,
    .args_max = 1,
};

static const struct opt_spec deliver_spec = {
    .usage = "gridctl [--data DIR] hook deliver [OPTION]...",
    .about = "Sends what hooks wait for until it is told to end by SIGTERM; "
	     "gridapi starts it.",
    .rows = deliver_rows,
    .count = sizeof(deliver_rows) / sizeof(deliver_rows[0]),
};

static int
refuse(const char *what)
{
	fprintf(stderr, "gridctl hook add: %s\n", what);
	return CMD_USAGE;
}

static int
no_hook(const char *command, const char *name, enum err err)
{
	struct fault fault;

	fault_clear(&fault);
	if (err == ERR_NOT_FOUND)
		fault_set(&fault, name,
		    "is no hook's name: 'gridctl hook list' shows them");
	return cmd_fail(command, err, &fault);
}

/* --- add ------------------------------------------------------------------ */

/* A made one is shown; one that is given is not repeated. */
static int
read_secret(uint8_t secret[HOOK_SECRET_MAX], size_t *len, const char *path)
{
	char text[SECRET_FILE_MAX];
	bool in = strcmp(path, "-") == 0, good;
	FILE *file = in ? stdin : fopen(path, "re");
	size_t got;

	if (file == NULL) {
		fprintf(stderr,
		    "gridctl hook add: --secret-file %s cannot be read: %m\n",
		    path);
		return CMD_FAILED;
	}
	got = fread(text, 1, sizeof(text), file);
	if (!in)
		fclose(file);
	while (got > 0 && strchr(" \t\r\n", text[got - 1]) != NULL)
		got--;
	good = event_secret(secret, len, span_make(text, got));
	digest_forget(text, sizeof(text));
	if (!good)
		return refuse("--secret-file: it has whsec_ and base64 of 24 "
			      "to 64 bytes, and nothing else");
	return CMD_DONE;
}

static int
read_wish(struct hook *hook, const struct options *options,
    char suppliers[HOOK_SUPPLIERS_MAX + 1], char **argv)
{
	const char *fault = post_url_fault(argv[2]);

	hook->name = span_of(argv[1]);
	hook->url = span_of(argv[2]);
	if (!hook_name_ok(hook->name))
		return refuse("NAME: 1 to 64 letters, digits, '-', '_', '.'");
	if (hook->url.len > HOOK_URL_MAX)
		return refuse("URL: it has 2,048 bytes at most");
	if (fault != NULL) {
		fprintf(stderr, "gridctl hook add: URL: %s\n", fault);
		return CMD_USAGE;
	}
	if (options->events == NULL ||
	    !hook_events(&hook->events, span_of(options->events)))
		return refuse(
		    "--events: one or more of proposed, saved, cancelled, "
		    "imported, computed, failed, by commas");
	if (options->suppliers == NULL)
		return CMD_DONE;
	if (!cmd_codes(suppliers, HOOK_SUPPLIERS_MAX, options->suppliers))
		return refuse("--suppliers: codes separated by commas, none of "
			      "them empty, 2,048 bytes at most");
	hook->suppliers = span_of(suppliers);
	return CMD_DONE;
}

/* Snapshots and imports of before are no news to the first hook for them. */
static enum err
begin_noticing(struct store *store, unsigned events)
{
	struct state_view *view;
	unsigned wanted = 0;
	enum err err = state_view_open(&view, store);

	if (err == ERR_OK)
		err = hook_wanted(&wanted, view);
	state_view_close(view);
	return err == ERR_OK ? notice_begin(store, events & ~wanted) : err;
}

static int
add_hook(struct store *store, const struct hook *hook, const char *url)
{
	struct fault fault;
	enum err err = begin_noticing(store, hook->events);

	if (err == ERR_OK)
		err = hook_add(store, hook, ACTOR);
	if (err == ERR_OK) {
		cmd_warn_codes(store, "hook add", hook->suppliers);
		if (strncmp(url, "http://", 7) == 0 && !post_url_is_local(url))
			fprintf(stderr,
			    "gridctl hook add: http:// shows what is sent to "
			    "all on the way: use https:// beyond this "
			    "machine\n");
		return CMD_DONE;
	}
	fault_clear(&fault);
	if (err == ERR_EXISTS)
		fault_set(&fault, "NAME",
		    "there is a hook of that name: choose another, or remove "
		    "it");
	if (err == ERR_TOO_LARGE)
		fault_set(&fault, "",
		    "there are %d hooks, and that is the most: remove one",
		    HOOK_COUNT_MAX);
	return cmd_fail("hook add", err, &fault);
}

static int
hook_add_command(int argc, char **argv)
{
	struct options options = {.events = NULL};
	char suppliers[HOOK_SUPPLIERS_MAX + 1];
	char text[EVENT_SECRET_TEXT_MAX];
	uint8_t secret[HOOK_SECRET_MAX];
	size_t len = SECRET_BYTES;
	struct hook hook = {.id = 0};
	struct store *store = NULL;
	int args;
	int result = cmd_options(&options, &add_spec, argc, argv, &args);

	if (result != CMD_GO)
		return result;
	result = read_wish(&hook, &options, suppliers, argv);
	if (result == CMD_DONE && options.secret_file != NULL)
		result = read_secret(secret, &len, options.secret_file);
	else if (result == CMD_DONE &&
	    digest_random(secret, SECRET_BYTES) != ERR_OK)
		result = cmd_fail("hook add", ERR_SYSTEM, NULL);
	hook.secret = span_make(secret, len);
	if (result == CMD_DONE)
		result = cmd_open(&store, "hook add");
	if (result == CMD_DONE)
		result = add_hook(store, &hook, argv[2]);
	if (result == CMD_DONE && options.secret_file == NULL) {
		event_secret_text(text, hook.secret);
		puts(text);
		fprintf(stderr, "This secret is not shown again.\n");
		digest_forget(text, sizeof(text));
	}
	digest_forget(secret, sizeof(secret));
	store_close(store);
	return result;
}

/* --- the others ----------------------------------------------------------- */

static int
hook_list(int argc, char **argv)
{
	struct options options = {.events = NULL};
	struct cmd_list list;
	struct store *store;
	int args;
	int result = cmd_start(
	    &store, "hook list", &options, &list_spec, argc, argv, &args);

	if (result != CMD_GO)
		return result;
	cmd_list_begin(&list, options.json);
	result = cmd_list_end(&list, "hook list", show_hooks(&list, store));
	store_close(store);
	return result;
}

static int
hook_lost(int argc, char **argv)
{
	struct options options = {.events = NULL};
	struct cmd_list list;
	struct store *store;
	int args;
	int result = cmd_start(
	    &store, "hook lost", &options, &lost_spec, argc, argv, &args);
	enum err err;

	if (result != CMD_GO)
		return result;
	cmd_list_begin(&list, options.json);
	err = show_lost(&list, store, span_of(argv[1]));
	if (err == ERR_NOT_FOUND) {
		buf_fini(&list.text);
		result = no_hook("hook lost", argv[1], err);
	} else
		result = cmd_list_end(&list, "hook lost", err);
	store_close(store);
	return result;
}

static int
hook_remove_command(int argc, char **argv)
{
	struct options options = {.events = NULL};
	struct store *store;
	int args;
	int result = cmd_start(
	    &store, "hook remove", &options, &remove_spec, argc, argv, &args);
	enum err err;

	if (result != CMD_GO)
		return result;
	err = hook_remove(store, span_of(argv[1]), ACTOR);
	result = CMD_DONE;
	if (err != ERR_OK)
		result = no_hook("hook remove", argv[1], err);
	else
		printf(
		    "%s is removed: nothing is sent to it any more\n", argv[1]);
	store_close(store);
	return result;
}

/* The sender sees the change, and tries what waits at once. */
static enum err
resend(uint64_t *lost, uint64_t *waiting, struct store *store, struct span name)
{
	struct hook_waiting count = {.count = 0};
	struct state_view *view = NULL;
	struct hook_at at;
	struct hook hook;
	enum err err = hook_resend(lost, store, name);

	if (err == ERR_OK)
		err = state_view_open(&view, store);
	if (err == ERR_OK)
		err = hook_get(&hook, view, name);
	if (err == ERR_OK)
		err = hook_at_get(&at, view, name);
	if (err == ERR_OK)
		err = hook_count(&count, view, &hook, &at);
	state_view_close(view);
	*waiting = count.count;
	return err;
}

static int
hook_resend_command(int argc, char **argv)
{
	struct options options = {.events = NULL};
	struct store *store;
	uint64_t lost, waiting;
	int args;
	int result = cmd_start(
	    &store, "hook resend", &options, &resend_spec, argc, argv, &args);
	enum err err;

	if (result != CMD_GO)
		return result;
	err = resend(&lost, &waiting, store, span_of(argv[1]));
	result = CMD_DONE;
	if (err != ERR_OK)
		result = no_hook("hook resend", argv[1], err);
	else
		printf("%s goes on; %s waiting events are tried now; %s "
		       "events that were given up are sent again\n",
		    argv[1], cmd_count(waiting), cmd_count(lost));
	store_close(store);
	return result;
}

static int
hook_test(int argc, char **argv)
{
	struct options options = {.timeout_s = 15};
	struct store *store;
	int args;
	int result = cmd_start(
	    &store, "hook test", &options, &test_spec, argc, argv, &args);
	enum err err;

	if (result != CMD_GO)
		return result;
	err = show_test(&result, store, span_of(argv[1]), options.ca,
	    options.timeout_s * 1000);
	if (err != ERR_OK)
		result = no_hook("hook test", argv[1], err);
	store_close(store);
	return result;
}

static int
hook_deliver(int argc, char **argv)
{
	struct options options = {.first_wait_ms = 5000,
	    .longest_wait_s = 6 * 3600,
	    .give_up_s = 24 * 3600,
	    .timeout_s = 15};
	struct deliver_options how;
	struct fault fault;
	struct store *store;
	int args;
	int result = cmd_start(
	    &store, "hook deliver", &options, &deliver_spec, argc, argv, &args);
	enum err err;

	if (result != CMD_GO)
		return result;
	how = (struct deliver_options){.first_wait_ms = options.first_wait_ms,
	    .longest_wait_ms = options.longest_wait_s * 1000,
	    .give_up_ms = options.give_up_s * 1000,
	    .timeout_ms = options.timeout_s * 1000,
	    .ca_file = options.ca};
	err = deliver_run(store, &how);
	fault_clear(&fault);
	if (err == ERR_BUSY)
		fault_set(&fault, "", "another process sends already");
	result =
	    err == ERR_OK ? CMD_DONE : cmd_fail("hook deliver", err, &fault);
	store_close(store);
	return err == ERR_BUSY ? CMD_BUSY : result;
}

static const struct cmd_row commands[] = {
    {"add", hook_add_command, "have events sent to an address"},
    {"list", hook_list, "list the hooks and how each does"},
    {"lost", hook_lost, "list what was given up"},
    {"remove", hook_remove_command, "end a hook"},
    {"test", hook_test, "send one event that says nothing"},
    {"resend", hook_resend_command, "try at once what waits or was given up"},
    {"deliver", hook_deliver, "send what waits, until it is ended"},
};

int
cmd_hook(int argc, char **argv)
{
	return cmd_run_table("gridctl hook",
	    "Addresses that are told what happens, by signed requests.",
	    commands, sizeof(commands) / sizeof(commands[0]), argc, argv);
}
