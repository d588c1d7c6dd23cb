#include "tests/lmdb-schema/store/stub_etcd.h"

#include <arpa/inet.h>
#include <check.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/socket.h>
#include <unistd.h>

#include "common/arena.h"
#include "common/base64.h"
#include "common/buf.h"
#include "common/jscan.h"
#include "common/jsonw.h"
#include "common/span.h"
#include "lmdb-schema/store/engine.h"

#define KEYS_MAX 2048
#define REQUEST_MAX ((size_t)8 << 20)
#define LATE_US 900000

static struct pair {
	struct span key; /* bytes */
	struct span value; /* base64 */
} pairs[KEYS_MAX];
static unsigned pair_count, puts_done;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

/* Keys and values, for as long as the program runs. */
static struct arena *memory;

static enum stub_weather weather;
static unsigned bad;
static bool all;
static unsigned user; /* 0: nobody is asked; else the token's number */
static _Atomic unsigned busy;

/* --- keys ----------------------------------------------------------------- */

static struct span
bytes_of(struct jval object, const char *name)
{
	struct span digits = jsonw_inside(jval_raw(jval_member(object, name)));
	size_t len;
	uint8_t *bytes = arena_alloc(memory, digits.len + 1);

	ck_assert(base64_bytes(bytes, digits.len, &len, digits));
	return span_make(bytes, len);
}

static struct pair *
find(struct span key)
{
	for (unsigned i = 0; i < pair_count; i++)
		if (span_eq(pairs[i].key, key))
			return &pairs[i];
	return NULL;
}

/* Keeps the keys in order. */
static void
put(struct jval request)
{
	struct span key = bytes_of(request, "key");
	struct pair *pair = find(key);
	unsigned at = 0;

	if (pair == NULL) {
		ck_assert_uint_lt(pair_count, KEYS_MAX);
		while (at < pair_count && span_cmp(pairs[at].key, key) < 0)
			at++;
		memmove(&pairs[at + 1], &pairs[at],
		    (pair_count - at) * sizeof(*pairs));
		pair_count++;
		pair = &pairs[at];
		pair->key = key;
	}
	pair->value = arena_copy(
	    memory, jsonw_inside(jval_raw(jval_member(request, "value"))));
}

static void
add_pair(struct buf *out, const struct pair *pair)
{
	buf_add_text(out, "{\"key\":\"");
	base64_add(out, pair->key);
	buf_addf(out, "\",\"version\":\"1\",\"value\":\"%.*s\"}",
	    SPAN_ARG(pair->value));
}

static void
delete_range(struct jval request)
{
	struct span first = bytes_of(request, "key");
	struct span end = bytes_of(request, "range_end");
	unsigned left = 0;

	for (unsigned i = 0; i < pair_count; i++) {
		struct span key = pairs[i].key;

		if (end.len == 0
			? !span_eq(key, first)
			: span_cmp(key, first) < 0 || span_cmp(key, end) >= 0)
			pairs[left++] = pairs[i];
	}
	pair_count = left;
}

#define HEADER "\"header\":{\"revision\":\"7\"}"

static void
range(struct buf *out, struct jval request)
{
	struct span first = bytes_of(request, "key");
	struct span end = bytes_of(request, "range_end");
	int64_t limit = 0, count = 0;
	bool more = false;

	jval_int(jval_member(request, "limit"), &limit);
	buf_add_text(out, "{" HEADER);
	for (unsigned i = 0; i < pair_count && !more; i++) {
		const struct pair *pair = &pairs[i];

		if (end.len == 0 ? !span_eq(pair->key, first)
				 : span_cmp(pair->key, first) < 0 ||
			    span_cmp(pair->key, end) >= 0)
			continue;
		more = limit > 0 && count == limit;
		if (more)
			break;
		buf_add_span(
		    out, count++ == 0 ? SPAN(",\"kvs\":[") : SPAN(","));
		add_pair(out, pair);
	}
	if (count > 0)
		buf_add_text(out, "]");
	buf_addf(out, "%s,\"count\":\"%d\"}", more ? ",\"more\":true" : "",
	    (int)count);
}

static struct span
value_of(const struct pair *pair)
{
	size_t len;
	uint8_t *bytes = arena_alloc(memory, pair->value.len + 1);

	ck_assert(base64_bytes(bytes, pair->value.len, &len, pair->value));
	return span_make(bytes, len);
}

/* As etcd does: no value of a key that is not there compares. */
static bool
holds(struct jval compare)
{
	struct pair *pair = find(bytes_of(compare, "key"));
	struct jval result = jval_member(compare, "result");
	int order;

	if (jval_is(jval_member(compare, "target"), SPAN("VERSION"))) {
		ck_assert(jval_is(result, SPAN("EQUAL")));
		return pair == NULL;
	}
	if (pair == NULL)
		return false;
	order = span_cmp(value_of(pair), bytes_of(compare, "value"));
	if (jval_is(result, SPAN("GREATER")))
		return order > 0;
	if (jval_is(result, SPAN("LESS")))
		return order < 0;
	ck_assert(jval_is(result, SPAN("EQUAL")));
	return order == 0;
}

