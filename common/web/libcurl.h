/*
 * libcurl: its functions, loaded at their first use: it brings some thirty
 * other libraries, and most commands send nothing.
 */
#pragma once

#include <curl/curl.h>

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
