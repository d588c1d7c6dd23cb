/*
 * answer: the JSON of an answer, {"data": ..., ...}. Its text is the thread's: a
 * body that is not put yet may refer to it, so a call makes one answer.
 *
 *	answer_begin()  the caller writes the data to .json, or rows to the body:
 *	answer_put(), rows spliced into the body, the members behind them,
 *	answer_end()
 */
#pragma once

#include "common/err.h"
#include "common/jsonw.h"

struct call;

struct answer {
	struct call *call;
	struct jsonw json;
};

/* Up to and with the name "data". */
void answer_begin(struct answer *answer, struct call *call);

/* The same, with the headers of an answer that no cache keeps. */
void answer_begin_unkept(struct answer *answer, struct call *call);

/* Adds to the body what was written so far. */
void answer_put(struct answer *answer);

/* Closes the object, which alone is open, and adds the rest to the body. */
enum err answer_end(struct answer *answer);

/* Members of meta: the day that a snapshot's figures stand for, and since when. */
struct snap_head;
void answer_days(struct jsonw *json, const struct snap_head *head);

/* A user's `role`, and the `suppliers` to decide for: null for all. */
struct rights;
void answer_rights(struct answer *answer, const struct rights *rights);
