#include "lmdb-schema/store/etcd_text.h"

#include <assert.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "common/base64.h"
#include "common/count.h"
#include "common/jscan.h"
#include "common/jsonw.h"
#include "common/members.h"
#include "common/num.h"
#include "lmdb-schema/key.h"
#include "lmdb-schema/store/etcd_text_priv.h"

#define DEPTH_MAX 16

static const char *const logs[STORE_ENVS] = {[STORE_LIVE] = "live",
    [STORE_CATALOG] = "catalog",
    [STORE_STATE] = "state"};

/* --- requests ------------------------------------------------------------- */

void
etcd_put_base64(struct jsonw *json, const char *name, struct span bytes)
{
	jsonw_key(json, name);
	/* Digits, '+', '/' and '=' need no escape. */
	buf_add_char(json->buf, '"');
	base64_add(json->buf, bytes);
	buf_add_char(json->buf, '"');
	jsonw_raw(json, SPAN(""));
}

struct span
etcd_head_key(char key[ETCD_PLACE_MAX], const struct etcd_log *of)
{
	snprintf(key, ETCD_PLACE_MAX, "%.*s/head/%s", SPAN_ARG(of->name),
	    logs[of->log]);
	return span_of(key);
}

struct span
etcd_entry_key(
    char key[ETCD_PLACE_MAX], const struct etcd_log *of, uint64_t number)
{
	snprintf(key, ETCD_PLACE_MAX, "%.*s/log/%s/%016" PRIx64,
	    SPAN_ARG(of->name), logs[of->log], number);
	return span_of(key);
}

void
etcd_put_value(
    struct jsonw *json, struct span key, struct span value, const char *result)
{
	jsonw_object_begin(json);
	etcd_put_base64(json, "key", key);
	members_string(json, "result", result);
	members_string(json, "target", "VALUE");
	etcd_put_base64(json, "value", value);
	jsonw_object_end(json);
}

void
etcd_put_condition(
    struct jsonw *json, struct span key, struct span value, bool absent)
{
	if (!absent) {
		etcd_put_value(json, key, value, "EQUAL");
		return;
	}
	jsonw_object_begin(json);
	etcd_put_base64(json, "key", key);
	members_string(json, "result", "EQUAL");
	/* Version 0 is a key that does not exist. */
	members_string(json, "target", "VERSION");
	members_string(json, "version", "0");
	jsonw_object_end(json);
}

static void
put_compare(struct jsonw *json, struct span key, struct span value, bool absent)
{
	jsonw_key(json, "compare");
	jsonw_array_begin(json);
	etcd_put_condition(json, key, value, absent);
	jsonw_array_end(json);
}

void
etcd_put_put(
    struct jsonw *json, struct span key, struct span value, struct span lease)
{
	jsonw_object_begin(json);
	jsonw_key(json, "requestPut");
	jsonw_object_begin(json);
	etcd_put_base64(json, "key", key);
	etcd_put_base64(json, "value", value);
	if (lease.len > 0)
		members_text(json, "lease", lease);
	jsonw_object_end(json);
	jsonw_object_end(json);
}

void
etcd_put_get(struct jsonw *json, struct span key)
{
	jsonw_object_begin(json);
	jsonw_key(json, "requestRange");
	jsonw_object_begin(json);
	etcd_put_base64(json, "key", key);
	jsonw_object_end(json);
	jsonw_object_end(json);
}

/* A transaction that puts two keys, or gets them. */
struct two {
	struct span keys[2], values[2];
	struct span lease;
};

static void
put_two(struct jsonw *json, const struct two *two)
{
	jsonw_key(json, "success");
	jsonw_array_begin(json);
	for (unsigned i = 0; i < 2; i++)
		etcd_put_put(json, two->keys[i], two->values[i], two->lease);
	jsonw_array_end(json);
	jsonw_key(json, "failure");
	jsonw_array_begin(json);
	for (unsigned i = 0; i < 2; i++)
		etcd_put_get(json, two->keys[i]);
	jsonw_array_end(json);
	jsonw_object_end(json);
}

