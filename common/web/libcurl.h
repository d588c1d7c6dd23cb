/*
 * libcurl: its functions, loaded at their first use: it brings some thirty
 * other libraries, and most commands send nothing.
 */
#pragma once

#include <curl/curl.h>
#include <stdbool.h>
#include <stdint.h>

#include "common/buf.h"
#include "common/err.h"
#include "common/web/ask.h"
#include "common/web/object.h"

/* The functions in use, each without its "curl_". */
#define LIBCURL_FUNCTIONS(F) \
	F(easy_cleanup) \
	F(easy_getinfo) \
	F(easy_init) \
	F(easy_perform) \
	F(easy_setopt) \
	F(easy_strerror) \
	F(free) \
	F(global_init) \
	F(multi_add_handle) \
	F(multi_cleanup) \
	F(multi_info_read) \
	F(multi_init) \
	F(multi_perform) \
	F(multi_poll) \
	F(multi_remove_handle) \
	F(slist_append) \
	F(slist_free_all) \
	F(url) \
	F(url_cleanup) \
	F(url_get) \
	F(url_set)

struct libcurl {
#define LIBCURL_MEMBER(name) __typeof__(curl_##name) *(name);
	LIBCURL_FUNCTIONS(LIBCURL_MEMBER)
#undef LIBCURL_MEMBER
};

/* For any thread. NULL: it cannot be loaded; the log says once what to do. */
const struct libcurl *libcurl(void);

/* The options that requests to nodes, to etcd and to a bucket have in common. */
bool libcurl_set_up(const struct libcurl *lib, CURL *curl,
    const struct ask_trust *trust, char error[CURL_ERROR_SIZE]);

/* An answer goes behind what the buffer has; a full one ends the transfer. */
bool libcurl_answer(const struct libcurl *lib, CURL *curl, struct buf *answer);

/*
 * For a POST: the headers, NULL-ended, and none by which libcurl would ask first
 * whether it may send a long body. NULL: memory is out.
 */
struct curl_slist *libcurl_headers(
    const struct libcurl *lib, const char *const *headers);

/*
 * Signs the request for a store of objects, with the SHA-256 of its body in digits,
 * or of none for NULL. The header that it needs is the caller's to free; NULL: it
 * has failed.
 */
struct curl_slist *libcurl_sign(const struct libcurl *lib, CURL *curl,
    const struct object_sign *sign, const char *sha);

/*
 * Ends a transfer that has hardly a byte a second over `limit_s`, in whatever
 * direction. libcurl's own limit of speed counts what came seconds before.
 */
struct libcurl_speed {
	int64_t limit_s;
	int64_t since_ns; /* the time and the bytes that it is measured from */
	curl_off_t since;
	bool stalled;
};

bool libcurl_watch(
    const struct libcurl *lib, CURL *curl, struct libcurl_speed *speed);

/* Of a transfer that has failed; ERR_CLOSED where there is none closer. */
enum err libcurl_err(CURLcode code);
