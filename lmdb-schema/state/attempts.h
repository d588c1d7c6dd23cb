/*
 * attempts: how often somebody may try to log in.
 *
 * Counted for each user from one address, each address, each user, and all. The
 * counts lie in a small file of the data directory that all processes map, so
 * they hold for all workers and survive them; they are never flushed, so that
 * no stranger makes the disk work. A place in it is shared by whatever hashes
 * there (with a secret of the file): at worst an innocent one waits.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "common/err.h"
#include "common/span.h"

struct attempts;
struct store;

/* Each window of 15 minutes: this many that fail. */
#define ATTEMPTS_WINDOW_MS (15 * 60 * 1000)
#define ATTEMPTS_PAIR 5
#define ATTEMPTS_ADDRESS 50
#define ATTEMPTS_USER 100
#define ATTEMPTS_ALL 1000

enum err attempts_open(struct attempts **out, struct store *store);
void attempts_close(struct attempts *attempts);

/*
 * Counts an attempt before it is made. False when there were too many:
 * *wait_ms is then how long until one is free. An address of IPv6 counts by
 * its first 64 bits.
 */
bool attempts_take(struct attempts *attempts, struct span user,
    struct span address, int64_t now_ms, int64_t *wait_ms);

/* It went well, and counts no more; the user's from there are forgotten. */
void attempts_forgive(
    struct attempts *attempts, struct span user, struct span address);
