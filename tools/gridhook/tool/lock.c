/*
 * lock_session: logind is asked to lock, and then watched for a moment. Its
 * Lock is only a signal to whatever locks screens in this session: when the
 * session then says that it is locked, it is; else we do not know, and say so.
 *
 * Where logind cannot be asked, the screen saver is; where that does not
 * answer either, the owner's own command is run. That command is also run when
 * logind was asked but no lock was seen, for a bare window manager has nothing
 * that listens.
 */
#include "common/members.h"
#include "tools/gridhook/tool/tool.h"

#include <assert.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

#include "common/fs.h"
#include "tools/gridhook/tool/bus.h"
#include "tools/gridhook/tool/child.h"
#include "tools/gridhook/tool/session.h"

#define HINT_TRIES 15
#define HINT_STEP_MS 100
#define COMMAND_WATCH_MS 700

static const struct bus_peer manager = {"org.freedesktop.login1",
    "/org/freedesktop/login1", "org.freedesktop.login1.Manager"};

static const struct bus_peer screen_saver = {"org.freedesktop.ScreenSaver",
    "/org/freedesktop/ScreenSaver", "org.freedesktop.ScreenSaver"};

static struct bus_peer
session_at(const char *path)
{
	return (struct bus_peer){
	    manager.name, path, "org.freedesktop.login1.Session"};
}

/* A desktop's session before a text login's, one at a seat before others. */
static int
rank_of(struct bus *bus, const char *path, const char *seat)
{
	struct bus_peer peer = session_at(path);
	struct bus_message *value = NULL;
	struct fault quiet;
	const char *type = "";
	int rank = seat[0] != '\0' ? 2 : 1;

	fault_clear(&quiet);
	if (bus_property(bus, &peer, "Type", "s", &value, &quiet) == ERR_OK &&
	    bus_read(value, "s", &type) &&
	    (strcmp(type, "x11") == 0 || strcmp(type, "wayland") == 0 ||
		strcmp(type, "mir") == 0))
		rank += 2;
	bus_message_free(value);
	return rank;
}

/* The best session of this user; ERR_NOT_FOUND when there is none. */
static enum err
find_session(char path[FS_PATH_MAX], struct bus *bus, struct fault *fault)
{
	struct bus_message *reply = NULL;
	const char *id, *name, *seat, *object;
	int best = 0, rank;
	uint32_t uid;
	enum err err;

	err = bus_call(bus, &manager, "ListSessions", &reply, fault, NULL);
	if (err != ERR_OK)
		return err;
	if (!bus_enter_array(reply, "(susso)"))
		best = -1;
	while (best >= 0 &&
	    bus_read(reply, "(susso)", &id, &uid, &name, &seat, &object)) {
		if (uid != (uint32_t)getuid())
			continue;
		rank = rank_of(bus, object, seat);
		if (rank > best && fs_path(path, "%s", object) == ERR_OK)
			best = rank;
	}
	bus_message_free(reply);
	if (best > 0)
		return ERR_OK;
	fault_set(fault, "logind", "logind knows no session of this user");
	return ERR_NOT_FOUND;
}

/* The session that we run in, where there is one. */
static bool
own_session(char path[FS_PATH_MAX], struct bus *bus)
{
	const char *id = getenv("XDG_SESSION_ID");
	struct bus_message *reply = NULL;
	const char *object = NULL;
	struct fault quiet;
	bool found;

	if (id == NULL || id[0] == '\0')
		return false;
	fault_clear(&quiet);
	found = bus_call(bus, &manager, "GetSession", &reply, &quiet, "s",
		    id) == ERR_OK &&
	    bus_read(reply, "o", &object) &&
	    fs_path(path, "%s", object) == ERR_OK;
	bus_message_free(reply);
	return found;
}

static bool
is_locked(struct bus *bus, const struct bus_peer *session)
{
	struct bus_message *value = NULL;
	struct fault quiet;
	int locked = 0;

	fault_clear(&quiet);
	if (bus_property(bus, session, "LockedHint", "b", &value, &quiet) !=
		ERR_OK ||
	    !bus_read(value, "b", &locked))
		locked = 0;
	bus_message_free(value);
	return locked != 0;
}

