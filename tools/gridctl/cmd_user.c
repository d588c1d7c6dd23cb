/*
 * gridctl user add, passwd, role, list, remove: manages the users of the Grid
 * screen.
 */
#include <stdio.h>

#include "common/digest.h"
#include "common/jsonw.h"
#include "common/opt.h"
#include "lmdb-schema/state/access.h"
#include "lmdb-schema/state/rights.h"
#include "lmdb-schema/state/user.h"
#include "lmdb-schema/store/store.h"
#include "tools/gridctl/cmd.h"
#include "tools/gridctl/password.h"

struct options {
	const char *role, *suppliers;
	bool json;
};

#define SUPPLIERS_ROW \
	{ \
		"--suppliers", 0, OPT_TEXT, \
		    offsetof(struct options, suppliers), 0, 0, "A,B", \
		    "of a buyer: the codes of the suppliers to decide for; " \
		    "all " \
		    "otherwise" \
	}

static const struct opt_row add_rows[] = {
    {"--role", 0, OPT_TEXT, offsetof(struct options, role), 0, 0, "ROLE",
	"buyer, manager, or administrator, which is the default"},
    SUPPLIERS_ROW,
};

static const struct opt_row role_rows[] = {
    SUPPLIERS_ROW,
};

static const struct opt_row list_rows[] = {
    {"--json", 0, OPT_FLAG, offsetof(struct options, json), 0, 0, NULL,
	"as a JSON array"},
};

#define ABOUT_PASSWORD \
	"The password, of 8 bytes or more, is typed twice at the terminal, " \
	"or is the first line of standard input."

