#include "common/web/pull.h"

#include <assert.h>
#include <stdio.h>
#include <string.h>

#include "common/date.h"
#include "common/web/libcurl.h"
#include "config.h"

#define CONNECT_MS 3000L
#define STALL_BYTES 1024 /* a second */
#define NS_A_S INT64_C(1000000000)
#define HEADER_MAX 1024

struct pulling {
	const struct libcurl *lib;
	const struct pull_request *request;
	CURL *curl;
	uint64_t got;
	enum err err; /* of the answer */
	/* The time and the bytes that the speed is measured from. */
	int64_t since_ns;
	uint64_t since_got;
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

/*
 * libcurl calls it once a second at least. Its own limit of speed counts what
 * came seconds before.
 */
static int
look_at_speed(void *context, curl_off_t all, curl_off_t got, curl_off_t up_all,
    curl_off_t up)
{
	struct pulling *pulling = context;
	const int64_t now = date_monotonic_ns(),
		      limit_s = pulling->request->stall_s;

	(void)all, (void)got, (void)up_all, (void)up;
	if (now - pulling->since_ns < limit_s * NS_A_S)
		return 0;
	if (pulling->got - pulling->since_got <
	    (uint64_t)limit_s * STALL_BYTES) {
		pulling->err = ERR_TIMED_OUT;
		return 1;
	}
	pulling->since_ns = now;
	pulling->since_got = pulling->got;
	return 0;
}

#define SET(option, value) \
	(good = good && \
		pulling->lib->easy_setopt(pulling->curl, option, value) == \
		    CURLE_OK)

static bool
set_up(struct pulling *pulling, struct curl_slist *headers)
{
	const struct pull_request *request = pulling->request;
	bool good = headers != NULL;

	SET(CURLOPT_URL, request->url);
	SET(CURLOPT_HTTPHEADER, headers);
	SET(CURLOPT_PROTOCOLS_STR, "http,https");
	SET(CURLOPT_FOLLOWLOCATION, 0L);
	SET(CURLOPT_PROXY, "");
	SET(CURLOPT_NOSIGNAL, 1L);
	SET(CURLOPT_HTTP_VERSION, (long)CURL_HTTP_VERSION_1_1);
	SET(CURLOPT_SSLVERSION, (long)CURL_SSLVERSION_TLSv1_2);
	if (request->trust->ca[0] != '\0')
		SET(CURLOPT_CAINFO, request->trust->ca);
	if (request->trust->cert[0] != '\0')
		SET(CURLOPT_SSLCERT, request->trust->cert);
	if (request->trust->key[0] != '\0')
		SET(CURLOPT_SSLKEY, request->trust->key);
	SET(CURLOPT_USERAGENT, "product-grid/" PACKAGE_VERSION);
	SET(CURLOPT_CONNECTTIMEOUT_MS, CONNECT_MS);
	SET(CURLOPT_NOPROGRESS, 0L);
	SET(CURLOPT_XFERINFOFUNCTION, look_at_speed);
	SET(CURLOPT_XFERINFODATA, pulling);
	if (request->from > 0)
		SET(CURLOPT_RESUME_FROM_LARGE, (curl_off_t)request->from);
	SET(CURLOPT_WRITEFUNCTION, take_body);
	SET(CURLOPT_WRITEDATA, pulling);
	SET(CURLOPT_ERRORBUFFER, pulling->error);
	return good;
}

static enum err
of_code(const struct pulling *pulling, CURLcode code)
{
	if (pulling->err != ERR_OK)
		return pulling->err;
	switch (code) {
	case CURLE_OK:
		return of_status(pulling);
	case CURLE_OPERATION_TIMEDOUT:
		return ERR_TIMED_OUT;
	case CURLE_RANGE_ERROR:
		return ERR_EXISTS; /* libcurl has seen that it is not from there */
	case CURLE_COULDNT_RESOLVE_HOST:
	case CURLE_COULDNT_CONNECT:
	case CURLE_SSL_CONNECT_ERROR:
	case CURLE_PEER_FAILED_VERIFICATION:
		return ERR_AWAY;
	case CURLE_OUT_OF_MEMORY:
		return ERR_NO_MEMORY;
	default:
		return ERR_CLOSED;
	}
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
	else if (pulling->err != ERR_OK || pulling->error[0] == '\0')
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
	struct curl_slist *headers;
	enum err err = ERR_NO_MEMORY;

	assert(request->each != NULL && request->stall_s > 0);
	snprintf(why, ASK_ERROR_MAX, "libcurl is missing");
	if (pulling.lib == NULL)
		return ERR_NOT_READY;
	pulling.since_ns = date_monotonic_ns();
	headers = make_headers(pulling.lib, request->token);
	pulling.curl = pulling.lib->easy_init();
	if (pulling.curl != NULL && set_up(&pulling, headers))
		err =
		    of_code(&pulling, pulling.lib->easy_perform(pulling.curl));
	if (pulling.curl != NULL) {
		tell(why, &pulling, err);
		pulling.lib->easy_cleanup(pulling.curl);
	}
	pulling.lib->slist_free_all(headers);
	return err;
}
