#include "common/web/pull.h"

#include <assert.h>
#include <stdio.h>
#include <string.h>

#include "common/web/libcurl.h"

#define CONNECT_MS 3000L
#define HEADER_MAX 1024

struct pulling {
	const struct libcurl *lib;
	const struct pull_request *request;
	CURL *curl;
	uint64_t got;
	enum err err; /* of the answer */
	struct libcurl_speed speed;
	char error[CURL_ERROR_SIZE];
};

static enum err
of_status(const struct pulling *pulling)
{
	long status = 0;

	pulling->lib->easy_getinfo(
	    pulling->curl, CURLINFO_RESPONSE_CODE, &status);
	if (status == 404)
		return ERR_NOT_FOUND;
	if (status == 401 || status == 403)
		return ERR_DENIED;
	if (status == 200)
		return pulling->request->from == 0 ? ERR_OK : ERR_EXISTS;
	return status == 206 ? ERR_OK : ERR_BAD_INPUT;
}

/* Fewer bytes than given end the transfer. */
static size_t
take_body(char *bytes, size_t size, size_t count, void *context)
{
	struct pulling *pulling = context;
	const struct pull_request *request = pulling->request;
	size_t len = size * count;

	if (pulling->got == 0)
		pulling->err = of_status(pulling);
	if (pulling->err == ERR_OK && len > request->most - pulling->got)
		pulling->err = ERR_TOO_LARGE;
	pulling->got += len;
	if (pulling->err == ERR_OK)
		pulling->err =
		    request->each(request->context, span_make(bytes, len));
	return pulling->err == ERR_OK ? len : 0;
}

#define SET(option, value) \
	(good = good && \
		pulling->lib->easy_setopt(pulling->curl, option, value) == \
		    CURLE_OK)

static bool
set_up(struct pulling *pulling, struct curl_slist *headers)
{
	const struct pull_request *request = pulling->request;
	bool good = libcurl_set_up(pulling->lib, pulling->curl, request->trust,
			pulling->error) &&
	    libcurl_watch(pulling->lib, pulling->curl, &pulling->speed);

	SET(CURLOPT_HTTPHEADER, headers);
	SET(CURLOPT_URL, request->url);
	SET(CURLOPT_CONNECTTIMEOUT_MS, CONNECT_MS);
	if (request->from > 0)
		SET(CURLOPT_RESUME_FROM_LARGE, (curl_off_t)request->from);
	SET(CURLOPT_WRITEFUNCTION, take_body);
	SET(CURLOPT_WRITEDATA, pulling);
	return good;
}

static enum err
of_code(const struct pulling *pulling, CURLcode code)
{
	enum err err;

	if (pulling->err != ERR_OK)
		return pulling->err;
	if (pulling->speed.stalled)
		return ERR_TIMED_OUT;
	if (code == CURLE_OK)
		return of_status(pulling);
	if (code != CURLE_RANGE_ERROR)
		return libcurl_err(code);
	/* libcurl has seen that it is not from there: as the page of a refusal. */
	err = of_status(pulling);
	return err == ERR_OK ? ERR_EXISTS : err;
}

static struct curl_slist *
make_headers(const struct libcurl *lib, const char *token)
{
	char text[HEADER_MAX];

	if (snprintf(text, sizeof(text), "Authorization: %s", token) >=
	    HEADER_MAX)
		return NULL;
	return lib->slist_append(NULL, text);
}

/* libcurl's own text says more only where there was no answer. */
static void
tell(char why[ASK_ERROR_MAX], const struct pulling *pulling, enum err err)
{
	long status = 0;

	why[0] = '\0';
	if (err == ERR_OK)
		return;
	pulling->lib->easy_getinfo(
	    pulling->curl, CURLINFO_RESPONSE_CODE, &status);
	if (err == ERR_NOT_FOUND || err == ERR_DENIED || err == ERR_BAD_INPUT)
		snprintf(why, ASK_ERROR_MAX, "it answered %ld", status);
	else if (pulling->err != ERR_OK || pulling->speed.stalled ||
	    pulling->error[0] == '\0')
		snprintf(why, ASK_ERROR_MAX, "%s", err_text(err));
	else
		snprintf(why, ASK_ERROR_MAX, "%.*s", ASK_ERROR_MAX - 1,
		    pulling->error);
}

enum err
pull(const struct pull_request *request, char why[ASK_ERROR_MAX])
{
	struct pulling pulling = {
	    .lib = libcurl(), .request = request, .err = ERR_OK};
	struct curl_slist *headers = NULL;
	enum err err = ERR_NO_MEMORY;

	assert(request->each != NULL && request->stall_s > 0);
	snprintf(why, ASK_ERROR_MAX, "libcurl is missing");
	if (pulling.lib == NULL)
		return ERR_NOT_READY;
	pulling.speed.limit_s = request->stall_s;
	pulling.curl = pulling.lib->easy_init();
	if (pulling.curl != NULL)
		headers = request->sign != NULL
		    ? libcurl_sign(
			  pulling.lib, pulling.curl, request->sign, NULL)
		    : make_headers(pulling.lib, request->token);
	if (headers != NULL && set_up(&pulling, headers))
		err =
		    of_code(&pulling, pulling.lib->easy_perform(pulling.curl));
	if (pulling.curl != NULL) {
		tell(why, &pulling, err);
		pulling.lib->easy_cleanup(pulling.curl);
	}
	pulling.lib->slist_free_all(headers);
	return err;
}