/* Keys from the first one up to the end, which is none; 0: all of them. */
static void
ask_range(struct buf *body, const char *first, const char *end, unsigned most)
{
	struct jsonw json;

	jsonw_init(&json, body);
	jsonw_object_begin(&json);
	etcd_put_base64(&json, "key", span_of(first));
	etcd_put_base64(&json, "range_end", span_of(end));
	members_int(&json, "limit", most);
	jsonw_object_end(&json);
}

/* '0' follows '/': such a range ends behind the last key below a place. */

void
etcd_ask_read(
    struct buf *body, const struct etcd_log *of, uint64_t after, unsigned most)
{
	char first[ETCD_PLACE_MAX], end[ETCD_PLACE_MAX];

	etcd_entry_key(first, of, after + 1);
	snprintf(end, sizeof(end), "%.*s/log/%s0", SPAN_ARG(of->name),
	    logs[of->log]);
	ask_range(body, first, end, most);
}

static void
ask_below(struct buf *body, struct span name, const char *what)
{
	char first[ETCD_PLACE_MAX], end[ETCD_PLACE_MAX];

	snprintf(first, sizeof(first), "%.*s/%s/", SPAN_ARG(name), what);
	snprintf(end, sizeof(end), "%.*s/%s0", SPAN_ARG(name), what);
	ask_range(body, first, end, 0);
}

void
etcd_ask_heads(struct buf *body, struct span name)
{
	ask_below(body, name, "head");
}

void
etcd_ask_nodes(struct buf *body, struct span name)
{
	ask_below(body, name, "node");
}

void
etcd_ask_lease(struct buf *body, unsigned seconds)
{
	struct jsonw json;

	jsonw_init(&json, body);
	jsonw_object_begin(&json);
	members_int(&json, "TTL", seconds);
	jsonw_object_end(&json);
}

static void
put_record(struct buf *out, const struct engine_node *node)
{
	struct jsonw json;

	jsonw_init(&json, out);
	jsonw_object_begin(&json);
	members_string(&json, "name", node->name);
	members_string(&json, "address", node->address);
	members_string(&json, "program", node->program);
	members_string(&json, "run", node->run);
	members_int(&json, "beat", (int64_t)node->beat);
	members_int(&json, "log_version", node->log_version);
	for (unsigned i = 0; i < STORE_ENVS; i++)
		members_int(&json, logs[i], (int64_t)node->places[i]);
	jsonw_object_end(&json);
}

void
etcd_ask_node(struct buf *body, struct span name,
    const struct engine_node *node, struct span lease, bool is_new)
{
	char key[ETCD_PLACE_MAX], run[ETCD_PLACE_MAX];
	struct two two = {.lease = lease};
	struct jsonw json;
	struct buf record;

	buf_init(&record, ETCD_VALUE_MAX);
	put_record(&record, node);
	buf_fail(body, buf_end(&record));
	snprintf(key, sizeof(key), "%.*s/node/%s", SPAN_ARG(name), node->name);
	snprintf(run, sizeof(run), "%.*s/run/%s", SPAN_ARG(name), node->name);
	two.keys[0] = span_of(run);
	two.values[0] = span_of(node->run);
	two.keys[1] = span_of(key);
	two.values[1] = buf_span(&record);
	jsonw_init(&json, body);
	jsonw_object_begin(&json);
	put_compare(&json, two.keys[0], two.values[0], is_new);
	put_two(&json, &two);
	buf_fini(&record);
}

void
etcd_ask_rights(struct buf *body, struct span name)
{
	static const char *const kinds[] = {
	    "head/state", "log/state/", "node/", "run/", "note/"};
	char key[ETCD_PLACE_MAX];
	struct jsonw json;

	snprintf(key, sizeof(key), "%.*s/head/state", SPAN_ARG(name));
	jsonw_init(&json, body);
	jsonw_object_begin(&json);
	put_compare(&json, span_of(key), SPAN("-"), false);
	jsonw_key(&json, "success");
	jsonw_array_begin(&json);
	for (size_t i = 0; i < COUNT(kinds); i++) {
		snprintf(key, sizeof(key), "%.*s/%s", SPAN_ARG(name), kinds[i]);
		etcd_put_put(&json, span_of(key), SPAN(""), SPAN(""));
	}
	jsonw_array_end(&json);
	jsonw_object_end(&json);
}

