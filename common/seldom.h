/*
 * seldom: a failure that comes again and again, such as each write on a full disk,
 * is logged once a minute with how often it came meanwhile, and its end once.
 * Successes between failures are no end, as where a small write finds room on a
 * full disk: a minute without a failure is. So each failure is in the count of
 * some line. Any number of threads may use one.
 */
#pragma once

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#define SELDOM_EVERY_NS INT64_C(60000000000)

struct seldom {
	pthread_mutex_t lock;
	atomic_bool told; /* a failure, and no end since */
	int64_t told_ns; /* when the last failure was told */
	int64_t failed_ns; /* when the last one was, told or not */
	uint64_t untold; /* failures since the last line */
};

#define SELDOM_INIT \
	{ \
		.lock = PTHREAD_MUTEX_INITIALIZER \
	}

/*
 * Counts a failure. True: it is to be logged, and *untold failures before it were
 * not.
 */
bool seldom_fails(struct seldom *seldom, uint64_t *untold, int64_t now_ns);

/*
 * Notes a success. True: nothing has failed for a minute, the end of what was
 * logged is to be logged, and *untold failures before it were not.
 */
bool seldom_works(struct seldom *seldom, uint64_t *untold, int64_t now_ns);

/*
 * As seldom_fails(), of one of many causes, each told by a text: a file that cannot
 * be read, and why. Where more come than are kept, the one that was told longest ago
 * is forgotten.
 */
bool seldom_fails_of(const char *cause, uint64_t *untold, int64_t now_ns);

/* As at the start of the process: for tests that bring about a cause again. */
void seldom_forget(void);