static void
transact(struct buf *out, struct jval request)
{
	struct jval name, step;
	struct jwalk walk = jwalk_begin(jval_member(request, "compare"));
	bool good = true, begun = false;

	while (jwalk_next(&walk, &name, &step))
		good = holds(step) && good;
	buf_add_text(out, "{" HEADER);
	if (good)
		buf_add_text(out, ",\"succeeded\":true");
	buf_add_text(out, ",\"responses\":[");
	puts_done += good;
	walk = jwalk_begin(jval_member(request, good ? "success" : "failure"));
	while (jwalk_next(&walk, &name, &step)) {
		if (begun)
			buf_add_char(out, ',');
		begun = true;
		if (good) {
			put(jval_member(step, "requestPut"));
			buf_add_text(out, "{\"response_put\":{" HEADER "}}");
			continue;
		}
		buf_add_text(out, "{\"response_range\":");
		range(out, jval_member(step, "requestRange"));
		buf_add_char(out, '}');
	}
	buf_add_text(out, "]}");
}

/* --- HTTP ----------------------------------------------------------------- */

struct request {
	struct buf bytes;
	struct span head, body;
};

/* False at the end of the connection. */
static bool
read_request(struct request *request, int fd)
{
	char *end = NULL, *length;
	size_t whole = SIZE_MAX;
	ssize_t got;

	buf_clear(&request->bytes);
	while (request->bytes.len < whole) {
		char *to = buf_room(&request->bytes, 65536);

		got = to == NULL ? 0 : recv(fd, to, 65535, 0);
		if (got <= 0)
			return false;
		buf_grown(&request->bytes, (size_t)got);
		to[got] = '\0';
		if (end == NULL)
			end = strstr(request->bytes.data, "\r\n\r\n");
		if (end == NULL || whole != SIZE_MAX)
			continue;
		length = strcasestr(request->bytes.data, "content-length:");
		whole = (size_t)(end + 4 - request->bytes.data);
		request->head = span_make(NULL, whole);
		whole += strtoul(length + 15, NULL, 10);
	}
	request->body = span_from(buf_span(&request->bytes), request->head.len);
	request->head =
	    span_sub(buf_span(&request->bytes), 0, request->head.len);
	return true;
}

static bool
has(struct span text, const char *part)
{
	return memmem(text.ptr, text.len, part, strlen(part)) != NULL;
}

static void
serve(struct buf *out, const struct request *request)
{
	struct jscan doc;

	ck_assert_int_eq(jscan_parse(&doc, request->body, 16, NULL), ERR_OK);
	pthread_mutex_lock(&lock);
	if (has(request->head, "/v3/auth/authenticate "))
		buf_addf(out, "{" HEADER ",\"token\":\"token.%u\"}", user);
	else if (has(request->head, "/v3/lease/grant "))
		buf_addf(out, "{" HEADER ",\"ID\":\"77\",\"TTL\":\"10\"}");
	else if (has(request->head, "/v3/kv/range "))
		range(out, jscan_root(&doc));
	else if (has(request->head, "/v3/kv/put ")) {
		put(jscan_root(&doc));
		buf_add_text(out, "{" HEADER "}");
	} else if (has(request->head, "/v3/kv/deleterange ")) {
		delete_range(jscan_root(&doc));
		buf_add_text(out, "{" HEADER "}");
	} else
		transact(out, jscan_root(&doc));
	pthread_mutex_unlock(&lock);
	jscan_fini(&doc);
}

static void
answer(int fd, int status, struct span body, size_t sent)
{
	char head[160];
	int len = snprintf(head, sizeof(head),
	    "HTTP/1.1 %d x\r\nContent-Type: application/json\r\n"
	    "Content-Length: %zu\r\n\r\n",
	    status, body.len);

	if (send(fd, head, (size_t)len, MSG_NOSIGNAL) > 0 &&
	    send(fd, body.ptr, sent, MSG_NOSIGNAL) < 0)
		return;
}

static bool
is_refused_user(const struct request *request)
{
	char token[64];

	snprintf(token, sizeof(token), "Authorization: token.%u\r", user);
	return user != 0 && !has(request->head, "/v3/auth/authenticate ") &&
	    !has(request->head, token);
}

static enum stub_weather
take_weather(const struct request *request)
{
	enum stub_weather now = STUB_SOUND;

	pthread_mutex_lock(&lock);
	if (all)
		now = weather;
	else if (bad > 0 && has(request->head, "/v3/kv/txn ")) {
		now = weather;
		bad--;
	}
	pthread_mutex_unlock(&lock);
	return now;
}