void
etcd_ask_token(struct buf *body, struct span user, struct span password)
{
	struct jsonw json;

	jsonw_init(&json, body);
	jsonw_object_begin(&json);
	jsonw_key(&json, "name");
	jsonw_string(&json, user);
	jsonw_key(&json, "password");
	jsonw_string(&json, password);
	jsonw_object_end(&json);
}

/* --- answers -------------------------------------------------------------- */

/* Appends what the string's base64 says. */
static enum err
take_base64(struct buf *out, struct jval text)
{
	struct span digits = jsonw_inside(jval_raw(text));
	size_t len = 0;
	char *to;

	if (jval_type(text) != JSTRING || text.node->escaped ||
	    digits.len % 4 != 0)
		return ERR_BAD_INPUT;
	to = buf_room(out, digits.len / 4 * 3);
	if (to == NULL)
		return buf_end(out);
	if (!base64_bytes((uint8_t *)to, digits.len / 4 * 3, &len, digits))
		return ERR_BAD_INPUT;
	buf_grown(out, len);
	return ERR_OK;
}

void
etcd_pair_init(struct etcd_pair *pair)
{
	buf_init(&pair->key, ETCD_PLACE_MAX);
	buf_init(&pair->value, ETCD_VALUE_MAX);
}

void
etcd_pair_fini(struct etcd_pair *pair)
{
	buf_fini(&pair->key);
	buf_fini(&pair->value);
}

static enum err
take_pair(struct etcd_pair *pair, struct jval kv)
{
	enum err err;

	buf_clear(&pair->key);
	buf_clear(&pair->value);
	err = take_base64(&pair->key, jval_member(kv, "key"));
	if (err == ERR_OK)
		err = take_base64(&pair->value, jval_member(kv, "value"));
	/* No key of ours is as long. */
	return err == ERR_TOO_LARGE ? ERR_BAD_INPUT : err;
}

enum err
etcd_take_number(uint64_t *out, struct span text)
{
	int64_t number;

	if (!num_int(&number, text, 1, INT64_MAX - 1))
		return ERR_BAD_INPUT;
	*out = (uint64_t)number;
	return ERR_OK;
}

enum err
etcd_parse(struct jscan *doc, struct span answer)
{
	enum err err = jscan_parse(doc, answer, DEPTH_MAX, NULL);

	if (err == ERR_OK && jval_type(jscan_root(doc)) != JOBJECT) {
		jscan_fini(doc);
		return ERR_BAD_INPUT;
	}
	return err == ERR_TOO_LARGE ? ERR_BAD_INPUT : err;
}

/* The keys of a range's answer; false: it has another form. */
static bool
has_keys(struct jwalk *keys, struct jval range)
{
	struct jval list = jval_member(range, "kvs");

	if (jval_type(range) != JOBJECT ||
	    (!jval_is_absent(list) && jval_type(list) != JARRAY))
		return false;
	*keys = jwalk_begin(list);
	return true;
}

enum err
etcd_take_range(struct etcd_pair *pair, struct jwalk *responses)
{
	struct jval name, response, kv;
	struct jwalk keys;

	if (!jwalk_next(responses, &name, &response) ||
	    !has_keys(&keys, jval_member(response, "response_range")))
		return ERR_BAD_INPUT;
	buf_clear(&pair->key);
	buf_clear(&pair->value);
	return jwalk_next(&keys, &name, &kv) ? take_pair(pair, kv) : ERR_OK;
}

enum err
etcd_take_outcome(enum etcd_outcome *out, struct jval root)
{
	struct jval succeeded = jval_member(root, "succeeded");
	bool put = jval_type(succeeded) == JTRUE;

	*out = put ? ETCD_PUT : ETCD_COMPARE_FAILED;
	/* etcd leaves out what is false; a body of nothing is no answer. */
	return put || jval_is_absent(succeeded) ||
		jval_type(succeeded) == JFALSE
	    ? ERR_OK
	    : ERR_BAD_INPUT;
}

/* The keys of an answer that has nothing else. */
static enum err
parse_keys(struct jscan *doc, struct jwalk *keys, struct span answer)
{
	enum err err = etcd_parse(doc, answer);

	if (err != ERR_OK)
		return err;
	/* An answer about nothing has a header still. */
	if (has_keys(keys, jscan_root(doc)) &&
	    jval_type(jval_member(jscan_root(doc), "header")) == JOBJECT)
		return ERR_OK;
	jscan_fini(doc);
	return ERR_BAD_INPUT;
}

