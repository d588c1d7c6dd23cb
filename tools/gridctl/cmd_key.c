/* gridctl key create, list, revoke: manages the keys that may call the API. */
#include <stdio.h>
#include <string.h>

#include "common/date.h"
#include "common/digest.h"
#include "common/jsonw.h"
#include "common/num.h"
#include "common/opt.h"
#include "lmdb-schema/state/access.h"
#include "lmdb-schema/store/store.h"
#include "tools/gridctl/cmd.h"

struct options {
	const char *name, *scope, *expires, *suppliers;
	int64_t rate;
	bool json;
};

static const struct opt_row create_rows[] = {
    {"--name", 0, OPT_TEXT, offsetof(struct options, name), 0, 0, "NAME",
	"what the key is for; shown as the author of its proposals"},
    {"--scope", 0, OPT_TEXT, offsetof(struct options, scope), 0, 0, "SCOPE",
	"read, or propose (which may read too)"},
    {"--expires", 0, OPT_TEXT, offsetof(struct options, expires), 0, 0, "WHEN",
	"when it expires: 90d, 2027-06-30 or 2027-06-30T18:00:00Z"},
    {"--rate", 0, OPT_INT, offsetof(struct options, rate), 1, ACCESS_RATE_MAX,
	"N", "requests a minute; more get a 429"},
    {"--suppliers", 0, OPT_TEXT, offsetof(struct options, suppliers), 0, 0,
	"A,B",
	"the codes of the suppliers that it may see; others do not "
	"exist for it"},
};

static const struct opt_spec create_spec = {
    .usage = "gridctl [--data DIR] key create --name NAME --scope "
	     "read|propose [OPTION]...",
    .about = "Makes an API key and prints it, alone on its line. The key is "
	     "shown only this once: its hash is stored.",
    .rows = create_rows,
    .count = sizeof(create_rows) / sizeof(create_rows[0]),
};

static const struct opt_row list_rows[] = {
    {"--json", 0, OPT_FLAG, offsetof(struct options, json), 0, 0, NULL,
	"as a JSON array"},
};

static const struct opt_spec list_spec = {
    .usage = "gridctl [--data DIR] key list [--json]",
    .about = "Lists the API keys with their limits; never the keys themselves.",
    .rows = list_rows,
    .count = 1,
};

static const struct opt_spec revoke_spec = {
    .usage = "gridctl [--data DIR] key revoke ID",
    .about = "Revokes an API key at once and for ever.",
    .args_min = 1,
    .args_max = 1,
};

/* "90d": days from now; or a day or a moment. 0: none of them, or past. */
static int64_t
read_expires(const char *text)
{
	struct span span = span_of(text);
	int64_t now_ms = date_now_ms(), days, when_ms = 0;
	int32_t day;

	if (span_ends(span, SPAN("d")) &&
	    num_int(&days, span_sub(span, 0, span.len - 1), 1, 36500))
		return now_ms + days * 86400000;
	if (date_day(&day, span))
		when_ms = (int64_t)day * 86400000;
	else if (!date_instant(&when_ms, span))
		return 0;
	return when_ms > now_ms ? when_ms : 0;
}

static int
read_bounds(struct access_bounds *bounds, const struct options *options,
    char suppliers[ACCESS_SUPPLIERS_MAX + 1])
{
	bounds->per_minute = options->rate;
	if (options->expires != NULL) {
		bounds->expires_ms = read_expires(options->expires);
		if (bounds->expires_ms == 0) {
			fprintf(stderr,
			    "gridctl key create: --expires \"%s\" is no day or "
			    "moment to come: 90d, 2027-06-30 or "
			    "2027-06-30T18:00:00Z\n",
			    options->expires);
			return CMD_USAGE;
		}
	}
	if (options->suppliers == NULL)
		return CMD_DONE;
	if (!cmd_codes(suppliers, ACCESS_SUPPLIERS_MAX, options->suppliers)) {
		fprintf(stderr,
		    "gridctl key create: --suppliers: codes separated by "
		    "commas, none of them empty, %d bytes at most\n",
		    ACCESS_SUPPLIERS_MAX);
		return CMD_USAGE;
	}
	bounds->suppliers = span_of(suppliers);
	return CMD_DONE;
}

static int
key_create(int argc, char **argv)
{
	struct options options = {.name = NULL};
	char suppliers[ACCESS_SUPPLIERS_MAX + 1];
	char key[ACCESS_KEY_MAX], id[ACCESS_ID_LEN + 1];
	struct access_wish wish = {.actor.name = "gridctl", .alone = true};
	struct fault fault;
	struct store *store;
	int args;
	int result = cmd_options(&options, &create_spec, argc, argv, &args);
	enum err err;

	if (result != CMD_GO)
		return result;
	if (options.name == NULL || options.scope == NULL) {
		fprintf(stderr,
		    "gridctl key create: --name and --scope read|propose are "
		    "needed\n");
		return CMD_USAGE;
	}
	if (!access_scope(&wish.scope, span_of(options.scope))) {
		fprintf(stderr,
		    "gridctl key create: --scope is read or propose, not "
		    "\"%s\"\n",
		    options.scope);
		return CMD_USAGE;
	}
	wish.name = span_of(options.name);
	if (!access_name_ok(wish.name)) {
		fprintf(stderr,
		    "gridctl key create: --name: 1 to 64 bytes of text\n");
		return CMD_USAGE;
	}
	result = read_bounds(&wish.bounds, &options, suppliers);
	if (result != CMD_DONE)
		return result;
	result = cmd_open(&store, "key create");
	if (result != CMD_DONE)
		return result;
	err = access_key_create(store, &wish, key, id);
	if (err == ERR_OK) {
		cmd_warn_codes(store, "key create", wish.bounds.suppliers);
		puts(key);
		fprintf(stderr,
		    "id %s, scope %s. This key is not shown again.\n", id,
		    options.scope);
	} else {
		fault_clear(&fault);
		if (err == ERR_EXISTS)
			fault_set(&fault, options.name,
			    "is the name of a key in use: proposals would not "
			    "tell the two apart; choose another, or revoke "
			    "that one ('gridctl key list')");
		result = cmd_fail("key create", err, &fault);
	}
	digest_forget(key, sizeof(key));
	store_close(store);
	return result;
}

