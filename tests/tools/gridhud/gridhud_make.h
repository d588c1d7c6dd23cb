/*
 * gridhud_make: messages for tests, made of an event's JSON as it comes in.
 */
#pragma once

#include <check.h>

#include "common/jsonr.h"
#include "tools/gridhud/message.h"

static inline struct message *
make_event(uint64_t seq, const char *text)
{
	static const struct jsonr_limits limits = {.bytes = 1 << 20};
	struct message *message = NULL;
	struct jsonr *doc = NULL;

	ck_assert_int_eq(
	    jsonr_parse(&doc, span_of(text), &limits, NULL), ERR_OK);
	ck_assert_int_eq(
	    message_from_event(&message, seq, jsonr_root(doc), 1000), ERR_OK);
	jsonr_free(doc);
	return message;
}
