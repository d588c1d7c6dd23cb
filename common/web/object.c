#include "common/web/object.h"

#include <assert.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "common/web/libcurl.h"

#define CONNECT_MS 5000L

struct sending {
	const struct libcurl *lib;
	const struct object_request *request;
	CURL *curl;
	struct curl_slist *headers;
	uint64_t sent;
	struct buf *answer;
	struct libcurl_speed speed;
	char error[CURL_ERROR_SIZE];
};

static size_t
give_body(char *bytes, size_t size, size_t count, void *context)
{
	struct sending *sending = context;
	const struct object_request *request = sending->request;
	uint64_t left = request->bytes - sending->sent;
	size_t len = size * count < left ? size * count : (size_t)left;
	ssize_t got = pread(
	    request->fd, bytes, len, (off_t)(request->from + sending->sent));

	/* A file that is shorter than it was, too. */
	if (got < 0 || (got == 0 && len > 0))
		return CURL_READFUNC_ABORT;
	sending->sent += (uint64_t)got;
	return (size_t)got;
}

/* libcurl sends it again where the connection has gone without an answer. */
static int
go_back(void *context, curl_off_t offset, int origin)
{
	struct sending *sending = context;

	if (origin != SEEK_SET)
		return CURL_SEEKFUNC_CANTSEEK;
	sending->sent = (uint64_t)offset;
	return CURL_SEEKFUNC_OK;
}

#define SET(option, value) \
	(good = good && \
		sending->lib->easy_setopt(sending->curl, option, value) == \
		    CURLE_OK)

static bool
set_up_body(struct sending *sending)
{
	const struct object_request *request = sending->request;
	bool good = true;

	SET(CURLOPT_UPLOAD, 1L);
	SET(CURLOPT_INFILESIZE_LARGE, (curl_off_t)request->bytes);
	SET(CURLOPT_READFUNCTION, give_body);
	SET(CURLOPT_READDATA, sending);
	SET(CURLOPT_SEEKFUNCTION, go_back);
	SET(CURLOPT_SEEKDATA, sending);
	return good;
}

static bool
set_up(struct sending *sending)
{
	const struct object_request *request = sending->request;
	bool puts = strcmp(request->method, "PUT") == 0;
	bool good = libcurl_set_up(sending->lib, sending->curl, request->trust,
			sending->error) &&
	    libcurl_watch(sending->lib, sending->curl, &sending->speed) &&
	    libcurl_answer(sending->lib, sending->curl, sending->answer);

	sending->headers = libcurl_sign(sending->lib, sending->curl,
	    request->sign, puts ? request->sha : NULL);
	good = good && sending->headers != NULL;
	SET(CURLOPT_URL, request->url);
	SET(CURLOPT_CONNECTTIMEOUT_MS, CONNECT_MS);
	SET(CURLOPT_FRESH_CONNECT, 1L);
	if (puts)
		return good && set_up_body(sending);
	if (strcmp(request->method, "GET") != 0)
		SET(CURLOPT_CUSTOMREQUEST, request->method);
	return good;
}

static enum err
of_code(const struct sending *sending, CURLcode code, int *status)
{
	long number = 0;

	sending->lib->easy_getinfo(
	    sending->curl, CURLINFO_RESPONSE_CODE, &number);
	*status = (int)number;
	if (sending->answer->err != ERR_OK)
		return sending->answer->err;
	return sending->speed.stalled ? ERR_TIMED_OUT : libcurl_err(code);
}

static void
tell(char why[ASK_ERROR_MAX], const struct sending *sending, enum err err)
{
	bool own = err == ERR_TIMED_OUT || err == ERR_TOO_LARGE ||
	    sending->error[0] == '\0';

	snprintf(why, ASK_ERROR_MAX, "%.*s", ASK_ERROR_MAX - 1,
	    own ? err_text(err) : sending->error);
}

enum err
object_ask(const struct object_request *request, int *status,
    struct buf *answer, char why[ASK_ERROR_MAX])
{
	struct sending sending = {.lib = libcurl(),
	    .request = request,
	    .answer = answer,
	    .speed = {.limit_s = request->stall_s}};
	enum err err = ERR_NO_MEMORY;

	assert(request->stall_s > 0);
	*status = 0;
	buf_clear(answer);
	snprintf(why, ASK_ERROR_MAX, "libcurl is missing");
	if (sending.lib == NULL)
		return ERR_NOT_READY;
	sending.curl = sending.lib->easy_init();
	if (sending.curl != NULL && set_up(&sending))
		err = of_code(
		    &sending, sending.lib->easy_perform(sending.curl), status);
	tell(why, &sending, err);
	if (sending.curl != NULL)
		sending.lib->easy_cleanup(sending.curl);
	sending.lib->slist_free_all(sending.headers);
	return err;
}