static const struct opt_spec add_spec = {
    .usage = "gridctl [--data DIR] user add NAME [OPTION]...",
    .about = "Adds a user of the Grid screen. " ABOUT_PASSWORD,
    .rows = add_rows,
    .count = sizeof(add_rows) / sizeof(add_rows[0]),
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

static const struct opt_spec role_spec = {
    .usage = "gridctl [--data DIR] user role NAME "
	     "buyer|manager|administrator [--suppliers A,B]",
    .about = "Says what a user may do, from the next request on. A buyer saves "
	     "and rejects ranges, of the named suppliers or of all; a manager, "
	     "of all, and changes the views that all share; an administrator "
	     "also makes and revokes API keys. All of them see everything.",
    .rows = role_rows,
    .count = sizeof(role_rows) / sizeof(role_rows[0]),
    .args_min = 2,
    .args_max = 2,
};

static const struct opt_spec list_spec = {
    .usage = "gridctl [--data DIR] user list [--json]",
    .about = "Lists the users of the Grid screen.",
    .rows = list_rows,
    .count = 1,
};

static const struct opt_spec remove_spec = {
    .usage = "gridctl [--data DIR] user remove NAME",
    .about = "Removes a user and ends the user's sessions; also those of a "
	     "person from outside.",
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

/* CMD_USAGE when the words are none of a role's; says why. */
static int
read_rights(struct rights *rights, const char *command, const char *role,
    const char *suppliers, char list[ACCESS_SUPPLIERS_MAX + 1])
{
	*rights = (struct rights){.role = ROLE_ADMINISTRATOR};
	if (role != NULL && !role_read(&rights->role, span_of(role))) {
		fprintf(stderr,
		    "gridctl %s: a role is buyer, manager or administrator, "
		    "not \"%s\"\n",
		    command, role);
		return CMD_USAGE;
	}
	if (suppliers == NULL)
		return CMD_DONE;
	if (rights->role != ROLE_BUYER) {
		fprintf(stderr,
		    "gridctl %s: --suppliers is for a buyer; %s decides for "
		    "all\n",
		    command,
		    rights->role == ROLE_MANAGER ? "a manager"
						 : "an administrator");
		return CMD_USAGE;
	}
	if (!cmd_codes(list, ACCESS_SUPPLIERS_MAX, suppliers)) {
		fprintf(stderr,
		    "gridctl %s: --suppliers: codes separated by commas, none "
		    "of them empty, %d bytes at most\n",
		    command, ACCESS_SUPPLIERS_MAX);
		return CMD_USAGE;
	}
	rights->suppliers = span_of(list);
	return CMD_DONE;
}

/* Adds with these rights, or where they are NULL gives another password. */
static int
with_password(
    const char *command, const char *name, const struct rights *rights)
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
	if (err == ERR_OK && rights != NULL)
		err = user_add_as(
		    store, span_of(name), span_of(password), rights, "gridctl");
	else if (err == ERR_OK)
		err = user_passwd(
		    store, span_of(name), span_of(password), "gridctl");
	digest_forget(password, sizeof(password));
	explain(&fault, err, name);
	if (err != ERR_OK) {
		result = cmd_fail(command, err, &fault);
	} else {
		printf("%s %s\n", name,
		    rights != NULL ? "is a user now" : "has a new password");
		if (rights != NULL)
			cmd_warn_codes(store, command, rights->suppliers);
	}
	store_close(store);
	return result;
}

static int
user_add_command(int argc, char **argv)
{
	struct options options = {.json = false};
	char list[ACCESS_SUPPLIERS_MAX + 1];
	struct rights rights;
	int args, result = cmd_options(&options, &add_spec, argc, argv, &args);

	if (result != CMD_GO)
		return result;
	result = read_rights(
	    &rights, "user add", options.role, options.suppliers, list);
	return result == CMD_DONE ? with_password("user add", argv[1], &rights)
				  : result;
}

static int
user_passwd_command(int argc, char **argv)
{
	struct options options = {.json = false};
	int args;
	int result = cmd_options(&options, &passwd_spec, argc, argv, &args);

	return result == CMD_GO ? with_password("user passwd", argv[1], NULL)
				: result;
}

static int
user_role_command(int argc, char **argv)
{
	struct options options = {.json = false};
	char list[ACCESS_SUPPLIERS_MAX + 1];
	struct rights rights;
	struct store *store;
	struct fault fault;
	int args, result = cmd_options(&options, &role_spec, argc, argv, &args);
	enum err err;

	if (result != CMD_GO)
		return result;
	result =
	    read_rights(&rights, "user role", argv[2], options.suppliers, list);
	if (result == CMD_DONE)
		result = cmd_open(&store, "user role");
	if (result != CMD_DONE)
		return result;
	fault_clear(&fault);
	err = user_set_rights(store, span_of(argv[1]), &rights, "gridctl");
	explain(&fault, err, argv[1]);
	if (err != ERR_OK) {
		result = cmd_fail("user role", err, &fault);
	} else {
		printf("%s is %s %s now\n", argv[1],
		    rights.role == ROLE_ADMINISTRATOR ? "an" : "a", argv[2]);
		cmd_warn_codes(store, "user role", rights.suppliers);
	}
	store_close(store);
	return result;
}

static int
user_remove_command(int argc, char **argv)
{
	struct options options = {.json = false};
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
	const char *role = role_text(user->rights.role);
	char made[DATE_TEXT_MAX];

	if (list->as_json) {
		jsonw_object_begin(&list->json);
		jsonw_key(&list->json, "name");
		jsonw_string(&list->json, user->name);
		cmd_json_time(&list->json, "createdAt", user->created_ms);
		jsonw_key(&list->json, "role");
		jsonw_text(&list->json, role);
		cmd_add_codes(list, "suppliers", user->rights.suppliers);
		jsonw_object_end(&list->json);
	} else {
		cmd_time(made, user->created_ms);
		buf_addf(&list->text, "%-24s  %-13s  %.*s", made, role,
		    SPAN_ARG(user->name));
		cmd_add_codes(list, "suppliers", user->rights.suppliers);
		buf_add_char(&list->text, '\n');
	}
	return buf_end(&list->text);
}

static int
user_list(int argc, char **argv)
{
	struct options options = {.json = false};
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
		buf_addf(&list.text, "%-24s  %-13s  %s\n", "created", "role",
		    "name");
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
    {"role", user_role_command, "say what a user may do"},
    {"list", user_list, "list the users"},
    {"remove", user_remove_command, "remove a user and end the sessions"},
};

int
cmd_user(int argc, char **argv)
{
	return cmd_run_table("gridctl user", "Who works in the Grid screen.",
	    commands, sizeof(commands) / sizeof(commands[0]), argc, argv);
}