/* False when the connection is to end. */
static bool
meet(int fd, const struct request *request, struct buf *out)
{
	const enum stub_weather now = take_weather(request);

	if (now == STUB_LOSES)
		return false;
	if (now == STUB_REFUSES || now == STUB_FULL) {
		const struct span text =
		    SPAN("{\"error\":\"etcdserver: it says no\",\"code\":8}");

		answer(fd, now == STUB_FULL ? 429 : 503, text, text.len);
		return true;
	}
	if (now == STUB_LATE)
		usleep(LATE_US);
	serve(out, request);
	if (now == STUB_TWICE) {
		buf_clear(out);
		serve(out, request);
	}
	if (now == STUB_SLOW)
		usleep(LATE_US);
	if (now == STUB_MUTE)
		return false;
	if (now == STUB_NONSENSE)
		answer(fd, 200, SPAN("{\"succeeded\":7}"), 15);
	else
		answer(fd, 200, buf_span(out),
		    now == STUB_CUT ? out->len / 2 : out->len);
	return now != STUB_CUT;
}

static void *
connection(void *context)
{
	int fd = (int)(intptr_t)context;
	struct request request = {.head = {NULL, 0}};
	struct buf out;
	bool goes_on = true;

	buf_init(&request.bytes, REQUEST_MAX);
	buf_init(&out, REQUEST_MAX);
	while (goes_on && read_request(&request, fd)) {
		busy++;
		buf_clear(&out);
		if (is_refused_user(&request))
			answer(fd, 401, SPAN("{\"error\":\"no\",\"code\":16}"),
			    24);
		else
			goes_on = meet(fd, &request, &out);
		busy--;
	}
	close(fd);
	buf_fini(&out);
	buf_fini(&request.bytes);
	return NULL;
}

static void *
take_connections(void *context)
{
	int fd = (int)(intptr_t)context, next;
	pthread_t thread;

	while ((next = accept(fd, NULL, NULL)) >= 0)
		if (pthread_create(
			&thread, NULL, connection, (void *)(intptr_t)next) == 0)
			pthread_detach(thread);
	return NULL;
}

const char *
stub_start(void)
{
	static char url[64];
	struct sockaddr_in at = {
	    .sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
	socklen_t len = sizeof(at);
	pthread_t thread;
	int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);

	memory = arena_new((size_t)64 << 20);
	ck_assert_ptr_nonnull(memory);
	ck_assert_int_ge(fd, 0);
	ck_assert_int_eq(bind(fd, (struct sockaddr *)&at, len), 0);
	ck_assert_int_eq(listen(fd, 64), 0);
	ck_assert_int_eq(getsockname(fd, (struct sockaddr *)&at, &len), 0);
	ck_assert_int_eq(pthread_create(&thread, NULL, take_connections,
			     (void *)(intptr_t)fd),
	    0);
	pthread_detach(thread);
	snprintf(url, sizeof(url), "http://127.0.0.1:%u", ntohs(at.sin_port));
	return url;
}

static void
set(enum stub_weather now, unsigned count, bool of_all)
{
	pthread_mutex_lock(&lock);
	weather = now;
	bad = count;
	all = of_all;
	pthread_mutex_unlock(&lock);
}

void
stub_set(enum stub_weather now, unsigned count)
{
	set(now, count, false);
}

void
stub_set_all(enum stub_weather now)
{
	set(now, 0, true);
}

void
stub_wants_user(void)
{
	pthread_mutex_lock(&lock);
	user++;
	pthread_mutex_unlock(&lock);
}

void
stub_forget(const char *prefix)
{
	unsigned kept = 0;

	pthread_mutex_lock(&lock);
	for (unsigned i = 0; i < pair_count; i++)
		if (!span_starts(pairs[i].key, span_of(prefix)))
			pairs[kept++] = pairs[i];
	pair_count = kept;
	pthread_mutex_unlock(&lock);
}

/* The entry's own id, which lies behind its version, comes before it. */
static void
write_earlier_id(struct pair *pair)
{
	struct span entry = span_from(value_of(pair), ENGINE_ID_LEN);
	struct buf bytes, value;

	buf_init(&bytes, REQUEST_MAX);
	buf_init(&value, REQUEST_MAX);
	buf_add_span(&bytes, span_sub(entry, 1, ENGINE_ID_LEN));
	buf_add_span(&bytes, entry);
	base64_add(&value, buf_span(&bytes));
	ck_assert_int_eq(buf_end(&value), ERR_OK);
	pair->value = arena_copy(memory, buf_span(&value));
	buf_fini(&bytes);
	buf_fini(&value);
}

void
stub_write_earlier_ids(void)
{
	pthread_mutex_lock(&lock);
	for (unsigned i = 0; i < pair_count; i++)
		if (has(pairs[i].key, "/log/"))
			write_earlier_id(&pairs[i]);
	pthread_mutex_unlock(&lock);
}

void
stub_rest(void)
{
	while (busy > 0)
		usleep(1000);
}

unsigned
stub_transactions(void)
{
	return puts_done;
}
