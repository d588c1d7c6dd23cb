/*
 * etcd_text: what etcd's JSON gateway is sent for a log (engine.h), and its
 * answers.
 *
 *	NAME/head/LOG            number of the last entry, in decimal
 *	NAME/log/LOG/NUMBER      an entry; NUMBER of 16 hexadecimal digits
 *	NAME/note/...            a text of gridctl cluster's
 *	NAME/epoch               which epoch there is: of epoch 7, the others
 *	                         begin with NAME.7
 *	NAME/node/NODE           a node's record, as JSON
 *	NAME/run/NODE            the run that has put it
 *
 * LOG is live, catalog or state. An entry's value begins with ENGINE_ID_LEN bytes by
 * which its append is told: the first half is of the entry's chain, the second of the
 * append's id; of an earlier version all are of the id. Then come the entry's bytes.
 * An append is one transaction: it compares the head and how the last entry's value
 * begins, and puts the next head and the entry. A node's two keys are under a lease,
 * by which etcd removes them.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "common/buf.h"
#include "common/err.h"
#include "common/num.h"
#include "common/span.h"
#include "lmdb-schema/store/engine.h"

/* A log of a cluster. */
struct etcd_log {
	struct span name;
	enum store_env log;
};

/* Bodies of requests; each fails as its buffer does. */
void etcd_ask_read(
    struct buf *body, const struct etcd_log *of, uint64_t after, unsigned most);
void etcd_ask_heads(struct buf *body, struct span name);
void etcd_ask_token(struct buf *body, struct span user, struct span password);
void etcd_ask_lease(struct buf *body, unsigned seconds);
void etcd_ask_nodes(struct buf *body, struct span name);

/* `is_new`: there is no such node yet; else its last record is of this run. */
void etcd_ask_node(struct buf *body, struct span name,
    const struct engine_node *node, struct span lease, bool is_new);

/*
 * A transaction that puts a key of each kind if the log's head is what it never is: so
 * nothing is put, and etcd refuses a user who may not put them.
 */
void etcd_ask_rights(struct buf *body, struct span name);

/* Below, ERR_BAD_INPUT is an answer that is none to the question. */

/*
 * Of a read: calls `each`, and moves *after behind the last entry; *more is
 * whether there are others. ERR_NOT_FOUND when the entry behind *after is
 * trimmed; the failures of `each`.
 */
enum err etcd_entries(struct span answer, uint64_t *after, bool *more,
    enum err (*each)(void *context, uint64_t number, struct span entry),
    void *context);

/* Of heads: 0 for a log without entries. */
enum err etcd_heads(
    struct span answer, struct span name, uint64_t heads[STORE_ENVS]);

/* --- appending (etcd_append.c) -------------------------------------------- */

struct etcd_append {
	struct etcd_log of;
	struct span name; /* the cluster's, without its epoch */
	uint64_t epoch;
	uint64_t after;
	struct span chain, id, entry; /* as of engine.h's append */
};

/* By what the last entry's chain is compared; zeros at first. */
#define ETCD_LAST_MAX (ENGINE_ID_LEN + ENGINE_CHAIN_AT + ENGINE_CHAIN_LEN)
struct etcd_last {
	bool begins; /* the log has no entry: the epoch's text has the chain */
	size_t len;
	char bytes[ETCD_LAST_MAX]; /* the entry's value begins with them */
};

void etcd_ask_append(struct buf *body, const struct etcd_append *append,
    const struct etcd_last *last);

/*
 * ERR_OK also when an append with this id was taken earlier.
 *
 *   ERR_BEHIND     another entry has the number
 *   ERR_BUSY       *last is another one: ask again with it
 *   ERR_FORKED     the log ends before `after`, or its chain is another one
 *   ERR_NOT_FOUND  the entry behind `after` is trimmed from the log
 */
enum err etcd_appended(struct etcd_last *last, struct span answer,
    const struct etcd_append *append);

/* --- for gridctl cluster -------------------------------------------------- */

/* The first entry that is there. */
void etcd_ask_first(struct buf *body, const struct etcd_log *of);
enum err etcd_first(struct span answer, uint64_t *number); /* 0: none is */

/* Of /v3/kv/deleterange, whose answer tells nothing: entries, a record. */
void etcd_ask_trim(
    struct buf *body, const struct etcd_log *of, uint64_t from, uint64_t up_to);
void etcd_ask_node_drop(
    struct buf *body, struct span name, const char *node, bool run);

void etcd_ask_note_put(
    struct buf *body, struct span name, struct span note, struct span text);
void etcd_ask_note_drop(struct buf *body, struct span name, struct span note);
void etcd_ask_notes(struct buf *body, struct span name, const char *prefix);
enum err etcd_notes(struct span answer, struct span name,
    enum err (*each)(void *context, struct span note, struct span text),
    void *context);

/* The epoch's text, empty where none was begun. */
void etcd_ask_epoch(struct buf *body, struct span name);
enum err etcd_epoch(struct span answer, struct buf *text);

/*
 * A transaction: if the epoch's text is `before`, puts `now`, and a head of
 * the state under the name of the new epoch; the old one's is far behind its last
 * entry from then on.
 * ERR_EXISTS for another text.
 */
struct etcd_beginning {
	struct span name; /* the cluster's */
	struct span before, now;
	struct span before_name, now_name;
	uint64_t number;
};
void etcd_ask_begin(struct buf *body, const struct etcd_beginning *beginning);
enum err etcd_begun(struct span answer);

#define ETCD_TOKEN_MAX 2048 /* with a NUL */
enum err etcd_token(struct span answer, char token[ETCD_TOKEN_MAX]);

/* The id of a lease, in decimal. */
enum err etcd_lease(struct span answer, char lease[NUM_TEXT_MAX]);

/*
 * Of etcd_ask_node(): ERR_NOT_FOUND when there is no such node; ERR_EXISTS when
 * its record is of another run, then *other is that.
 */
enum err etcd_node_put(
    struct span answer, struct span run, struct engine_node *other);

enum err etcd_nodes(struct span answer,
    enum err (*each)(void *context, const struct engine_node *node),
    void *context);

/* Of /v3/maintenance/status, whose question is {}. */
enum err etcd_status(struct span answer, struct engine_server *server);

/* The text of an answer of another status than 200, or "". */
#define ETCD_FAULT_MAX 160 /* with a NUL */
void etcd_fault(struct span answer, char text[ETCD_FAULT_MAX]);
