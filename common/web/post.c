#include "common/web/post.h"

#include <arpa/inet.h>
#include <assert.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "common/log.h"
#include "common/web/libcurl.h"
#include "config.h"

#define CONNECT_MS 5000L

struct post {
	struct post *next;
	const void *owner;
	uint64_t tag;
	CURL *curl;
	struct curl_slist *headers;
	size_t got; /* bytes of the answer's body */
	char error[CURL_ERROR_SIZE];
};

struct posts {
	const struct libcurl *lib;
	CURLM *multi;
	struct post *list;
	const char *ca_file;
};

enum err
posts_new(struct posts **out, const char *ca_file)
{
	struct posts *posts = calloc(1, sizeof(*posts));

	*out = NULL;
	if (posts == NULL)
		return ERR_NO_MEMORY;
	posts->lib = libcurl();
	if (posts->lib == NULL) {
		free(posts);
		return ERR_SYSTEM;
	}
	posts->ca_file = ca_file;
	posts->multi = posts->lib->multi_init();
	if (posts->multi == NULL) {
		posts_free(posts);
		return ERR_NO_MEMORY;
	}
	*out = posts;
	return ERR_OK;
}

static void
free_post(struct posts *posts, struct post *post)
{
	if (post == NULL)
		return;
	if (post->curl != NULL) {
		posts->lib->multi_remove_handle(posts->multi, post->curl);
		posts->lib->easy_cleanup(post->curl);
	}
	posts->lib->slist_free_all(post->headers);
	free(post);
}

void
posts_free(struct posts *posts)
{
	struct post *next;

	if (posts == NULL)
		return;
	for (struct post *post = posts->list; post != NULL; post = next) {
		next = post->next;
		free_post(posts, post);
	}
	posts->lib->multi_cleanup(posts->multi);
	free(posts);
}

static bool
url_has(const struct libcurl *lib, CURLU *parsed, CURLUPart part)
{
	char *text = NULL;
	bool has = lib->url_get(parsed, part, &text, 0) == CURLUE_OK &&
	    text != NULL && text[0] != '\0';

	lib->free(text);
	return has;
}

/* The URL behind "http://" or "https://"; NULL: it begins otherwise. */
static const char *
behind_scheme(const char *url)
{
	if (strncmp(url, "http://", 7) == 0)
		return url + 7;
	return strncmp(url, "https://", 8) == 0 ? url + 8 : NULL;
}

const char *
post_url_fault(const char *url)
{
	const char *rest = behind_scheme(url), *fault = NULL;
	const struct libcurl *lib;
	CURLU *parsed;

	if (rest == NULL)
		return "it begins with http:// or https://";
	for (const char *at = url; *at != '\0'; at++)
		if (*at <= ' ' || *at >= 0x7f)
			return "a space, or a byte that is no ASCII, is "
			       "written as %20 and so on";
	if (*rest == '\0' || strchr("/:?#", *rest) != NULL)
		return "it has no host";
	lib = libcurl();
	if (lib == NULL)
		return "it cannot be checked without libcurl";
	parsed = lib->url();
	if (parsed == NULL ||
	    lib->url_set(parsed, CURLUPART_URL, url, 0) != CURLUE_OK ||
	    !url_has(lib, parsed, CURLUPART_HOST))
		fault = "it is no address: look at the host and the port";
	else if (url_has(lib, parsed, CURLUPART_USER) ||
	    url_has(lib, parsed, CURLUPART_PASSWORD))
		fault = "it has no user and no password: the receiver checks "
			"the signature";
	else if (url_has(lib, parsed, CURLUPART_FRAGMENT))
		fault = "it has no '#': what follows is never sent";
	lib->url_cleanup(parsed);
	return fault;
}

bool
post_url_is_local(const char *url)
{
	const struct libcurl *lib = libcurl();
	unsigned char address[4];
	char *host = NULL;
	bool local = false;
	CURLU *parsed;

	if (lib == NULL)
		return false;
	parsed = lib->url();
	if (parsed != NULL &&
	    lib->url_set(parsed, CURLUPART_URL, url, 0) == CURLUE_OK &&
	    lib->url_get(parsed, CURLUPART_HOST, &host, 0) == CURLUE_OK)
		local = strcasecmp(host, "localhost") == 0 ||
		    strcmp(host, "[::1]") == 0 ||
		    (inet_pton(AF_INET, host, address) == 1 &&
			address[0] == 127);
	lib->free(host);
	lib->url_cleanup(parsed);
	return local;
}

/* Fewer bytes than given end the transfer. */
static size_t
drop_body(char *bytes, size_t size, size_t count, void *context)
{
	struct post *post = context;

	(void)bytes;
	post->got += size * count;
	return post->got > POST_ANSWER_MAX ? 0 : size * count;
}

static bool
set_headers(
    struct post *post, const struct libcurl *lib, const char *const *headers)
{
	for (; *headers != NULL; headers++) {
		struct curl_slist *longer =
		    lib->slist_append(post->headers, *headers);

		if (longer == NULL)
			return false;
		post->headers = longer;
	}
	return true;
}

#define SET(option, value) \
	(good = good && \
		posts->lib->easy_setopt(post->curl, option, value) == \
		    CURLE_OK)

