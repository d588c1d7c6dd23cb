#include "common/web/libcurl.h"

#include <pthread.h>
#include <stdio.h>

#include "common/date.h"
#include "common/library.h"
#include "common/log.h"
#include "config.h"

static struct libcurl functions;
static bool loaded;

static void
load(void)
{
#define FUNCTION(name) {"curl_" #name, &functions.name},
	static const struct library_function wanted[] = {
	    LIBCURL_FUNCTIONS(FUNCTION){NULL, NULL}};
#undef FUNCTION
	/* As in the headers that this file was compiled with. */
	static const char *const names[] = {"libcurl.so.4", NULL};
	const struct library library = {names, "libcurl4", wanted};
	struct fault fault = {{0}, {0}};

	if (library_load(&library, &fault) != ERR_OK)
		log_error("%s %s", fault.place, fault.message);
	else if (functions.global_init(CURL_GLOBAL_DEFAULT) != CURLE_OK)
		log_error("libcurl does not start");
	else
		loaded = true;
}

const struct libcurl *
libcurl(void)
{
	static pthread_once_t once = PTHREAD_ONCE_INIT;

	pthread_once(&once, load);
	return loaded ? &functions : NULL;
}

#define SET(option, value) \
	(good = good && lib->easy_setopt(curl, option, value) == CURLE_OK)

bool
libcurl_set_up(const struct libcurl *lib, CURL *curl,
    const struct ask_trust *trust, char error[CURL_ERROR_SIZE])
{
	bool good = true;

	SET(CURLOPT_PROTOCOLS_STR, "http,https");
	SET(CURLOPT_FOLLOWLOCATION, 0L);
	SET(CURLOPT_PROXY, "");
	SET(CURLOPT_NOSIGNAL, 1L);
	SET(CURLOPT_HTTP_VERSION, (long)CURL_HTTP_VERSION_1_1);
	SET(CURLOPT_SSLVERSION, (long)CURL_SSLVERSION_TLSv1_2);
	if (trust->ca[0] != '\0')
		SET(CURLOPT_CAINFO, trust->ca);
	if (trust->cert[0] != '\0')
		SET(CURLOPT_SSLCERT, trust->cert);
	if (trust->key[0] != '\0')
		SET(CURLOPT_SSLKEY, trust->key);
	SET(CURLOPT_USERAGENT, "product-grid/" PACKAGE_VERSION);
	SET(CURLOPT_ERRORBUFFER, error);
	return good;
}

#define SIGNED_MAX 256

struct curl_slist *
libcurl_headers(const struct libcurl *lib, const char *const *headers)
{
	struct curl_slist *list = lib->slist_append(NULL, "Expect:");

	for (; list != NULL && *headers != NULL; headers++) {
		struct curl_slist *longer = lib->slist_append(list, *headers);

		if (longer == NULL)
			lib->slist_free_all(list);
		list = longer;
	}
	return list;
}

/* Of no bytes. libcurl 7.88 signs no hash by itself where there is no body. */
static const char no_body[] =
    "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855";

struct curl_slist *
libcurl_sign(const struct libcurl *lib, CURL *curl,
    const struct object_sign *sign, const char *sha)
{
	char what[SIGNED_MAX], text[SIGNED_MAX];
	struct curl_slist *headers = NULL;
	bool good = snprintf(what, sizeof(what), "aws:amz:%s:s3",
			sign->region) < SIGNED_MAX &&
	    snprintf(text, sizeof(text), "x-amz-content-sha256: %s",
		sha == NULL ? no_body : sha) < SIGNED_MAX;

	if (good)
		headers = lib->slist_append(NULL, text);
	good = headers != NULL;
	SET(CURLOPT_HTTPHEADER, headers);
	SET(CURLOPT_AWS_SIGV4, what);
	SET(CURLOPT_USERNAME, sign->key);
	SET(CURLOPT_PASSWORD, sign->secret);
	if (good)
		return headers;
	lib->slist_free_all(headers);
	return NULL;
}

#define STALL_BYTES 1024 /* a second */
#define NS_A_S INT64_C(1000000000)

/* libcurl calls it once a second at least. */
static int
look_at_speed(void *context, curl_off_t all, curl_off_t got, curl_off_t up_all,
    curl_off_t up)
{
	struct libcurl_speed *speed = context;
	const int64_t now = date_monotonic_ns();

	(void)all, (void)up_all;
	if (now - speed->since_ns < speed->limit_s * NS_A_S)
		return 0;
	speed->stalled = got + up - speed->since < speed->limit_s * STALL_BYTES;
	speed->since_ns = now;
	speed->since = got + up;
	return speed->stalled ? 1 : 0;
}

bool
libcurl_watch(
    const struct libcurl *lib, CURL *curl, struct libcurl_speed *speed)
{
	bool good = true;

	speed->since_ns = date_monotonic_ns();
	SET(CURLOPT_NOPROGRESS, 0L);
	SET(CURLOPT_XFERINFOFUNCTION, look_at_speed);
	SET(CURLOPT_XFERINFODATA, speed);
	return good;
}

/* Fewer bytes than given end the transfer. */
static size_t
take_body(char *bytes, size_t size, size_t count, void *context)
{
	struct buf *answer = context;

	buf_add(answer, bytes, size * count);
	return answer->err == ERR_OK ? size * count : 0;
}

bool
libcurl_answer(const struct libcurl *lib, CURL *curl, struct buf *answer)
{
	return lib->easy_setopt(curl, CURLOPT_WRITEFUNCTION, take_body) ==
	    CURLE_OK &&
	    lib->easy_setopt(curl, CURLOPT_WRITEDATA, answer) == CURLE_OK;
}

enum err
libcurl_err(CURLcode code)
{
	switch (code) {
	case CURLE_OK:
		return ERR_OK;
	case CURLE_OPERATION_TIMEDOUT:
		return ERR_TIMED_OUT;
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
