/* etcd_text_priv.h: the parts of questions and answers; for etcd_*.c alone. */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "common/buf.h"
#include "common/err.h"
#include "common/jscan.h"
#include "common/jsonw.h"
#include "common/span.h"
#include "lmdb-schema/store/etcd_text.h"

#define ETCD_PLACE_MAX 512
#define ETCD_VALUE_MAX ((size_t)64 << 20)

/* --- keys: the text is of the array that is given --------------------------- */

struct span etcd_head_key(char key[ETCD_PLACE_MAX], const struct etcd_log *of);
struct span etcd_entry_key(
    char key[ETCD_PLACE_MAX], const struct etcd_log *of, uint64_t number);
struct span etcd_epoch_key(char key[ETCD_PLACE_MAX], struct span name);

/* --- questions ------------------------------------------------------------ */

void etcd_put_base64(struct jsonw *json, const char *name, struct span bytes);

/* Conditions: the key's value is "EQUAL", "GREATER" or "LESS". */
void etcd_put_value(
    struct jsonw *json, struct span key, struct span value, const char *result);

/* The key has the value, or is not there, if `absent`. */
void etcd_put_condition(
    struct jsonw *json, struct span key, struct span value, bool absent);

/* Steps. A put is under a lease, if that is not empty. */
void etcd_put_put(
    struct jsonw *json, struct span key, struct span value, struct span lease);
void etcd_put_get(struct jsonw *json, struct span key);

/* --- answers -------------------------------------------------------------- */

/* An object: ERR_BAD_INPUT. */
enum err etcd_parse(struct jscan *doc, struct span answer);

enum etcd_outcome { ETCD_PUT, ETCD_COMPARE_FAILED };

/* Whether a transaction has put its keys. */
enum err etcd_take_outcome(enum etcd_outcome *out, struct jval root);

/* A key and its value; neither is there when it is empty. */
struct etcd_pair {
	struct buf key, value;
};

void etcd_pair_init(struct etcd_pair *pair);
void etcd_pair_fini(struct etcd_pair *pair);

/* The one key of the next range in a transaction's answer. */
enum err etcd_take_range(struct etcd_pair *pair, struct jwalk *responses);

enum err etcd_take_number(uint64_t *out, struct span text);
