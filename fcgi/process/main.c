/* gridapi: reads its settings, opens the sockets, and supervises. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

#include "common/conf.h"
#include "common/digest.h"
#include "common/log.h"
#include "common/opt.h"
#include "common/owner.h"
#include "common/version.h"
#include "config.h"
#include "fcgi/metrics.h"
#include "fcgi/process/listen.h"
#include "fcgi/process/pool.h"
#include "fcgi/route.h"
#include "fcgi/server.h"
#include "fcgi/settings.h"
#include "lmdb-schema/state/trail_archive.h"

struct options {
	const char *config;
	struct opt_list sets;
	bool print_settings, check, version;
};

#define AT(member) offsetof(struct options, member)

static const struct opt_row rows[] = {
    {"--config", 'c', OPT_TEXT, AT(config), 0, 0, "FILE",
	"the settings file (default " GRID_CONF ", if it is there)"},
    {"--set", 's', OPT_LIST, AT(sets), 0, 0, "SECTION.NAME=VALUE",
	"override one setting; may be given many times"},
    {"--check", 0, OPT_FLAG, AT(check), 0, 0, NULL,
	"check the settings, gridctl, the trail's archive and the data "
	"directory, and exit"},
    {"--print-settings", 0, OPT_FLAG, AT(print_settings), 0, 0, NULL,
	"print a settings file with every setting at its default"},
    {"--version", 0, OPT_FLAG, AT(version), 0, 0, NULL, "print the version"},
};

static const struct opt_spec spec = {
    .usage = "gridapi [OPTION]...",
    .about = "Serves the product grid's API to nginx by FastCGI, with a pool "
	     "of processes that replaces those that die. SIGTERM ends it, "
	     "SIGHUP replaces the workers one by one.",
    .rows = rows,
    .count = sizeof(rows) / sizeof(rows[0]),
};

/* The arguments to read the settings again with. */
struct settings_source {
	const struct options *options;
	struct api_settings *settings;
};

static void
tell(const struct fault *fault, enum err err)
{
	char text[FAULT_TEXT_MAX];

	log_error("%s", fault_text(text, fault, err));
	/* Root may access everything, so the check would prove nothing. */
	if (owner_name() != NULL)
		log_error("it was done as %s, who owns the data directory",
		    owner_name());
}

/* "pages.threads=4" */
static enum err
override(struct api_settings *settings, const char *text, struct fault *fault)
{
	char section[64], name[64];
	struct span rest = span_of(text);
	size_t dot = span_find(rest, '.');
	size_t equals = span_find(rest, '=');

	if (dot >= equals || equals == rest.len ||
	    !span_copy(section, sizeof(section), span_sub(rest, 0, dot)) ||
	    !span_copy(name, sizeof(name),
		span_sub(rest, dot + 1, equals - dot - 1))) {
		fault_set(fault, "--set",
		    "is SECTION.NAME=VALUE, such as pages.threads=4, not "
		    "\"%s\"",
		    text);
		return ERR_BAD_INPUT;
	}
	return conf_set(settings, settings_rows, settings_count, section, name,
	    text + equals + 1, fault);
}

static void
tell_twice(void *context, const char *text)
{
	const char *const *config = context;

	printf("%s: %s\n", *config, text);
}

static enum err
read_file(struct api_settings *settings, const char *config, bool telling,
    struct fault *fault)
{
	return telling
	    ? conf_read_telling(settings, settings_rows, settings_count, config,
		  tell_twice, &config, fault)
	    : conf_read(settings, settings_rows, settings_count, config, fault);
}

static enum err
read_settings(struct api_settings *settings, const struct options *options,
    struct fault *fault)
{
	const char *config = options->config;
	enum err err;

	err = conf_defaults(settings, settings_rows, settings_count, fault);
	if (config == NULL && access(GRID_CONF, F_OK) == 0)
		config = GRID_CONF;
	if (err == ERR_OK && config != NULL)
		err = read_file(settings, config, options->check, fault);
	for (int i = 0; i < options->sets.count && err == ERR_OK; i++)
		err = override(settings, options->sets.items[i], fault);
	if (err == ERR_OK)
		err = settings_check(settings, fault);
	return err;
}

