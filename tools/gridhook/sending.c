#include "tools/gridhook/sending.h"

#include <assert.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "common/date.h"
#include "common/members.h"
#include "tools/gridhook/net/client.h"

#define HOST_MAX 256

/* On this machine, a server for all addresses is behind the loopback one. */
static enum err
find_url(char url[FS_PATH_MAX], const struct sending *to,
    const struct hook_settings *settings)
{
	const char *given = getenv("GRIDHOOK_URL");
	const char *host = settings_host(settings);
	bool six = strchr(host, ':') != NULL;

	if (to->url != NULL)
		return fs_path(url, "%s", to->url);
	if (given != NULL && given[0] != '\0')
		return fs_path(url, "%s", given);
	if (strcmp(host, "0.0.0.0") == 0 || strcmp(host, "::") == 0) {
		host = "127.0.0.1";
		six = false;
	}
	return fs_path(url, "http://%s%s%s:%lld/%s/hook", six ? "[" : "", host,
	    six ? "]" : "", (long long)settings->port, settings->app);
}

static const char *
host_name(char host[HOST_MAX])
{
	host[0] = '\0';
	gethostname(host, HOST_MAX - 1);
	host[HOST_MAX - 1] = '\0';
	return host;
}

void
sending_begin(struct jsonw *json, struct buf *body, const char *source)
{
	char host[HOST_MAX];

	assert(body != NULL);
	jsonw_init(json, body);
	jsonw_object_begin(json);
	members_given(
	    json, "source", source == NULL ? host_name(host) : source);
}

enum err
sending_end(struct jsonw *json)
{
	char host[HOST_MAX], now[DATE_TEXT_MAX];

	assert(json != NULL);
	date_instant_text(now, date_now_ms());
	members_given(json, "host", host_name(host));
	members_given(json, "time", now);
	jsonw_object_end(json);
	return jsonw_end(json);
}

bool
sending_post(const struct sending *to, struct hook_settings *settings,
    struct span body, const char *who)
{
	struct client_post client = {
	    .body = body, .timeout_ms = (int)to->timeout_s * 1000};
	struct fault fault = {.place = ""};
	char url[FS_PATH_MAX];
	struct buf answer;
	int status = 0;
	enum err err = ERR_OK;

	assert(to->timeout_s > 0 && who != NULL);
	buf_init(&answer, 1 << 20);
	if (to->secret_file != NULL)
		err = settings_read_secret(settings, to->secret_file, &fault);
	if (err == ERR_OK)
		err = find_url(url, to, settings);
	client.url = url;
	client.secret = settings->has_secret ? settings->secret : NULL;
	if (err == ERR_OK)
		err = client_post(&status, &answer, &client, &fault);
	if (err != ERR_OK)
		fprintf(stderr, "%s: %s: %s\n", who,
		    fault_is_set(&fault) ? fault.place : "push",
		    fault_is_set(&fault) ? fault.message : err_text(err));
	else if (status != 200)
		fprintf(stderr, "%s: refused with %d: %.*s\n", who, status,
		    SPAN_ARG(buf_span(&answer)));
	buf_fini(&answer);
	return err == ERR_OK && status == 200;
}
