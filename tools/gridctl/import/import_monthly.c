/* The four monthly files are read side by side, the longest first. */
#include <assert.h>
#include <pthread.h>
#include <time.h>

#include "tools/gridctl/import/import.h"

static const enum import_file monthly[] = {
    IMPORT_SALES, IMPORT_STOCK, IMPORT_RECEPTIONS, IMPORT_POSITIONS};

#define MONTHLY (sizeof(monthly) / sizeof(monthly[0]))

struct reading {
	struct import *import;
	pthread_mutex_t lock;
	unsigned next;
	enum err err; /* first failure */
};

static void *
read_next(void *context)
{
	struct reading *reading = context;

	for (;;) {
		enum err err;
		unsigned i;

		pthread_mutex_lock(&reading->lock);
		i = reading->next++;
		pthread_mutex_unlock(&reading->lock);
		if (i >= MONTHLY)
			return NULL;
		err = import_read(reading->import, monthly[i]);
		pthread_mutex_lock(&reading->lock);
		if (reading->err == ERR_OK || reading->err == ERR_BAD_INPUT)
			reading->err = err == ERR_OK ? reading->err : err;
		pthread_mutex_unlock(&reading->lock);
	}
}

static struct timespec
soon(void)
{
	struct timespec at;

	clock_gettime(CLOCK_REALTIME, &at);
	at.tv_nsec += 100000000;
	if (at.tv_nsec >= 1000000000) {
		at.tv_nsec -= 1000000000;
		at.tv_sec++;
	}
	return at;
}

enum err
import_read_monthly(
    struct import *import, void (*show)(void *context), void *context)
{
	struct reading reading = {.import = import};
	unsigned readers = import->jobs < MONTHLY ? import->jobs : MONTHLY;
	pthread_t threads[MONTHLY];
	unsigned started = 0;

	assert(import->intake != NULL && show != NULL);
	pthread_mutex_init(&reading.lock, NULL);
	while (started < readers &&
	    pthread_create(&threads[started], NULL, read_next, &reading) == 0)
		started++;
	if (started == 0)
		read_next(&reading);
	for (unsigned i = 0; i < started; i++) {
		struct timespec at;

		do {
			at = soon();
			show(context);
		} while (pthread_timedjoin_np(threads[i], NULL, &at) != 0);
	}
	pthread_mutex_destroy(&reading.lock);
	return reading.err;
}