/* At the start and at a reload; a check prints it. */
static void
log_note(const struct api_settings *settings)
{
	const char *note = settings_note(settings);

	if (note != NULL)
		log_warn("%s", note);
}

static void
free_settings(struct api_settings *settings)
{
	conf_fini(settings, settings_rows, settings_count);
}

static void
reload(void *context)
{
	struct settings_source *source = context;
	struct api_settings fresh;
	struct fault fault;
	enum err err;

	memset(&fresh, 0, sizeof(fresh));
	fault_clear(&fault);
	err = read_settings(&fresh, source->options, &fault);
	if (err != ERR_OK) {
		tell(&fault, err);
		log_error("the settings stay as they were");
		free_settings(&fresh);
		return;
	}
	free_settings(source->settings);
	*source->settings = fresh;
	log_open("gridapi", (enum log_level)fresh.log_level);
	log_note(&fresh);
}

/* Connections, snapshots and maps: each is a descriptor. */
static void
raise_file_limit(void)
{
	struct rlimit limit;

	if (getrlimit(RLIMIT_NOFILE, &limit) != 0)
		return;
	limit.rlim_cur = limit.rlim_max;
	if (setrlimit(RLIMIT_NOFILE, &limit) != 0)
		log_warn("the limit of open files could not be raised");
}

static int
check(const struct api_settings *settings, struct metrics *metrics)
{
	const char *note = settings_note(settings);
	struct server *server = NULL;
	struct fault fault;
	enum err err;

	fault_clear(&fault);
	if (note != NULL)
		puts(note);
	err = settings_check_gridctl(settings, &fault);
	/* A disk may be mounted later: serving needs no archive. */
	if (err == ERR_OK && settings->trail_archive[0] != '\0')
		err = trail_archive_check(
		    settings->data_dir, settings->trail_archive, &fault);
	if (err == ERR_OK)
		err = server_open(&server, settings, metrics, &fault);
	server_close(server);
	if (err != ERR_OK) {
		tell(&fault, err);
		return 1;
	}
	puts("settings and data directory are fine");
	return 0;
}

static int
serve_all(struct settings_source *source, struct metrics *metrics)
{
	struct listen listen;
	struct fault fault;
	struct pool_job job = {.settings = source->settings,
	    .metrics = metrics,
	    .listen = &listen,
	    .reload = reload,
	    .context = source};
	enum err err;
	int result;

	fault_clear(&fault);
	err = listen_open(&listen, source->settings, &fault);
	if (err != ERR_OK) {
		tell(&fault, err);
		return 1;
	}
	log_note(source->settings);
	raise_file_limit();
	result = pool_run(&job);
	listen_close(&listen);
	return result;
}

static int
run(const struct options *options)
{
	struct api_settings settings;
	struct settings_source source = {options, &settings};
	struct metrics *metrics = metrics_new(route_name_count);
	struct fault fault;
	int result = 1;
	enum err err;

	memset(&settings, 0, sizeof(settings));
	fault_clear(&fault);
	err = read_settings(&settings, options, &fault);
	if (err == ERR_OK && metrics == NULL)
		err = ERR_NO_MEMORY;
	/*
	 * A file of root in the data directory would keep the service from
	 * starting.
	 */
	if (err == ERR_OK)
		err = owner_become(settings.data_dir, false, &fault);
	if (err == ERR_OK)
		err = digest_load(&fault);
	if (err != ERR_OK)
		tell(&fault, err);
	else {
		log_open("gridapi", (enum log_level)settings.log_level);
		result = options->check ? check(&settings, metrics)
					: serve_all(&source, metrics);
	}
	free_settings(&settings);
	metrics_free(metrics);
	return result;
}

int
main(int argc, char **argv)
{
	struct options options = {0};
	int args;

	log_open("gridapi", LOG_INFO_);
	switch (opt_read(&options, &spec, argc, argv, &args)) {
	case OPT_GO:
		break;
	case OPT_HELP:
		return 0;
	case OPT_WRONG:
		return OPT_USAGE;
	}
	if (options.version)
		printf("gridapi %s\n", version_text);
	else if (options.print_settings)
		conf_print(stdout, settings_rows, settings_count);
	else
		return run(&options);
	return 0;
}