/* The number at the end of an entry's key. */
static enum err
number_of(uint64_t *number, struct span key)
{
	if (key.len < KEY_GENERATION_LEN ||
	    !key_generation(
		number, span_from(key, key.len - KEY_GENERATION_LEN)))
		return ERR_BAD_INPUT;
	return ERR_OK;
}

static enum err
take_entry(struct etcd_pair *pair, struct jval kv, uint64_t *after,
    enum err (*each)(void *context, uint64_t number, struct span entry),
    void *context)
{
	uint64_t number = 0;
	enum err err = take_pair(pair, kv);

	if (err == ERR_OK)
		err = number_of(&number, buf_span(&pair->key));
	if (err == ERR_OK &&
	    (pair->value.len < ENGINE_ID_LEN || number <= *after))
		err = ERR_BAD_INPUT;
	if (err == ERR_OK && number != *after + 1)
		err = ERR_NOT_FOUND;
	if (err == ERR_OK)
		err = each(context, number,
		    span_from(buf_span(&pair->value), ENGINE_ID_LEN));
	if (err == ERR_OK)
		*after = number;
	return err;
}

enum err
etcd_entries(struct span answer, uint64_t *after, bool *more,
    enum err (*each)(void *context, uint64_t number, struct span entry),
    void *context)
{
	struct jval name, kv;
	struct jwalk keys;
	struct jscan doc;
	struct etcd_pair pair;
	enum err err = parse_keys(&doc, &keys, answer);

	*more = false;
	if (err != ERR_OK)
		return err;
	etcd_pair_init(&pair);
	while (err == ERR_OK && jwalk_next(&keys, &name, &kv))
		err = take_entry(&pair, kv, after, each, context);
	*more = jval_type(jval_member(jscan_root(&doc), "more")) == JTRUE;
	etcd_pair_fini(&pair);
	jscan_fini(&doc);
	return err;
}

static enum err
take_head(struct etcd_pair *pair, struct jval kv, struct span name,
    uint64_t heads[STORE_ENVS])
{
	char key[ETCD_PLACE_MAX];
	enum err err = take_pair(pair, kv);

	for (unsigned i = 0; i < STORE_ENVS && err == ERR_OK; i++) {
		const struct etcd_log of = {name, (enum store_env)i};

		if (span_eq(buf_span(&pair->key), etcd_head_key(key, &of)))
			err =
			    etcd_take_number(&heads[i], buf_span(&pair->value));
	}
	return err;
}

enum err
etcd_heads(struct span answer, struct span name, uint64_t heads[STORE_ENVS])
{
	struct jval index, kv;
	struct jwalk keys;
	struct jscan doc;
	struct etcd_pair pair;
	enum err err = parse_keys(&doc, &keys, answer);

	memset(heads, 0, STORE_ENVS * sizeof(heads[0]));
	if (err != ERR_OK)
		return err;
	etcd_pair_init(&pair);
	while (err == ERR_OK && jwalk_next(&keys, &index, &kv))
		err = take_head(&pair, kv, name, heads);
	etcd_pair_fini(&pair);
	jscan_fini(&doc);
	return err;
}

/* The member's text, if it is plain and fits. */
static bool
copy_text(char *to, size_t size, struct jval object, const char *name)
{
	struct jval text = jval_member(object, name);

	return jval_type(text) == JSTRING && !text.node->escaped &&
	    span_copy(to, size, jsonw_inside(jval_raw(text)));
}

static bool
copy_number(uint64_t *to, struct jval object, const char *name)
{
	int64_t number;

	if (!jval_int(jval_member(object, name), &number) || number < 0)
		return false;
	*to = (uint64_t)number;
	return true;
}

static bool
copy_record(struct engine_node *node, struct jval from)
{
	uint64_t version = 0;
	bool good = copy_text(node->name, sizeof(node->name), from, "name") &&
	    copy_text(node->address, sizeof(node->address), from, "address") &&
	    copy_text(node->program, sizeof(node->program), from, "program") &&
	    copy_text(node->run, sizeof(node->run), from, "run") &&
	    copy_number(&node->beat, from, "beat") &&
	    copy_number(&version, from, "log_version");

	node->log_version = (unsigned)version;
	for (unsigned i = 0; i < STORE_ENVS && good; i++)
		good = copy_number(&node->places[i], from, logs[i]);
	return good;
}

