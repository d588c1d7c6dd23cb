/*
 * gridctl user add, passwd, list, remove: manages the users of the Grid screen.
 */
#include <stdio.h>

#include "common/digest.h"
#include "common/jsonw.h"
#include "common/opt.h"
#include "lmdb-schema/state/user.h"
#include "lmdb-schema/store/store.h"
#include "tools/gridctl/cmd.h"
#include "tools/gridctl/password.h"

struct options {
	bool json;
};

static const struct opt_row list_rows[] = {
    {"--json", 0, OPT_FLAG, offsetof(struct options, json), 0, 0, NULL,
	"as a JSON array"},
};

#define ABOUT_PASSWORD \
	"The password, of 8 bytes or more, is typed twice at the terminal, " \
	"or is the first line of standard input."

static const struct opt_spec add_spec = {
    .usage = "gridctl [--data DIR] user add NAME",
    .about = "Adds a user of the Grid screen. " ABOUT_PASSWORD,
    .args_min = 1,
    .args_max = 1,
};

static const struct opt_spec passwd_spec = {
    .usage = "gridctl [--data DIR] user passwd NAME",
    .about = "Gives a user another password and ends the user's "
	     "sessions. " ABOUT_PASSWORD,
    .args_min = 1,
    .args_max = 1,
};

static const struct opt_spec list_spec = {
    .usage = "gridctl [--data DIR] user list [--json]",
    .about = "Lists the users of the Grid screen.",
    .rows = list_rows,
    .count = 1,
};

static const struct opt_spec remove_spec = {
    .usage = "gridctl [--data DIR] user remove NAME",
    .about = "Removes a user and ends the user's sessions.",
    .args_min = 1,
    .args_max = 1,
};

static void
explain(struct fault *fault, enum err err, const char *name)
{
	if (err == ERR_EXISTS)
		fault_set(fault, name,
		    "is a user already: 'gridctl user passwd' changes the "
		    "password");
	if (err == ERR_NOT_FOUND)
		fault_set(
		    fault, name, "is no user: 'gridctl user list' shows them");
	if (err == ERR_BAD_INPUT)
		fault_set(fault, name,
		    "a name is 1 to 64 bytes of text, without blanks at its "
		    "ends; a password %d to %d bytes",
		    USER_PASSWORD_MIN, USER_PASSWORD_MAX);
}

/* `set` is user_add() or user_passwd(). */
static int
with_password(const char *command, const char *name,
    enum err (*change)(struct store *, struct span, struct span, const char *),
    const char *done)
{
	char password[USER_PASSWORD_MAX + 2];
	struct store *store;
	struct fault fault;
	int result = cmd_open(&store, command);
	enum err err;

	if (result != CMD_DONE)
		return result;
	fault_clear(&fault);
	err = password_read(password, sizeof(password), &fault);
	if (err == ERR_OK)
		err =
		    change(store, span_of(name), span_of(password), "gridctl");
	digest_forget(password, sizeof(password));
	explain(&fault, err, name);
	if (err != ERR_OK)
		result = cmd_fail(command, err, &fault);
	else
		printf("%s %s\n", name, done);
	store_close(store);
	return result;
}

static int
user_add_command(int argc, char **argv)
{
	struct options options = {false};
	int args, result = cmd_options(&options, &add_spec, argc, argv, &args);

	return result == CMD_GO
	    ? with_password("user add", argv[1], user_add, "is a user now")
	    : result;
}

static int
user_passwd_command(int argc, char **argv)
{
	struct options options = {false};
	int args;
	int result = cmd_options(&options, &passwd_spec, argc, argv, &args);

	return result == CMD_GO ? with_password("user passwd", argv[1],
				      user_passwd, "has a new password")
				: result;
}

static int
user_remove_command(int argc, char **argv)
{
	struct options options = {false};
	struct store *store;
	struct fault fault;
	int args;
	int result = cmd_start(
	    &store, "user remove", &options, &remove_spec, argc, argv, &args);
	enum err err;

	if (result != CMD_GO)
		return result;
	result = CMD_DONE;
	fault_clear(&fault);
	err = user_remove(store, span_of(argv[1]), "gridctl");
	explain(&fault, err, argv[1]);
	if (err != ERR_OK)
		result = cmd_fail("user remove", err, &fault);
	else
		printf("%s is removed\n", argv[1]);
	store_close(store);
	return result;
}

/* --- list ----------------------------------------------------------------- */

static enum err
list_one(void *context, const struct user *user)
{
	struct cmd_list *list = context;
	char made[DATE_TEXT_MAX];

	if (list->as_json) {
		jsonw_object_begin(&list->json);
		jsonw_key(&list->json, "name");
		jsonw_string(&list->json, user->name);
		cmd_json_time(&list->json, "createdAt", user->created_ms);
		jsonw_object_end(&list->json);
	} else {
		cmd_time(made, user->created_ms);
		buf_addf(
		    &list->text, "%-24s  %.*s\n", made, SPAN_ARG(user->name));
	}
	return buf_end(&list->text);
}

static int
user_list(int argc, char **argv)
{
	struct options options = {false};
	struct cmd_list list;
	struct state_view *view = NULL;
	struct store *store;
	int args,
	    result = cmd_start(
		&store, "user list", &options, &list_spec, argc, argv, &args);
	enum err err;

	if (result != CMD_GO)
		return result;
	cmd_list_begin(&list, options.json);
	if (!options.json)
		buf_addf(&list.text, "%-24s  %s\n", "created", "name");
	err = state_view_open(&view, store);
	if (err == ERR_OK)
		err = user_each(view, list_one, &list);
	state_view_close(view);
	store_close(store);
	return cmd_list_end(&list, "user list", err);
}

static const struct cmd_row commands[] = {
    {"add", user_add_command, "add a user"},
    {"passwd", user_passwd_command, "give a user another password"},
    {"list", user_list, "list the users"},
    {"remove", user_remove_command, "remove a user and end the sessions"},
};

int
cmd_user(int argc, char **argv)
{
	return cmd_run_table("gridctl user", "Who works in the Grid screen.",
	    commands, sizeof(commands) / sizeof(commands[0]), argc, argv);
}