static bool
set_up(struct post *post, const struct posts *posts,
    const struct post_request *request)
{
	bool good = set_headers(post, posts->lib, request->headers);

	SET(CURLOPT_URL, request->url);
	SET(CURLOPT_PROTOCOLS_STR, "http,https");
	SET(CURLOPT_FOLLOWLOCATION, 0L);
	/* On a kept connection libcurl would repeat a request by itself. */
	SET(CURLOPT_FRESH_CONNECT, 1L);
	SET(CURLOPT_FORBID_REUSE, 1L);
	SET(CURLOPT_NOSIGNAL, 1L);
	SET(CURLOPT_SSLVERSION, (long)CURL_SSLVERSION_TLSv1_2);
	if (posts->ca_file != NULL)
		SET(CURLOPT_CAINFO, posts->ca_file);
	SET(CURLOPT_CONNECTTIMEOUT_MS, CONNECT_MS);
	SET(CURLOPT_TIMEOUT_MS, (long)request->timeout_ms);
	SET(CURLOPT_USERAGENT, "product-grid/" PACKAGE_VERSION);
	SET(CURLOPT_HTTPHEADER, post->headers);
	SET(CURLOPT_POSTFIELDSIZE_LARGE, (curl_off_t)request->body.len);
	SET(CURLOPT_COPYPOSTFIELDS, request->body.ptr);
	SET(CURLOPT_WRITEFUNCTION, drop_body);
	SET(CURLOPT_WRITEDATA, post);
	SET(CURLOPT_ERRORBUFFER, post->error);
	SET(CURLOPT_PRIVATE, post);
	return good;
}

enum err
posts_add(struct posts *posts, const struct post_request *request)
{
	struct post *post = calloc(1, sizeof(*post));

	assert(request->body.len > 0 && request->timeout_ms > 0);
	if (post == NULL)
		return ERR_NO_MEMORY;
	post->owner = request->owner;
	post->tag = request->tag;
	post->curl = posts->lib->easy_init();
	if (post->curl == NULL || !set_up(post, posts, request) ||
	    posts->lib->multi_add_handle(posts->multi, post->curl) !=
		CURLM_OK) {
		free_post(posts, post);
		return ERR_NO_MEMORY;
	}
	post->next = posts->list;
	posts->list = post;
	return ERR_OK;
}

static void
take_off(struct posts *posts, struct post *post)
{
	struct post **at = &posts->list;

	while (*at != post)
		at = &(*at)->next;
	*at = post->next;
	free_post(posts, post);
}

static void
fill(struct post_result *result, const struct libcurl *lib,
    const struct post *post, CURLcode code)
{
	const char *why =
	    post->error[0] != '\0' ? post->error : lib->easy_strerror(code);
	curl_off_t took_us = 0, retry_after_s = 0;
	long status = 0;

	lib->easy_getinfo(post->curl, CURLINFO_RESPONSE_CODE, &status);
	lib->easy_getinfo(post->curl, CURLINFO_TOTAL_TIME_T, &took_us);
	lib->easy_getinfo(post->curl, CURLINFO_RETRY_AFTER, &retry_after_s);
	*result = (struct post_result){.owner = post->owner,
	    .tag = post->tag,
	    .took_ms = took_us / 1000,
	    .retry_after_ms = retry_after_s * 1000};
	/* The status counts, however long the body is. */
	if (code == CURLE_OK ||
	    (code == CURLE_WRITE_ERROR && post->got > POST_ANSWER_MAX))
		result->status = (int)status;
	else
		span_copy(result->error, sizeof(result->error),
		    span_sub(span_of(why), 0, sizeof(result->error) - 1));
}

void
post_text(char text[POST_TEXT_MAX], const struct post_result *result)
{
	bool moved = result->status >= 300 && result->status < 400;

	if (result->status == 0)
		snprintf(text, POST_TEXT_MAX, "%s", result->error);
	else
		snprintf(text, POST_TEXT_MAX, "it answered %d%s",
		    result->status,
		    moved ? " (redirects are not followed)" : "");
}

bool
posts_next(struct post_result *result, struct posts *posts)
{
	struct post *post = NULL;
	CURLMsg *message;
	int left;

	if (posts->lib->multi_perform(posts->multi, &left) != CURLM_OK)
		log_error("libcurl failed");
	do
		message = posts->lib->multi_info_read(posts->multi, &left);
	while (message != NULL && message->msg != CURLMSG_DONE);
	if (message == NULL)
		return false;
	posts->lib->easy_getinfo(message->easy_handle, CURLINFO_PRIVATE, &post);
	fill(result, posts->lib, post, message->data.result);
	take_off(posts, post);
	return true;
}

void
posts_wait(struct posts *posts, int wait_ms)
{
	assert(wait_ms >= 0);
	posts->lib->multi_poll(posts->multi, NULL, 0, wait_ms, NULL);
}

void
posts_drop(struct posts *posts, const void *owner)
{
	struct post *next;

	for (struct post *post = posts->list; post != NULL; post = next) {
		next = post->next;
		if (post->owner == owner)
			take_off(posts, post);
	}
}