static enum err
take_record(struct engine_node *node, struct span text)
{
	struct jscan doc;
	enum err err = etcd_parse(&doc, text);

	memset(node, 0, sizeof(*node));
	if (err != ERR_OK)
		return err;
	if (!copy_record(node, jscan_root(&doc)))
		err = ERR_BAD_INPUT;
	jscan_fini(&doc);
	return err;
}

/* The run and the record that are there instead. */
static enum err
take_other(struct jval root, struct span run, struct engine_node *other)
{
	struct jwalk walk = jwalk_begin(jval_member(root, "responses"));
	struct etcd_pair pair;
	enum err err;

	etcd_pair_init(&pair);
	err = etcd_take_range(&pair, &walk);
	if (err == ERR_OK && pair.key.len == 0)
		err = ERR_NOT_FOUND;
	/* The same run, where it was to be new: an answer was lost. */
	if (err == ERR_OK && !span_eq(buf_span(&pair.value), run)) {
		err = etcd_take_range(&pair, &walk);
		if (err == ERR_OK)
			err = take_record(other, buf_span(&pair.value));
		if (err == ERR_OK)
			err = ERR_EXISTS;
	}
	etcd_pair_fini(&pair);
	return err;
}

enum err
etcd_node_put(struct span answer, struct span run, struct engine_node *other)
{
	enum etcd_outcome outcome;
	struct jscan doc;
	enum err err = etcd_parse(&doc, answer);

	if (err != ERR_OK)
		return err;
	err = etcd_take_outcome(&outcome, jscan_root(&doc));
	if (err == ERR_OK && outcome == ETCD_COMPARE_FAILED)
		err = take_other(jscan_root(&doc), run, other);
	jscan_fini(&doc);
	return err;
}

enum err
etcd_nodes(struct span answer,
    enum err (*each)(void *context, const struct engine_node *node),
    void *context)
{
	struct engine_node node;
	struct jval index, kv;
	struct jwalk keys;
	struct jscan doc;
	struct etcd_pair pair;
	enum err err = parse_keys(&doc, &keys, answer);

	if (err != ERR_OK)
		return err;
	etcd_pair_init(&pair);
	while (err == ERR_OK && jwalk_next(&keys, &index, &kv)) {
		err = take_pair(&pair, kv);
		if (err == ERR_OK)
			err = take_record(&node, buf_span(&pair.value));
		if (err == ERR_OK)
			err = each(context, &node);
	}
	etcd_pair_fini(&pair);
	jscan_fini(&doc);
	return err;
}

enum err
etcd_status(struct span answer, struct engine_server *server)
{
	char self[NUM_TEXT_MAX], leader[NUM_TEXT_MAX];
	struct jscan doc;
	struct jval root;
	enum err err = etcd_parse(&doc, answer);

	if (err != ERR_OK)
		return err;
	root = jscan_root(&doc);
	if (!copy_text(
		server->version, sizeof(server->version), root, "version") ||
	    !copy_text(
		self, sizeof(self), jval_member(root, "header"), "member_id"))
		err = ERR_BAD_INPUT;
	else {
		/* Without a leader etcd leaves the member out. */
		server->led = copy_text(leader, sizeof(leader), root, "leader");
		server->leads = server->led && strcmp(leader, self) == 0;
	}
	jscan_fini(&doc);
	return err;
}

enum err
etcd_lease(struct span answer, char lease[NUM_TEXT_MAX])
{
	struct jscan doc;
	uint64_t number;
	enum err err = etcd_parse(&doc, answer);

	if (err != ERR_OK)
		return err;
	if (!copy_text(lease, NUM_TEXT_MAX, jscan_root(&doc), "ID") ||
	    etcd_take_number(&number, span_of(lease)) != ERR_OK)
		err = ERR_BAD_INPUT;
	jscan_fini(&doc);
	return err;
}

