/* letters: what tests write, so that the order of the writes can be read. */
#pragma once

#include "common/err.h"

struct kv_txn;

/* For store_write(): adds the letter at `letter` to the text "text" in meta. */
enum err letters_add(void *letter, struct kv_txn *txn);
