#include "tests/lmdb-schema/store/letters.h"

#include <stdio.h>

#include "common/kv/kv.h"
#include "lmdb-schema/store/store.h"

#define LETTERS_MAX 256

enum err
letters_add(void *letter, struct kv_txn *txn)
{
	char text[LETTERS_MAX];
	struct span old;
	enum err err = kv_get(txn, STATE_META, SPAN("text"), &old);

	if (err != ERR_OK && err != ERR_NOT_FOUND)
		return err;
	snprintf(
	    text, sizeof(text), "%.*s%c", SPAN_ARG(old), *(const char *)letter);
	return kv_put(txn, STATE_META, SPAN("text"), span_of(text));
}
