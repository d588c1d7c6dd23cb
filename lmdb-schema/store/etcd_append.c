/*
 * The value of an entry's key begins with a part of the entry's chain, so that the
 * last one's chain is compared where the head's number is, without a look at it
 * before. Of one that an earlier version has written the answer tells how it begins,
 * and of a log without an entry which epoch there is: the second transaction compares
 * that.
 */
#include <assert.h>
#include <string.h>

#include "common/num.h"
#include "lmdb-schema/store/etcd_text_priv.h"

/* --- questions ------------------------------------------------------------ */

/* Of a chain, in front of an entry; the rest is of the append's id. */
#define MARK_CHAIN ((size_t)8)

static struct span
chain_in(struct span entry)
{
	return span_sub(entry, ENGINE_CHAIN_AT, ENGINE_CHAIN_LEN);
}

/* ENGINE_ID_LEN bytes: no other append has them. */
static void
make_mark(char mark[ENGINE_ID_LEN], const struct etcd_append *append)
{
	memcpy(mark, chain_in(append->entry).ptr, MARK_CHAIN);
	memcpy(mark + MARK_CHAIN, append->id.ptr, ENGINE_ID_LEN - MARK_CHAIN);
}

/*
 * The key's value begins with these bytes: it comes before the next ones of their
 * length. etcd compares whole values alone.
 */
static void
put_begins(struct jsonw *json, struct span key, struct span bytes)
{
	unsigned char next[ETCD_LAST_MAX];

	assert(bytes.len > 0 && bytes.len <= sizeof(next));
	memcpy(next, bytes.ptr, bytes.len);
	for (size_t at = bytes.len; at-- > 0;)
		if (++next[at] != 0)
			break;
	etcd_put_value(json, key, bytes, "GREATER");
	etcd_put_value(json, key, span_make(next, bytes.len), "LESS");
}

static void
put_epoch_condition(struct jsonw *json, const struct etcd_append *append)
{
	char key[ETCD_PLACE_MAX];
	struct buf text;

	buf_init(&text, ENGINE_EPOCH_TEXT_MAX);
	engine_epoch_text(&text, append->epoch, append->after, append->chain);
	buf_fail(json->buf, buf_end(&text));
	etcd_put_condition(
	    json, etcd_epoch_key(key, append->name), buf_span(&text), false);
	buf_fini(&text);
}

static void
put_conditions(struct jsonw *json, const struct etcd_append *append,
    const struct etcd_last *last)
{
	char key[ETCD_PLACE_MAX], number[NUM_TEXT_MAX];

	jsonw_key(json, "compare");
	jsonw_array_begin(json);
	num_int_text(number, (int64_t)append->after);
	etcd_put_condition(json, etcd_head_key(key, &append->of),
	    span_of(number), append->after == 0);
	if (!last->begins)
		put_begins(json,
		    etcd_entry_key(key, &append->of, append->after),
		    last->len > 0 ? span_make(last->bytes, last->len)
				  : span_sub(append->chain, 0, MARK_CHAIN));
	else if (append->epoch > 0)
		put_epoch_condition(json, append);
	jsonw_array_end(json);
}

static void
put_entry(struct jsonw *json, const struct etcd_append *append)
{
	char key[ETCD_PLACE_MAX], mark[ENGINE_ID_LEN], number[NUM_TEXT_MAX];
	struct buf value;

	make_mark(mark, append);
	buf_init(&value, ETCD_VALUE_MAX);
	buf_add(&value, mark, sizeof(mark));
	buf_add_span(&value, append->entry);
	buf_fail(json->buf, buf_end(&value));
	num_int_text(number, (int64_t)append->after + 1);
	jsonw_key(json, "success");
	jsonw_array_begin(json);
	etcd_put_put(
	    json, etcd_head_key(key, &append->of), span_of(number), SPAN(""));
	etcd_put_put(json, etcd_entry_key(key, &append->of, append->after + 1),
	    buf_span(&value), SPAN(""));
	jsonw_array_end(json);
	buf_fini(&value);
}

