#include "tools/gridhook/service.h"

#include <assert.h>
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/epoll.h>
#include <sys/signalfd.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include "common/date.h"
#include "common/log.h"
#include "tools/gridhook/control.h"
#include "tools/gridhook/events/journal.h"
#include "tools/gridhook/router.h"
#include "tools/gridhook/guard.h"
#include "tools/gridhook/mcp/call.h"
#include "tools/gridhook/mcp/helper.h"
#include "tools/gridhook/net/loop.h"
#include "tools/gridhook/server.h"
#include "tools/gridhook/window/relay.h"

struct service {
	struct hook_settings *settings;
	struct loop *loop;
	struct journal *journal;
	struct relay *relay;
	struct helper_pool *helpers;
	struct calls calls;
	struct guard *guard;
	struct recipes *recipes;
	struct senders *senders;
	struct router *gate;
	struct server *server;
	struct control *control;
	struct loop_io signals;
	char helper[FS_PATH_MAX];
	char *helper_settings;
};

/* --- the service manager -------------------------------------------------- */

static void
notify_manager(const char *state)
{
	const char *path = getenv("NOTIFY_SOCKET");
	struct sockaddr_un address = {.sun_family = AF_UNIX};
	socklen_t len;
	int fd;

	if (path == NULL || path[0] == '\0' ||
	    !span_copy(
		address.sun_path, sizeof(address.sun_path), span_of(path)))
		return;
	len =
	    (socklen_t)(offsetof(struct sockaddr_un, sun_path) + strlen(path));
	if (address.sun_path[0] == '@')
		address.sun_path[0] = '\0';
	fd = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0);
	if (fd < 0)
		return;
	if (sendto(fd, state, strlen(state), MSG_NOSIGNAL,
		(struct sockaddr *)&address, len) < 0)
		log_warn("the service manager was not told: reason=%s",
		    strerror(errno));
	close(fd);
}

/* --- signals -------------------------------------------------------------- */

static void
on_signal(struct loop_io *io, uint32_t events)
{
	struct service *service =
	    (struct service *)((char *)io - offsetof(struct service, signals));
	struct signalfd_siginfo info;

	(void)events;
	if (read(io->fd, &info, sizeof(info)) != (ssize_t)sizeof(info))
		return;
	log_info("ending: signal=%u", info.ssi_signo);
	loop_stop(service->loop);
}

static enum err
open_signals(struct service *service)
{
	sigset_t set;

	signal(SIGPIPE, SIG_IGN);
	sigemptyset(&set);
	sigaddset(&set, SIGTERM);
	sigaddset(&set, SIGINT);
	if (sigprocmask(SIG_BLOCK, &set, NULL) != 0)
		return ERR_SYSTEM;
	service->signals = (struct loop_io){
	    .fd = signalfd(-1, &set, SFD_CLOEXEC | SFD_NONBLOCK),
	    .ready = on_signal};
	if (service->signals.fd < 0)
		return ERR_SYSTEM;
	return loop_add(service->loop, &service->signals, EPOLLIN);
}

/* --- the helper ----------------------------------------------------------- */

/* Beside our own program, as in a build tree. */
static bool
own_folder(char own[FS_PATH_MAX])
{
	ssize_t len = readlink("/proc/self/exe", own, FS_PATH_MAX - 1);
	char *slash;

	if (len <= 0)
		return false;
	own[len] = '\0';
	slash = strrchr(own, '/');
	if (slash == NULL)
		return false;
	*slash = '\0';
	return true;
}

static bool
helper_beside(char path[FS_PATH_MAX])
{
	static const char *const places[] = {
	    "gridhook-tool", "tool/gridhook-tool"};
	char own[FS_PATH_MAX];

	if (!own_folder(own))
		return false;
	for (size_t i = 0; i < sizeof(places) / sizeof(places[0]); i++)
		if (fs_path(path, "%s/%s", own, places[i]) == ERR_OK &&
		    access(path, X_OK) == 0)
			return true;
	return false;
}

