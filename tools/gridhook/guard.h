/*
 * guard: slows down senders of wrong secrets, and limits their lines in the
 * log.
 *
 * Wrong secrets are counted by address, of this machine's own programs by
 * user: what one user tries holds up no other. Beyond a number at once the
 * next request from there waits; the caller decides which secrets wait for
 * such a turn. The table is bounded, and forgets the longest unused.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>
#include <sys/socket.h>
#include <sys/types.h>

#include "common/err.h"
#include "tools/gridhook/net/loop.h"
#include "tools/gridhook/settings.h"

struct guard;

/* The sender of a request, as the guard tells senders apart. */
struct guard_who {
	const struct sockaddr_storage *address;
	const char *peer; /* the address as text, for the log */
	bool known; /* it is this user's of this machine */
	uid_t uid;
};

/* `loop` and `settings` are kept by pointer. */
enum err guard_open(struct guard **out, struct loop *loop,
    const struct hook_settings *settings);
void guard_close(struct guard *guard);

/* False while no request must wait: guard_wait() is then not needed. */
bool guard_is_alert(const struct guard *guard);

/*
 * Milliseconds until the turn of a secret of theirs. More than 0 is reserved
 * for them and paid for; -1: too many wait already.
 */
int64_t guard_wait(struct guard *guard, const struct guard_who *who);

/* Seconds, at least 1, until one more of theirs may wait. */
int64_t guard_retry_s(struct guard *guard, const struct guard_who *who);

/*
 * Records that the sender's secret was right after a wait, or wrong without
 * one.
 */
void guard_right(struct guard *guard, const struct guard_who *who);
void guard_wrong(struct guard *guard, const struct guard_who *who);

/*
 * Whether a refusal of theirs gets a line in the log. Those that do not are
 * counted, and told in sum within a minute.
 */
bool guard_may_log(struct guard *guard, const struct guard_who *who);
