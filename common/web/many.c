#include "common/web/many.h"

#include <assert.h>
#include <stdio.h>
#include <stdlib.h>

#include "common/web/libcurl.h"

#define WAIT_MS 1000 /* libcurl wakes up earlier for what it has to do */

struct many {
	const struct libcurl *lib;
	const struct ask_trust *trust;
	CURLM *multi;
	struct many_question *questions; /* that are under way */
	unsigned count;
	CURL *curls[MANY_MAX];
	struct curl_slist *headers[MANY_MAX];
	char errors[MANY_MAX][CURL_ERROR_SIZE];
};

enum err
many_new(struct many **out, const struct ask_trust *trust)
{
	const struct libcurl *lib = libcurl();
	struct many *many;

	*out = NULL;
	if (lib == NULL)
		return ERR_SYSTEM;
	many = calloc(1, sizeof(*many));
	if (many == NULL)
		return ERR_NO_MEMORY;
	many->lib = lib;
	many->trust = trust;
	many->multi = lib->multi_init();
	if (many->multi == NULL) {
		free(many);
		return ERR_NO_MEMORY;
	}
	*out = many;
	return ERR_OK;
}

/* Ends a question's transfer, which may not have begun. */
static void
drop(struct many *many, unsigned i)
{
	if (many->curls[i] != NULL) {
		many->lib->multi_remove_handle(many->multi, many->curls[i]);
		many->lib->easy_cleanup(many->curls[i]);
	}
	many->lib->slist_free_all(many->headers[i]);
	many->curls[i] = NULL;
	many->headers[i] = NULL;
}

void
many_free(struct many *many)
{
	if (many == NULL)
		return;
	assert(many->count == 0);
	many->lib->multi_cleanup(many->multi);
	free(many);
}

#define SET(option, value) \
	(good = good && lib->easy_setopt(curl, option, value) == CURLE_OK)

static bool
begin_one(struct many *many, unsigned i, int64_t timeout_ms)
{
	const struct libcurl *lib = many->lib;
	struct many_question *question = &many->questions[i];
	CURL *curl = many->curls[i] = lib->easy_init();
	bool good = curl != NULL;

	many->headers[i] = libcurl_headers(lib, question->headers);
	many->errors[i][0] = '\0';
	buf_clear(question->answer);
	good = good && many->headers[i] != NULL &&
	    libcurl_set_up(lib, curl, many->trust, many->errors[i]) &&
	    libcurl_answer(lib, curl, question->answer);
	SET(CURLOPT_TCP_NODELAY, 1L);
	SET(CURLOPT_URL, question->url);
	SET(CURLOPT_HTTPHEADER, many->headers[i]);
	SET(CURLOPT_CONNECTTIMEOUT_MS, (long)timeout_ms / 2);
	SET(CURLOPT_TIMEOUT_MS, (long)timeout_ms);
	SET(CURLOPT_POSTFIELDSIZE_LARGE, (curl_off_t)question->body.len);
	SET(CURLOPT_POSTFIELDS, question->body.ptr);
	SET(CURLOPT_PRIVATE, question);
	return good && lib->multi_add_handle(many->multi, curl) == CURLM_OK;
}

void
many_begin(struct many *many, struct many_question *questions, unsigned count,
    int64_t timeout_ms)
{
	int running;

	assert(many->count == 0 && count <= MANY_MAX && timeout_ms > 0);
	many->questions = questions;
	many->count = count;
	for (unsigned i = 0; i < count; i++) {
		questions[i].status = 0;
		questions[i].err = ERR_TIMED_OUT; /* until it has ended */
		questions[i].why[0] = '\0';
		if (begin_one(many, i, timeout_ms))
			continue;
		questions[i].err = ERR_NO_MEMORY;
		drop(many, i);
	}
	many->lib->multi_perform(many->multi, &running);
}

static void
note_end(struct many *many, const CURLMsg *message)
{
	const struct libcurl *lib = many->lib;
	CURLcode code = message->data.result;
	struct many_question *question = NULL;
	long status = 0;
	void *owner;

	if (lib->easy_getinfo(message->easy_handle, CURLINFO_PRIVATE, &owner) !=
	    CURLE_OK)
		return; /* it counts as one that did not end */
	question = owner;
	lib->easy_getinfo(
	    message->easy_handle, CURLINFO_RESPONSE_CODE, &status);
	question->err = libcurl_err(code);
	if (question->answer->err != ERR_OK)
		question->err = question->answer->err;
	if (question->err == ERR_OK)
		question->status = (int)status;
	else
		snprintf(question->why, sizeof(question->why), "%s",
		    many->errors[question - many->questions][0] != '\0'
			? many->errors[question - many->questions]
			: lib->easy_strerror(code));
}

void
many_end(struct many *many)
{
	const struct libcurl *lib = many->lib;
	int running = (int)many->count, left;
	CURLMsg *message;

	while (running > 0) {
		if (lib->multi_perform(many->multi, &running) != CURLM_OK)
			break;
		while ((message = lib->multi_info_read(many->multi, &left)) !=
		    NULL)
			if (message->msg == CURLMSG_DONE)
				note_end(many, message);
		if (running > 0 &&
		    lib->multi_poll(many->multi, NULL, 0, WAIT_MS, NULL) !=
			CURLM_OK)
			break;
	}
	for (unsigned i = 0; i < many->count; i++)
		drop(many, i);
	many->count = 0;
}