enum err
service_find_helper(
    char path[FS_PATH_MAX], const struct hook_settings *settings)
{
	assert(settings->helper != NULL);
	if (settings->helper[0] != '\0')
		return fs_path(path, "%s", settings->helper);
	if (access(GRIDHOOK_TOOL, X_OK) != 0 && helper_beside(path))
		return ERR_OK;
	return fs_path(path, "%s", GRIDHOOK_TOOL);
}

char *
service_helper_settings(const struct hook_settings *settings, bool ends_with_us)
{
	struct jsonw json;
	struct buf buf;

	assert(settings->app != NULL);
	buf_init(&buf, 65536);
	jsonw_init(&json, &buf);
	settings_for_helper(&json, settings, ends_with_us);
	if (jsonw_end(&json) != ERR_OK) {
		buf_fini(&buf);
		return NULL;
	}
	return buf_take(&buf, NULL);
}

static enum err
open_helpers(struct service *service)
{
	struct helper_spec spec = {
	    .program = service->helper, .most = service->settings->helpers};
	enum err err;

	err = service_find_helper(service->helper, service->settings);
	if (err != ERR_OK)
		return err;
	service->helper_settings =
	    service_helper_settings(service->settings, true);
	spec.settings = service->helper_settings;
	if (spec.settings != NULL)
		service->helpers = helper_pool_new(service->loop, &spec);
	return service->helpers == NULL ? ERR_NO_MEMORY : ERR_OK;
}

/* --- families ------------------------------------------------------------- */

/* The package's, or those of the tree that the program was built in. */
static void
add_package_folder(struct recipes *recipes)
{
	char own[FS_PATH_MAX], path[FS_PATH_MAX];

	if (own_folder(own) &&
	    fs_path(path, "%s/families/built", own) == ERR_OK &&
	    access(path, R_OK | X_OK) == 0)
		recipes_add_folder(recipes, path);
	else
		recipes_add_folder(recipes, GRIDHOOK_FAMILIES);
}

struct recipes *
service_read_families(void)
{
	const char *config = getenv("XDG_CONFIG_HOME");
	const char *home = getenv("HOME");
	struct recipes *recipes = recipes_new();
	char path[FS_PATH_MAX];
	enum err err = ERR_NOT_FOUND;

	if (recipes == NULL)
		return NULL;
	if (config != NULL && config[0] == '/')
		err = fs_path(path, "%s/gridhook/families", config);
	else if (home != NULL && home[0] == '/')
		err = fs_path(path, "%s/.config/gridhook/families", home);
	if (err == ERR_OK)
		recipes_add_folder(recipes, path);
	add_package_folder(recipes);
	return recipes;
}

/* --- all of it ------------------------------------------------------------ */

static enum err
open_journal(struct service *service)
{
	const struct hook_settings *settings = service->settings;
	char folder[FS_PATH_MAX];
	struct journal_spec spec = {.keep_events = settings->keep_events,
	    .keep_ms = settings->keep_s * 1000,
	    .keep_bytes = settings->keep_bytes};
	enum err err = settings_data(folder, settings);

	if (err == ERR_OK)
		spec.folder = folder;
	else if (err != ERR_NOT_FOUND)
		return err;
	else
		log_warn("events are kept in memory only: a restart loses "
			 "them ([store] data)");
	return journal_open(&service->journal, &spec);
}

/* The window's socket comes first, but its greeting tells of the server. */
static void
write_status(void *arg, struct jsonw *json)
{
	struct service *service = arg;

	if (service->server != NULL)
		server_status(service->server, json);
	else
		jsonw_null(json);
}

static void
on_change(void *arg)
{
	struct service *service = arg;

	relay_tell_status(service->relay);
}

static enum err
open_relay(struct service *service)
{
	char path[FS_PATH_MAX];
	enum err err =
	    settings_socket(path, service->settings, "interface.sock");

	if (err != ERR_OK)
		return err;
	return relay_open(&service->relay, service->loop, path,
	    service->journal, (enum settings_replay)service->settings->replay,
	    write_status, service);
}

