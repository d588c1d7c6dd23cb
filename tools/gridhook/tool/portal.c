#include "tools/gridhook/tool/portal.h"

#include <assert.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "common/buf.h"
#include "common/digest.h"
#include "common/fs.h"
#include "common/hex.h"
#include "tools/gridhook/tool/bus.h"

#define NAME "org.freedesktop.portal.Desktop"
#define PATH "/org/freedesktop/portal/desktop"
#define TOKEN_RANDOM 16
#define FILE_SCHEME "file://"

static const struct bus_peer screenshot = {
    NAME, PATH, "org.freedesktop.portal.Screenshot"};
static const struct bus_peer opener = {
    NAME, PATH, "org.freedesktop.portal.OpenURI"};

/* Codes of a request's response. */
enum response { RESPONSE_DONE, RESPONSE_CANCELLED, RESPONSE_ENDED };

struct portal_request {
	struct bus *bus;
	char token[TOKEN_RANDOM + 16];
	char path[FS_PATH_MAX];
};

/*
 * The answer comes to an object whose path can be told beforehand from our
 * name and a token of ours, so it is watched before the call is made.
 */
static enum err
request_open(struct portal_request *request, struct fault *fault)
{
	struct bus_peer peer = {
	    NAME, request->path, "org.freedesktop.portal.Request"};
	char random[TOKEN_RANDOM + 1], own[256];
	enum err err;

	request->bus = NULL;
	err = bus_open(&request->bus, BUS_SESSION, fault);
	if (err != ERR_OK)
		return err;
	if (!bus_has_name(request->bus, NAME)) {
		fault_set(fault, "portal",
		    "not found: no desktop portal (%s) is running", NAME);
		return ERR_NOT_FOUND;
	}
	err = digest_random_text(random, TOKEN_RANDOM);
	if (err != ERR_OK)
		return err;
	snprintf(request->token, sizeof(request->token), "gridhook_%s", random);
	/* ":1.42" is "1_42" in a path. */
	snprintf(own, sizeof(own), "%s", bus_own_name(request->bus));
	for (char *dot = own; *dot != '\0'; dot++)
		if (*dot == '.')
			*dot = '_';
	err = fs_path(request->path, PATH "/request/%s/%s",
	    own[0] == ':' ? own + 1 : own, request->token);
	if (err == ERR_OK)
		err = bus_watch(request->bus, &peer, "Response", fault);
	return err;
}

/* Waits for the answer; *out stands at its details. */
static enum err
request_await(struct portal_request *request, int timeout_ms,
    struct bus_message **out, struct fault *fault)
{
	uint32_t response = RESPONSE_ENDED;
	enum err err;

	err = bus_await(request->bus, timeout_ms, out);
	if (err == ERR_TIMED_OUT)
		fault_set(fault, "portal",
		    "timed out after %d ms: the desktop portal may be asking "
		    "the person at the screen",
		    timeout_ms);
	if (err != ERR_OK)
		return err;
	if (bus_read(*out, "u", &response) && response == RESPONSE_DONE)
		return ERR_OK;
	fault_set(fault, "portal",
	    "the desktop refused: permission was asked for and not given "
	    "(portal response %u); the person can allow it in the desktop's "
	    "settings",
	    response);
	return ERR_DENIED;
}

/* The path in a file:// URL, its %XX decoded. */
static bool
file_path(char path[FS_PATH_MAX], const char *url)
{
	struct span text = span_of(url);
	struct span scheme = SPAN(FILE_SCHEME);
	size_t used = 0;

	if (!span_starts(text, scheme))
		return false;
	text = span_from(text, scheme.len);
	if (text.len == 0 || text.ptr[0] != '/')
		return false;
	for (; text.len > 0 && used + 1 < FS_PATH_MAX; used++)
		if (!hex_percent(&path[used], &text) || path[used] == '\0')
			return false;
	path[used] = '\0';
	return text.len == 0;
}

/* A file that the portal made for us alone; others are the person's. */
static bool
is_temporary(const char *path)
{
	const char *runtime = getenv("XDG_RUNTIME_DIR");
	struct span text = span_of(path), folder = span_of(runtime);

	return span_starts(text, SPAN("/tmp/")) ||
	    (folder.len > 1 && span_starts(text, folder) &&
		text.len > folder.len && text.ptr[folder.len] == '/');
}

static enum err
take_file(struct buf *png, const char *url, struct fault *fault)
{
	char path[FS_PATH_MAX];
	enum err err;

	if (url == NULL || !file_path(path, url)) {
		fault_set(fault, "portal",
		    "the desktop refused: the portal gave no file");
		return ERR_BAD_INPUT;
	}
	err = fs_read(png, path);
	if (err != ERR_OK)
		fault_set(fault, "portal",
		    "the portal's picture cannot be read: %s", err_text(err));
	if (is_temporary(path))
		unlink(path);
	return err;
}

enum err
portal_screenshot(struct buf *png, int timeout_ms, struct fault *fault)
{
	struct bus_message *answer = NULL;
	const char *url = NULL;
	struct portal_request request;
	enum err err;

	assert(png != NULL && timeout_ms > 0);
	err = request_open(&request, fault);
	if (err == ERR_OK)
		err = bus_call(request.bus, &screenshot, "Screenshot", NULL,
		    fault, "sa{sv}", "", 2, "handle_token", "s", request.token,
		    "interactive", "b", 0);
	if (err == ERR_OK)
		err = request_await(&request, timeout_ms, &answer, fault);
	if (err == ERR_OK) {
		bus_read_entry(answer, "uri", &url);
		err = take_file(png, url, fault);
	}
	bus_message_free(answer);
	bus_close(request.bus);
	return err;
}

enum err
portal_open_url(const char *url, int timeout_ms, struct fault *fault)
{
	struct bus_message *answer = NULL;
	struct portal_request request;
	enum err err;

	assert(url != NULL && timeout_ms > 0);
	err = request_open(&request, fault);
	if (err == ERR_OK)
		err = bus_call(request.bus, &opener, "OpenURI", NULL, fault,
		    "ssa{sv}", "", url, 1, "handle_token", "s", request.token);
	if (err == ERR_OK)
		err = request_await(&request, timeout_ms, &answer, fault);
	bus_message_free(answer);
	bus_close(request.bus);
	return err;
}
