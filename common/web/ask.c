#include "common/web/ask.h"

#include <assert.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/count.h"
#include "common/web/libcurl.h"

/* --- askers --------------------------------------------------------------- */

struct asker {
	const struct libcurl *lib;
	CURL *curl;
	struct buf *answer; /* while one is read */
	char error[CURL_ERROR_SIZE];
};

#define SET(option, value) \
	(good = good && \
		asker->lib->easy_setopt(asker->curl, option, value) == \
		    CURLE_OK)

static bool
set_up(struct asker *asker, const struct ask_trust *trust)
{
	bool good =
	    libcurl_set_up(asker->lib, asker->curl, trust, asker->error);

	SET(CURLOPT_TCP_NODELAY, 1L);
	return good;
}

enum err
asker_new(struct asker **out, const struct ask_trust *trust)
{
	const struct libcurl *lib = libcurl();
	struct asker *asker;

	*out = NULL;
	if (lib == NULL)
		return ERR_SYSTEM;
	asker = calloc(1, sizeof(*asker));
	if (asker == NULL)
		return ERR_NO_MEMORY;
	asker->lib = lib;
	asker->curl = lib->easy_init();
	if (asker->curl == NULL || !set_up(asker, trust)) {
		asker_free(asker);
		return ERR_NO_MEMORY;
	}
	*out = asker;
	return ERR_OK;
}

void
asker_free(struct asker *asker)
{
	if (asker == NULL)
		return;
	if (asker->curl != NULL)
		asker->lib->easy_cleanup(asker->curl);
	free(asker);
}

/* --- asking --------------------------------------------------------------- */

#define HEADER_MAX 4096

/* NULL when memory is out, or the token too long. */
static struct curl_slist *
make_headers(const struct libcurl *lib, const char *token)
{
	char text[HEADER_MAX];
	const char *const headers[] = {"Content-Type: application/json",
	    token == NULL ? NULL : text, NULL};

	if (token != NULL &&
	    snprintf(text, sizeof(text), "Authorization: %s", token) >=
		HEADER_MAX)
		return NULL;
	return libcurl_headers(lib, headers);
}

/* Whether no byte of the last request has left. */
static bool
is_unsent(struct asker *asker)
{
	long sent = 0;

	return asker->lib->easy_getinfo(
		   asker->curl, CURLINFO_REQUEST_SIZE, &sent) == CURLE_OK &&
	    sent == 0;
}

static enum err
perform(struct asker *asker, int *status)
{
	CURLcode code = asker->lib->easy_perform(asker->curl);
	long number = 0;

	if (code == CURLE_OK)
		code = asker->lib->easy_getinfo(
		    asker->curl, CURLINFO_RESPONSE_CODE, &number);
	*status = (int)number;
	if (code == CURLE_OK)
		return ERR_OK;
	if (asker->error[0] == '\0')
		snprintf(asker->error, sizeof(asker->error), "%s",
		    asker->lib->easy_strerror(code));
	if (asker->answer->err != ERR_OK)
		return asker->answer->err;
	return is_unsent(asker) ? ERR_AWAY : ERR_UNKNOWN;
}

enum err
ask(struct asker *asker, const struct ask_question *question, int *status,
    struct buf *answer)
{
	struct curl_slist *headers = make_headers(asker->lib, question->token);
	bool good =
	    headers != NULL && libcurl_answer(asker->lib, asker->curl, answer);
	enum err err = ERR_NO_MEMORY;

	assert(question->body.len > 0 && question->timeout_ms > 0);
	*status = 0;
	buf_clear(answer);
	asker->answer = answer;
	asker->error[0] = '\0';
	SET(CURLOPT_URL, question->url);
	SET(CURLOPT_HTTPHEADER, headers);
	SET(CURLOPT_CONNECTTIMEOUT_MS, (long)question->timeout_ms / 2);
	SET(CURLOPT_TIMEOUT_MS, (long)question->timeout_ms);
	SET(CURLOPT_POSTFIELDSIZE_LARGE, (curl_off_t)question->body.len);
	SET(CURLOPT_POSTFIELDS, question->body.ptr);
	if (good)
		err = perform(asker, status);
	asker->lib->slist_free_all(headers);
	asker->answer = NULL;
	return err;
}

const char *
ask_why(const struct asker *asker)
{
	return asker->error;
}

/* As OpenSSL 1.1 and 3 say it, and GnuTLS. */
bool
ask_distrusts(const char *why)
{
	static const char *const texts[] = {"issuer certificate",
	    "self-signed certificate", "self signed certificate",
	    "verify the first certificate", "certificate verification failed"};

	for (size_t i = 0; i < COUNT(texts); i++)
		if (strstr(why, texts[i]) != NULL)
			return true;
	return false;
}