enum err
etcd_token(struct span answer, char token[ETCD_TOKEN_MAX])
{
	struct jscan doc;
	enum err err = etcd_parse(&doc, answer);

	token[0] = '\0';
	if (err != ERR_OK)
		return err;
	if (!copy_text(token, ETCD_TOKEN_MAX, jscan_root(&doc), "token") ||
	    token[0] == '\0')
		err = ERR_BAD_INPUT;
	for (const char *at = token; *at != '\0'; at++)
		if (*at <= ' ' || *at >= 0x7f)
			err = ERR_BAD_INPUT;
	jscan_fini(&doc);
	return err;
}

void
etcd_fault(struct span answer, char text[ETCD_FAULT_MAX])
{
	struct jscan doc;

	text[0] = '\0';
	if (etcd_parse(&doc, answer) != ERR_OK)
		return;
	if (!copy_text(text, ETCD_FAULT_MAX, jscan_root(&doc), "message"))
		copy_text(text, ETCD_FAULT_MAX, jscan_root(&doc), "error");
	jscan_fini(&doc);
}

/* --- for gridctl cluster -------------------------------------------------- */

void
etcd_ask_first(struct buf *body, const struct etcd_log *of)
{
	etcd_ask_read(body, of, 0, 1);
}

enum err
etcd_first(struct span answer, uint64_t *number)
{
	struct jval name, kv;
	struct jwalk keys;
	struct jscan doc;
	struct etcd_pair pair;
	enum err err = parse_keys(&doc, &keys, answer);

	*number = 0;
	if (err != ERR_OK)
		return err;
	etcd_pair_init(&pair);
	if (jwalk_next(&keys, &name, &kv)) {
		err = take_pair(&pair, kv);
		if (err == ERR_OK)
			err = number_of(number, buf_span(&pair.key));
	}
	etcd_pair_fini(&pair);
	jscan_fini(&doc);
	return err;
}

/* A key alone where `end` is NULL. */
static void
ask_delete(struct buf *body, struct span key, const char *end)
{
	struct jsonw json;

	jsonw_init(&json, body);
	jsonw_object_begin(&json);
	etcd_put_base64(&json, "key", key);
	if (end != NULL)
		etcd_put_base64(&json, "range_end", span_of(end));
	jsonw_object_end(&json);
}

void
etcd_ask_trim(
    struct buf *body, const struct etcd_log *of, uint64_t from, uint64_t up_to)
{
	char first[ETCD_PLACE_MAX], end[ETCD_PLACE_MAX];

	etcd_entry_key(end, of, up_to + 1);
	ask_delete(body, etcd_entry_key(first, of, from), end);
}

void
etcd_ask_node_drop(
    struct buf *body, struct span name, const char *node, bool run)
{
	char key[ETCD_PLACE_MAX];

	snprintf(key, sizeof(key), "%.*s/%s/%s", SPAN_ARG(name),
	    run ? "run" : "node", node);
	ask_delete(body, span_of(key), NULL);
}

static struct span
note_key(char key[ETCD_PLACE_MAX], struct span name, struct span note)
{
	snprintf(key, ETCD_PLACE_MAX, "%.*s/note/%.*s", SPAN_ARG(name),
	    SPAN_ARG(note));
	return span_of(key);
}

void
etcd_ask_note_put(
    struct buf *body, struct span name, struct span note, struct span text)
{
	char key[ETCD_PLACE_MAX];
	struct jsonw json;

	jsonw_init(&json, body);
	jsonw_object_begin(&json);
	etcd_put_base64(&json, "key", note_key(key, name, note));
	etcd_put_base64(&json, "value", text);
	jsonw_object_end(&json);
}

void
etcd_ask_note_drop(struct buf *body, struct span name, struct span note)
{
	char key[ETCD_PLACE_MAX];

	ask_delete(body, note_key(key, name, note), NULL);
}

void
etcd_ask_notes(struct buf *body, struct span name, const char *prefix)
{
	char first[ETCD_PLACE_MAX], end[ETCD_PLACE_MAX + 1];

	note_key(first, name, span_of(prefix));
	/* 0x7f follows each character of a name. */
	snprintf(end, sizeof(end), "%s\x7f", first);
	ask_range(body, first, end, 0);
}