void
etcd_ask_append(struct buf *body, const struct etcd_append *append,
    const struct etcd_last *last)
{
	char key[ETCD_PLACE_MAX];
	struct jsonw json;

	assert(append->id.len == ENGINE_ID_LEN && append->after < INT64_MAX);
	assert(append->chain.len == ENGINE_CHAIN_LEN);
	assert(chain_in(append->entry).len == ENGINE_CHAIN_LEN);
	jsonw_init(&json, body);
	jsonw_object_begin(&json);
	put_conditions(&json, append, last);
	put_entry(&json, append);
	jsonw_key(&json, "failure");
	jsonw_array_begin(&json);
	etcd_put_get(&json, etcd_head_key(key, &append->of));
	etcd_put_get(
	    &json, etcd_entry_key(key, &append->of, append->after + 1));
	etcd_put_get(&json, etcd_entry_key(key, &append->of, append->after));
	etcd_put_get(&json, etcd_epoch_key(key, append->name));
	jsonw_array_end(&json);
	jsonw_object_end(&json);
}

/* --- answers -------------------------------------------------------------- */

#define ANSWERS 4

/* The head's number is another one. */
static enum err
find_next(struct etcd_pair *pair, struct jwalk *walk,
    const struct etcd_append *append)
{
	char mark[ENGINE_ID_LEN];
	enum err err = etcd_take_range(pair, walk);

	if (err != ERR_OK)
		return err;
	if (pair->key.len == 0)
		return ERR_NOT_FOUND;
	if (pair->value.len < ENGINE_ID_LEN)
		return ERR_BAD_INPUT;
	make_mark(mark, append);
	return memcmp(pair->value.data, mark, sizeof(mark)) == 0 ? ERR_OK
								 : ERR_BEHIND;
}

/* Whether the epoch that there is begins with this number and chain. */
static enum err
find_beginning(struct etcd_last *last, struct etcd_pair *pair,
    struct jwalk *walk, const struct etcd_append *append)
{
	struct buf text;
	enum err err = etcd_take_range(pair, walk);

	buf_init(&text, ENGINE_EPOCH_TEXT_MAX);
	engine_epoch_text(&text, append->epoch, append->after, append->chain);
	if (err == ERR_OK)
		err = buf_end(&text);
	if (err == ERR_OK)
		err = span_eq(buf_span(&text), buf_span(&pair->value))
		    ? ERR_BUSY
		    : ERR_FORKED;
	buf_fini(&text);
	last->begins = true;
	return err;
}

/* The head's number is right: whether the chain is. */
static enum err
find_last(struct etcd_last *last, struct etcd_pair *pair, struct jwalk *walk,
    const struct etcd_append *append)
{
	struct span value;
	enum err err = etcd_take_range(pair, walk);

	if (err == ERR_OK)
		err = etcd_take_range(pair, walk);
	if (err != ERR_OK)
		return err;
	if (pair->key.len == 0)
		return find_beginning(last, pair, walk, append);
	value = span_sub(buf_span(&pair->value), 0, ETCD_LAST_MAX);
	if (!span_eq(chain_in(span_from(value, ENGINE_ID_LEN)), append->chain))
		return ERR_FORKED;
	memcpy(last->bytes, value.ptr, value.len);
	last->len = value.len;
	return ERR_BUSY;
}

static enum err
compare_failed(struct etcd_last *last, struct etcd_pair *pair,
    struct jval responses, const struct etcd_append *append)
{
	struct jwalk walk = jwalk_begin(responses);
	uint64_t head = 0;
	enum err err = jval_count(responses) == ANSWERS
	    ? etcd_take_range(pair, &walk)
	    : ERR_BAD_INPUT;

	if (err == ERR_OK && pair->key.len > 0)
		err = etcd_take_number(&head, buf_span(&pair->value));
	if (err != ERR_OK)
		return err;
	if (head < append->after)
		return ERR_FORKED;
	return head == append->after ? find_last(last, pair, &walk, append)
				     : find_next(pair, &walk, append);
}

enum err
etcd_appended(struct etcd_last *last, struct span answer,
    const struct etcd_append *append)
{
	enum etcd_outcome outcome;
	struct jscan doc;
	struct etcd_pair pair;
	enum err err = etcd_parse(&doc, answer);

	if (err != ERR_OK)
		return err;
	etcd_pair_init(&pair);
	err = etcd_take_outcome(&outcome, jscan_root(&doc));
	if (err == ERR_OK && outcome == ETCD_COMPARE_FAILED)
		err = compare_failed(last, &pair,
		    jval_member(jscan_root(&doc), "responses"), append);
	etcd_pair_fini(&pair);
	jscan_fini(&doc);
	return err;
}
