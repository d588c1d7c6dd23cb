/* gridctl key create, list, revoke: manages the keys that may call the API. */
#include <stdio.h>
#include <string.h>

#include "common/date.h"
#include "common/digest.h"
#include "common/jsonw.h"
#include "common/opt.h"
#include "lmdb-schema/state/access.h"
#include "lmdb-schema/store/store.h"
#include "tools/gridctl/cmd.h"

struct options {
	const char *name, *scope;
	bool json;
};

static const struct opt_row create_rows[] = {
    {"--name", 0, OPT_TEXT, offsetof(struct options, name), 0, 0, "NAME",
	"what the key is for; shown as the author of its proposals"},
    {"--scope", 0, OPT_TEXT, offsetof(struct options, scope), 0, 0, "SCOPE",
	"read, or propose (which may read too)"},
};

static const struct opt_spec create_spec = {
    .usage = "gridctl [--data DIR] key create --name NAME --scope "
	     "read|propose",
    .about = "Makes an API key and prints it, alone on its line. It is "
	     "shown this once: only its hash is stored.",
    .rows = create_rows,
    .count = 2,
};

static const struct opt_row list_rows[] = {
    {"--json", 0, OPT_FLAG, offsetof(struct options, json), 0, 0, NULL,
	"as a JSON array"},
};

static const struct opt_spec list_spec = {
    .usage = "gridctl [--data DIR] key list [--json]",
    .about = "Lists the API keys: never the keys themselves.",
    .rows = list_rows,
    .count = 1,
};

static const struct opt_spec revoke_spec = {
    .usage = "gridctl [--data DIR] key revoke ID",
    .about = "Revokes an API key at once and for ever.",
    .args_min = 1,
    .args_max = 1,
};

static int
key_create(int argc, char **argv)
{
	struct options options = {NULL, NULL, false};
	char key[ACCESS_KEY_MAX], id[ACCESS_ID_LEN + 1];
	struct access_wish wish = {.actor = "gridctl", .alone = true};
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
	result = cmd_open(&store, "key create");
	if (result != CMD_DONE)
		return result;
	err = access_key_create(store, &wish, key, id);
	if (err == ERR_OK) {
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
		jsonw_object_end(json);
		return buf_end(&list->text);
	}
	cmd_time(made, key->created_ms);
	cmd_time(used, key->used_ms);
	cmd_time(revoked, key->revoked_ms);
	buf_addf(&list->text, "%-10.*s  %-8s %-24s  %-24s  %-24s  %.*s\n",
	    SPAN_ARG(key->id), access_scope_text(key->scope), made, used,
	    revoked, SPAN_ARG(key->name));
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
	struct options options = {NULL, NULL, false};
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
	struct options options = {NULL, NULL, false};
	struct fault fault;
	struct store *store;
	int args;
	int result = cmd_start(
	    &store, "key revoke", &options, &revoke_spec, argc, argv, &args);
	enum err err;

	if (result != CMD_GO)
		return result;
	result = CMD_DONE;
	err = access_key_revoke(store, span_of(argv[1]), "gridctl");
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
