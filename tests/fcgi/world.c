#include "tests/fcgi/world.h"

#include <check.h>
#include <stdio.h>
#include <stdlib.h>

#include "common/fs.h"
#include "fcgi/route.h"
#include "fcgi/rows/snapview.h"
#include "fcgi/serve.h"
#include "fcgi/server.h"
#include "tests/support/quiet.h"
#include "tests/support/scratch.h"

struct world world;

static char key[ACCESS_KEY_MAX];

static const char *
top(const char *variable)
{
	const char *path = getenv(variable);

	return path == NULL ? "." : path;
}

static const char *
gridctl(void)
{
	static char path[FS_PATH_MAX];

	ck_assert_int_eq(
	    fs_path(path, "%s/tools/gridctl/gridctl", top("abs_top_builddir")),
	    ERR_OK);
	return path;
}

static FILE *
run(const char *words)
{
	char command[3 * FS_PATH_MAX];
	FILE *pipe;

	snprintf(command, sizeof(command), "%s --data %s %s 2>&1", gridctl(),
	    scratch_path("data"), words);
	pipe = popen(command, "r");
	ck_assert_ptr_nonnull(pipe);
	return pipe;
}

void
world_gridctl(const char *words)
{
	FILE *pipe = run(words);
	char said[512] = "", line[512];

	while (fgets(line, sizeof(line), pipe) != NULL)
		memcpy(said, line, sizeof(said));
	ck_assert_msg(pclose(pipe) == 0, "gridctl %s: %s", words, said);
}

static void
make_key(void)
{
	FILE *pipe = run("key create --name test --scope read");
	char line[256];

	key[0] = '\0';
	while (fgets(line, sizeof(line), pipe) != NULL)
		if (strncmp(line, "grid_", 5) == 0)
			ck_assert(span_copy(key, sizeof(key),
			    span_sub(span_of(line), 0, strcspn(line, "\n"))));
	ck_assert_int_eq(pclose(pipe), 0);
	ck_assert_str_ne(key, "");
}

void
world_make(void)
{
	char words[2 * FS_PATH_MAX];

	scratch_make();
	world_gridctl("init");
	snprintf(words, sizeof(words), "import %s/tests/flow/data",
	    top("abs_top_srcdir"));
	world_gridctl(words);
	world_gridctl("compute S1");
	world_gridctl("compute S2");
	world_gridctl("compute S5");
	make_key();
}

void
world_remove(void)
{
	scratch_remove();
}

const char *
world_key(void)
{
	return key;
}

static void
set(const char *section, const char *name, const char *value)
{
	struct fault fault;

	fault_clear(&fault);
	ck_assert_msg(conf_set(&world.settings, settings_rows, settings_count,
			  section, name, value, &fault) == ERR_OK,
	    "%s", fault.message);
}

void
world_open(void)
{
	struct fault fault;

	quiet_begin();
	memset(&world, 0, sizeof(world));
	fault_clear(&fault);
	ck_assert_int_eq(conf_defaults(&world.settings, settings_rows,
			     settings_count, &fault),
	    ERR_OK);
	set("data", "dir", scratch_path("data"));
	set("compute", "gridctl", gridctl());
	world.metrics = metrics_new(route_name_count);
	ck_assert_ptr_nonnull(world.metrics);
	ck_assert_msg(server_open(&world.server, &world.settings, world.metrics,
			  &fault) == ERR_OK,
	    "%s", fault.message);
	world.serving = serving_new(world.server);
	ck_assert_ptr_nonnull(world.serving);
	buf_init(&world.answer, 1 << 26);
	request_init(&world.request);
	world.request.api_key = span_of(key);
}

void
world_without_jobs(void)
{
	set("compute", "gridctl", "/bin/false");
}

void
world_close(void)
{
	serving_free(world.serving);
	server_close(world.server);
	conf_fini(&world.settings, settings_rows, settings_count);
	metrics_free(world.metrics);
	buf_fini(&world.answer);
	quiet_end();
}

int
world_ask(const char *uri)
{
	struct sink sink = sink_to_buf(&world.answer);
	int status;

	world.request.uri = span_of(uri);
	buf_clear(&world.answer);
	ck_assert_int_eq(serve(world.serving, &world.request, &sink), ERR_OK);
	buf_add_char(&world.answer, '\0');
	ck_assert_int_eq(buf_end(&world.answer), ERR_OK);
	ck_assert_int_eq(sscanf(world.answer.data, "Status: %d", &status), 1);
	return status;
}

const char *
world_body(void)
{
	const char *end = strstr(world.answer.data, "\r\n\r\n");

	ck_assert_ptr_nonnull(end);
	return end + 4;
}

const char *
world_header(const char *name)
{
	static char value[1024];
	struct span line, rest = buf_span(&world.answer);
	size_t len = strlen(name);

	while (span_cut(&line, &rest, '\n') && line.len > 1)
		if (span_starts(line, span_make(name, len)) &&
		    line.ptr[len] == ':') {
			ck_assert(span_copy(value, sizeof(value),
			    span_sub(line, len + 2, line.len - len - 3)));
			return value;
		}
	return NULL;
}

static struct sink nowhere;

struct call
world_call(void)
{
	struct call call = {.serving = world.serving,
	    .server = world.server,
	    .request = &world.request,
	    .route = &routes[0],
	    .reply = &world.serving->reply};

	nowhere = sink_to_buf(&world.answer);
	ck_assert_int_eq(views_renew(&world.serving->views), ERR_OK);
	reply_begin(call.reply, &nowhere, call.request);
	return call;
}

struct snapview
world_view(struct call *call, const char *supplier)
{
	struct snapview view;

	ck_assert_int_eq(
	    snapview_open(&view, call, span_of(supplier), 0), ERR_OK);
	return view;
}