enum err
etcd_notes(struct span answer, struct span name,
    enum err (*each)(void *context, struct span note, struct span text),
    void *context)
{
	char place[ETCD_PLACE_MAX];
	struct span before = note_key(place, name, SPAN(""));
	struct jval index, kv;
	struct jwalk keys;
	struct jscan doc;
	struct etcd_pair pair;
	enum err err = parse_keys(&doc, &keys, answer);

	if (err != ERR_OK)
		return err;
	etcd_pair_init(&pair);
	while (err == ERR_OK && jwalk_next(&keys, &index, &kv)) {
		err = take_pair(&pair, kv);
		if (err == ERR_OK && !span_starts(buf_span(&pair.key), before))
			err = ERR_BAD_INPUT;
		if (err == ERR_OK)
			err = each(context,
			    span_from(buf_span(&pair.key), before.len),
			    buf_span(&pair.value));
	}
	etcd_pair_fini(&pair);
	jscan_fini(&doc);
	return err;
}

struct span
etcd_epoch_key(char key[ETCD_PLACE_MAX], struct span name)
{
	snprintf(key, ETCD_PLACE_MAX, "%.*s/epoch", SPAN_ARG(name));
	return span_of(key);
}

void
etcd_ask_epoch(struct buf *body, struct span name)
{
	char key[ETCD_PLACE_MAX];
	struct jsonw json;

	jsonw_init(&json, body);
	jsonw_object_begin(&json);
	etcd_put_base64(&json, "key", etcd_epoch_key(key, name));
	jsonw_object_end(&json);
}

enum err
etcd_epoch(struct span answer, struct buf *text)
{
	struct jval name, kv;
	struct jwalk keys;
	struct jscan doc;
	struct etcd_pair pair;
	enum err err = parse_keys(&doc, &keys, answer);

	buf_clear(text);
	if (err != ERR_OK)
		return err;
	etcd_pair_init(&pair);
	if (jwalk_next(&keys, &name, &kv)) {
		err = take_pair(&pair, kv);
		buf_add_span(text, buf_span(&pair.value));
	}
	etcd_pair_fini(&pair);
	jscan_fini(&doc);
	return err == ERR_OK && buf_end(text) != ERR_OK ? ERR_BAD_INPUT : err;
}

void
etcd_ask_begin(struct buf *body, const struct etcd_beginning *beginning)
{
	const struct etcd_log old = {beginning->before_name, STORE_STATE},
			      new = {beginning->now_name, STORE_STATE};
	char epoch[ETCD_PLACE_MAX], key[ETCD_PLACE_MAX],
	    old_key[ETCD_PLACE_MAX];
	char number[NUM_TEXT_MAX], ended[NUM_TEXT_MAX];
	size_t len = num_int_text(number, (int64_t)beginning->number);
	size_t ended_len = num_int_text(ended, (int64_t)ENGINE_ENDED);
	struct jsonw json;

	jsonw_init(&json, body);
	jsonw_object_begin(&json);
	jsonw_key(&json, "compare");
	jsonw_array_begin(&json);
	etcd_put_condition(&json, etcd_epoch_key(epoch, beginning->name),
	    beginning->before, beginning->before.len == 0);
	/* A node that has not joined may write until then. */
	if (beginning->number == 0)
		etcd_put_condition(
		    &json, etcd_head_key(old_key, &old), SPAN(""), true);
	jsonw_array_end(&json);
	jsonw_key(&json, "success");
	jsonw_array_begin(&json);
	etcd_put_put(&json, span_of(epoch), beginning->now, SPAN(""));
	if (beginning->number > 0)
		etcd_put_put(&json, etcd_head_key(key, &new),
		    span_make(number, len), SPAN(""));
	/* Behind it no entry comes: a node that has missed this writes none. */
	etcd_put_put(&json, etcd_head_key(old_key, &old),
	    span_make(ended, ended_len), SPAN(""));
	jsonw_array_end(&json);
	jsonw_object_end(&json);
}

enum err
etcd_begun(struct span answer)
{
	enum etcd_outcome outcome;
	struct jscan doc;
	enum err err = etcd_parse(&doc, answer);

	if (err != ERR_OK)
		return err;
	err = etcd_take_outcome(&outcome, jscan_root(&doc));
	jscan_fini(&doc);
	return err == ERR_OK && outcome != ETCD_PUT ? ERR_EXISTS : err;
}
