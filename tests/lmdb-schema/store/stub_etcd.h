/*
 * stub_etcd: an etcd of one member on a loopback port, with as much of the JSON
 * gateway as engine_etcd uses, and faults that a test chooses.
 */
#pragma once

#include <stdbool.h>

enum stub_weather {
	STUB_SOUND,
	STUB_REFUSES, /* 503, not done */
	STUB_FULL, /* 429, not done */
	STUB_LOSES, /* not done, the connection ends */
	STUB_MUTE, /* done, the connection ends */
	STUB_SLOW, /* done, the answer comes after the client's limit */
	STUB_LATE, /* done and answered only after the client's limit */
	STUB_TWICE, /* done twice, the first answer counts for nobody */
	STUB_CUT, /* done, half an answer */
	STUB_NONSENSE, /* done, another answer */
	STUB_WEATHERS
};

/* Starts it, in threads; its address is "http://127.0.0.1:PORT". */
const char *stub_start(void);

/* The next `count` transactions meet this. */
void stub_set(enum stub_weather weather, unsigned count);

/* All requests, also of reading, meet it until the next call. */
void stub_set_all(enum stub_weather weather);

/* From now on a user is asked for; each call ends all tokens. */
void stub_wants_user(void);

/* Forgets all keys, as an etcd that was made anew; or those below a place. */
void stub_forget(const char *prefix);

/* Puts the ids before the entries as a version has written them that compared none. */
void stub_write_earlier_ids(void);

/* Ends when no request is under way. */
void stub_rest(void);

unsigned stub_transactions(void); /* that put something */
