/*
 * attempts: limits how often a login may be tried.
 *
 * Counted for each user from one address, each address, each user, and all. The
 * counts lie in a small file of the data directory that all processes map, so
 * they hold for all workers and survive them; they are never flushed, so that
 * no stranger can cause disk writes. Users and addresses hash to slots (with a
 * secret in the file) and may share one: at worst, an innocent user waits.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "common/err.h"
#include "common/span.h"

struct attempts;
struct store;

/* Failed attempts allowed in each window of 15 minutes. */
#define ATTEMPTS_WINDOW_MS (15 * 60 * 1000)
#define ATTEMPTS_PAIR 5
#define ATTEMPTS_ADDRESS 50
#define ATTEMPTS_USER 100
#define ATTEMPTS_ALL 1000

enum err attempts_open(struct attempts **out, struct store *store);
void attempts_close(struct attempts *attempts);

/*
 * Counts an attempt before it is made. False when there were too many: *wait_ms
 * is then the time until one is allowed. An IPv6 address counts by its first 64
 * bits.
 */
bool attempts_take(struct attempts *attempts, struct span user,
    struct span address, int64_t now_ms, int64_t *wait_ms);

/*
 * Call after a successful login: uncounts the attempt, and forgets the user's
 * attempts from that address.
 */
void attempts_forgive(
    struct attempts *attempts, struct span user, struct span address);
