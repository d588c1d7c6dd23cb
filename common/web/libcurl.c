#include "common/web/libcurl.h"

#include <pthread.h>

#include "common/library.h"
#include "common/log.h"

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