/* Behind the name: what bounds the key, if anything does. */
static void
add_bounds(struct cmd_list *list, const struct access_bounds *bounds)
{
	char until[DATE_TEXT_MAX];

	cmd_time(until, bounds->expires_ms);
	if (list->as_json) {
		cmd_json_time(&list->json, "expiresAt", bounds->expires_ms);
		jsonw_key(&list->json, "perMinute");
		if (bounds->per_minute == 0)
			jsonw_null(&list->json);
		else
			jsonw_int(&list->json, bounds->per_minute);
		cmd_add_codes(list, "suppliers", bounds->suppliers);
		return;
	}
	if (bounds->expires_ms != 0)
		buf_addf(&list->text, ", until %s", until);
	if (bounds->per_minute != 0)
		buf_addf(&list->text, ", %lld a minute",
		    (long long)bounds->per_minute);
	cmd_add_codes(list, "suppliers", bounds->suppliers);
	buf_add_char(&list->text, '\n');
}

static enum err
add_key(void *context, const struct access_key *key)
{
	struct cmd_list *list = context;
	struct jsonw *json = &list->json;
	char made[DATE_TEXT_MAX], used[DATE_TEXT_MAX], revoked[DATE_TEXT_MAX];

	if (list->as_json) {
		jsonw_object_begin(json);
		jsonw_key(json, "id");
		jsonw_string(json, key->id);
		jsonw_key(json, "name");
		jsonw_string(json, key->name);
		jsonw_key(json, "scope");
		jsonw_text(json, access_scope_text(key->scope));
		cmd_json_time(json, "createdAt", key->created_ms);
		cmd_json_time(json, "lastUsedAt", key->used_ms);
		cmd_json_time(json, "revokedAt", key->revoked_ms);
		add_bounds(list, &key->bounds);
		jsonw_object_end(json);
		return buf_end(&list->text);
	}
	cmd_time(made, key->created_ms);
	cmd_time(used, key->used_ms);
	cmd_time(revoked, key->revoked_ms);
	buf_addf(&list->text, "%-10.*s  %-8s %-24s  %-24s  %-24s  %.*s",
	    SPAN_ARG(key->id), access_scope_text(key->scope), made, used,
	    revoked, SPAN_ARG(key->name));
	add_bounds(list, &key->bounds);
	return buf_end(&list->text);
}

static enum err
list_keys(struct store *store, struct cmd_list *list)
{
	struct state_view *view;
	enum err err = state_view_open(&view, store);

	if (err == ERR_OK)
		err = access_key_each(view, add_key, list);
	state_view_close(view);
	return err;
}

static int
key_list(int argc, char **argv)
{
	struct options options = {.name = NULL};
	struct cmd_list list;
	struct store *store;
	int args;
	int result = cmd_start(
	    &store, "key list", &options, &list_spec, argc, argv, &args);

	if (result != CMD_GO)
		return result;
	cmd_list_begin(&list, options.json);
	if (!options.json)
		buf_addf(&list.text, "%-10s  %-8s %-24s  %-24s  %-24s  %s\n",
		    "id", "scope", "created", "last used", "revoked", "name");
	result = cmd_list_end(&list, "key list", list_keys(store, &list));
	store_close(store);
	return result;
}

static int
key_revoke(int argc, char **argv)
{
	struct options options = {.name = NULL};
	struct fault fault;
	struct store *store;
	int args;
	int result = cmd_start(
	    &store, "key revoke", &options, &revoke_spec, argc, argv, &args);
	enum err err;

	if (result != CMD_GO)
		return result;
	result = CMD_DONE;
	err = access_key_revoke(
	    store, span_of(argv[1]), &(struct access_actor){.name = "gridctl"});
	fault_clear(&fault);
	if (err == ERR_NOT_FOUND)
		fault_set(&fault, argv[1],
		    "is no key's id: 'gridctl key list' shows them");
	if (err == ERR_EXISTS)
		fault_set(&fault, argv[1], "is revoked already");
	if (err != ERR_OK)
		result = cmd_fail("key revoke", err, &fault);
	else
		printf("%s is revoked\n", argv[1]);
	store_close(store);
	return result;
}

static const struct cmd_row commands[] = {
    {"create", key_create, "make a key and print it, this once"},
    {"list", key_list, "list the keys, revoked ones too"},
    {"revoke", key_revoke, "end a key at once"},
};

int
cmd_key(int argc, char **argv)
{
	return cmd_run_table("gridctl key", "Who may call the API.", commands,
	    sizeof(commands) / sizeof(commands[0]), argc, argv);
}
