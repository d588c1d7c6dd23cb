/*
 * stub_holder: a node that serves one file on a loopback port, with faults that a
 * test chooses.
 */
#pragma once

#include "common/span.h"

enum holder_weather {
	HOLDER_SOUND,
	HOLDER_CUTS, /* a quarter of the file, then the connection ends */
	HOLDER_LIES, /* as many bytes, of another file */
	HOLDER_SENDS_MORE,
	HOLDER_SENDS_LESS, /* and says that it is all */
	HOLDER_STALLS, /* a quarter, then nothing */
	HOLDER_KNOWS_NO_RANGE,
	HOLDER_IS_ELSEWHERE, /* answers a Range with another one */
	HOLDER_DENIES,
	HOLDER_FORBIDS, /* 403 */
	HOLDER_HAS_IT_NOT,
	HOLDER_IS_ILL, /* 500 */
	HOLDER_SAYS_NOTHING, /* the connection ends */
	HOLDER_WEATHERS
};

#define STUB_HOLDERS_MAX 8

/* Starts one, in a thread; its address is "http://127.0.0.1:PORT". */
const char *stub_holder_start(enum holder_weather weather, struct span file);

/*
 * From now on they are buckets (store/bucket.h): a request names a piece of so many
 * bytes, and is signed by the key "id"; 0: they are nodes.
 */
void stub_holder_pieces(size_t bytes);

/* Changes the weather at one; no request is under way. */
void stub_holder_set(unsigned which, enum holder_weather weather);

/* Requests that it has had, and the bytes of the file that it has sent. */
unsigned stub_holder_asked(unsigned which);
unsigned long stub_holder_sent(unsigned which);