static enum err
open_senders(struct service *service)
{
	const struct hook_settings *settings = service->settings;
	struct fault fault = {.place = ""};
	enum err err;

	if (settings->senders_file[0] == '\0')
		return ERR_OK;
	err = senders_open(&service->senders, settings->senders_file, &fault);
	if (err != ERR_OK)
		log_error("%s: %s", fault.place, fault.message);
	else if (!settings->has_secret)
		log_warn("the senders' own secrets are not asked for, since "
			 "there is no shared secret: file=%s",
		    settings->senders_file);
	return err;
}

static enum err
open_server(struct service *service)
{
	struct router_spec spec = {.settings = service->settings,
	    .journal = service->journal,
	    .relay = service->relay,
	    .calls = &service->calls};
	enum err err;

	err = guard_open(&service->guard, service->loop, service->settings);
	if (err != ERR_OK)
		return err;
	spec.guard = service->guard;
	service->recipes = service_read_families();
	if (service->recipes == NULL)
		return ERR_NO_MEMORY;
	if (recipes_count(service->recipes) == 0)
		log_warn("no family of senders is there: pushes of many "
			 "services are shown as JSON: folder=%s",
		    GRIDHOOK_FAMILIES);
	spec.recipes = service->recipes;
	err = open_senders(service);
	if (err != ERR_OK)
		return err;
	spec.senders = service->senders;
	service->calls = (struct calls){.settings = service->settings,
	    .helpers = service->helpers,
	    .relay = service->relay,
	    .journal = service->journal,
	    .status = write_status,
	    .status_arg = service,
	    .started_ns = date_monotonic_ns()};
	err = router_open(&service->gate, &spec);
	if (err == ERR_OK)
		err = server_open(&service->server, service->settings,
		    service->loop, service->gate);
	if (err == ERR_OK)
		server_on_change(service->server, on_change, service);
	return err;
}

static enum err
open_control(struct service *service)
{
	const struct control_spec spec = {.settings = service->settings,
	    .server = service->server,
	    .calls = &service->calls};
	char path[FS_PATH_MAX];
	enum err err = settings_socket(path, service->settings, "control.sock");

	if (err != ERR_OK)
		return err;
	return control_open(&service->control, service->loop, path, &spec);
}

static void
on_round(void *arg)
{
	struct service *service = arg;

	router_round(service->gate);
}

static enum err
start(struct service *service, bool stay)
{
	char port[24];
	enum err err;

	if (!service->settings->autostart)
		return ERR_OK;
	snprintf(
	    port, sizeof(port), "%lld", (long long)service->settings->port);
	err = server_start(service->server, span_of(port));
	return stay ? ERR_OK : err;
}

static enum err
open_all(struct service *service)
{
	enum err err;

	err = loop_open(&service->loop);
	if (err == ERR_OK)
		err = open_signals(service);
	if (err == ERR_OK)
		err = open_journal(service);
	if (err == ERR_OK)
		err = open_helpers(service);
	if (err == ERR_OK)
		err = open_relay(service);
	if (err == ERR_OK)
		err = open_server(service);
	if (err == ERR_OK)
		err = open_control(service);
	if (err == ERR_OK)
		loop_on_round(service->loop, on_round, service);
	return err;
}

static void
close_all(struct service *service)
{
	control_close(service->control);
	server_close(service->server);
	service->server = NULL;
	relay_close(service->relay);
	helper_pool_free(service->helpers);
	calls_fini(&service->calls);
	router_close(service->gate);
	guard_close(service->guard);
	recipes_free(service->recipes);
	senders_close(service->senders);
	journal_close(service->journal);
	if (service->signals.fd > 0)
		close(service->signals.fd);
	loop_close(service->loop);
	free(service->helper_settings);
}

enum err
service_run(struct hook_settings *settings, bool stay)
{
	struct service service = {.settings = settings};
	enum err err;

	assert(settings->app != NULL);
	err = open_all(&service);
	if (err == ERR_OK)
		err = start(&service, stay);
	if (err == ERR_OK) {
		notify_manager("READY=1");
		err = loop_run(service.loop);
		notify_manager("STOPPING=1");
	}
	close_all(&service);
	return err;
}