static bool
becomes_locked(struct bus *bus, const struct bus_peer *session)
{
	static const struct timespec step = {
	    .tv_nsec = HINT_STEP_MS * 1000000L};

	for (int tries = 0; tries < HINT_TRIES; tries++) {
		if (is_locked(bus, session))
			return true;
		nanosleep(&step, NULL);
	}
	return false;
}

static enum err
lock_by_logind(bool *locked, struct fault *fault)
{
	char path[FS_PATH_MAX];
	struct bus_peer session = session_at(path);
	struct bus *bus = NULL;
	enum err err;

	*locked = false;
	err = bus_open(&bus, BUS_SYSTEM, fault);
	if (err == ERR_OK && !own_session(path, bus))
		err = find_session(path, bus, fault);
	if (err == ERR_OK)
		err = bus_call(bus, &session, "Lock", NULL, fault, NULL);
	if (err == ERR_OK)
		*locked = becomes_locked(bus, &session);
	bus_close(bus);
	return err;
}

static enum err
lock_by_screen_saver(struct fault *fault)
{
	struct bus *bus = NULL;
	enum err err;

	err = bus_open(&bus, BUS_SESSION, fault);
	if (err == ERR_OK)
		err = bus_call(bus, &screen_saver, "Lock", NULL, fault, NULL);
	bus_close(bus);
	return err;
}

static enum err
lock_by_command(const char *const *argv, struct fault *fault)
{
	int status;
	enum err err;

	err = child_start(argv, COMMAND_WATCH_MS, &status, fault);
	if (err != ERR_OK || status == CHILD_RUNNING || status == 0)
		return err;
	fault_set(fault, "lock_command",
	    "the lock command %s ended with status %d", argv[0], status);
	return ERR_SYSTEM;
}

bool
lock_is_possible(const struct tool_settings *settings, struct fault *fault)
{
	char path[FS_PATH_MAX];
	struct bus *bus = NULL;
	struct fault quiet;
	bool can;

	assert(settings != NULL && fault != NULL);
	fault_clear(&quiet);
	can = settings->lock_command != NULL &&
	    session_has_program(settings->lock_command[0]);
	if (!can && bus_open(&bus, BUS_SYSTEM, fault) == ERR_OK)
		can = own_session(path, bus) ||
		    find_session(path, bus, fault) == ERR_OK;
	bus_close(bus);
	bus = NULL;
	if (!can && bus_open(&bus, BUS_SESSION, &quiet) == ERR_OK)
		can = bus_has_name(bus, screen_saver.name);
	bus_close(bus);
	return can;
}

static void
tell(struct answer *answer, const char *by, bool locked)
{
	struct jsonw *object = answer_object_begin(answer);

	members_bool(object, "requested", true);
	jsonw_key(object, "locked");
	if (locked)
		jsonw_bool(object, true);
	else
		jsonw_null(object);
	members_string(object, "by", by);
	answer_object_end(answer);
	if (locked)
		answer_text(answer, "The session is locked.");
	else
		answer_text(answer,
		    "The session was asked to lock (by %s); whether it did "
		    "cannot be seen from here.",
		    by);
}

enum err
lock_session(
    const struct tool_call *call, struct answer *answer, struct fault *fault)
{
	const char *const *command;
	struct fault first, second;
	bool locked, asked;

	assert(call->settings != NULL && answer != NULL);
	command = call->settings->lock_command;
	fault_clear(&first);
	fault_clear(&second);
	asked = lock_by_logind(&locked, &first) == ERR_OK;
	if (asked && (locked || command == NULL)) {
		tell(answer, "logind", locked);
		return ERR_OK;
	}
	if (!asked && lock_by_screen_saver(&second) == ERR_OK) {
		tell(answer, "the screen saver", false);
		return ERR_OK;
	}
	if (command != NULL) {
		enum err err = lock_by_command(command, fault);

		if (err == ERR_OK)
			tell(answer, command[0], false);
		return err;
	}
	fault_set(fault, "lock_session",
	    "the desktop refused: nothing here can lock (logind: %s; screen "
	    "saver: %s); the setting lock_command can name a program",
	    first.message, second.message);
	return ERR_NOT_READY;
}
