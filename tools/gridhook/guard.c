/*
 * guard: an entry's `paid_ns` is the instant at which all its wrong secrets
 * are paid for, each with one interval of the rate; it may lie a burst ahead.
 */
#include "tools/gridhook/guard.h"

#include <arpa/inet.h>
#include <assert.h>
#include <netinet/in.h>
#include <stdlib.h>
#include <string.h>

#include "common/date.h"
#include "common/log.h"
#include "tools/gridhook/net/address.h"

#define ENTRIES 512
#define WAIT_MAX_MS 8000
#define WINDOW_MS 60000
#define LINES_EACH 10 /* a window */
#define LINES_ALL 100
#define NS_PER_MS INT64_C(1000000)
#define NS_PER_S INT64_C(1000000000)

struct guard_key {
	char kind; /* 'u'ser, '?' of this machine, '4', '6'; 0: free */
	uint8_t bytes[8];
};

struct entry {
	struct guard_key key;
	int64_t paid_ns;
	int64_t used_ns;
	unsigned lines, hidden;
	char peer[ADDRESS_TEXT_MAX]; /* the last that was hidden */
};

struct guard {
	struct loop_timer window;
	struct loop *loop;
	const struct hook_settings *settings;
	int64_t alert_until_ns;
	unsigned lines, hidden;
	struct entry entries[ENTRIES];
};

/* Of IPv6 a whole /64 is one sender's. */
static struct guard_key
key_of(const struct guard_who *who)
{
	const struct sockaddr_in6 *six = (const void *)who->address;
	const struct sockaddr_in *four = (const void *)who->address;
	struct guard_key key = {.kind = '?'};

	if (who->known) {
		key.kind = 'u';
		memcpy(key.bytes, &who->uid, sizeof(who->uid));
	} else if (address_is_loopback(who->address))
		return key;
	else if (who->address->ss_family == AF_INET6) {
		key.kind = '6';
		memcpy(key.bytes, &six->sin6_addr, sizeof(key.bytes));
	} else {
		key.kind = '4';
		memcpy(key.bytes, &four->sin_addr, sizeof(four->sin_addr));
	}
	return key;
}

static struct entry *
find(struct guard *guard, const struct guard_who *who)
{
	struct guard_key key = key_of(who);
	struct entry *entry, *oldest = guard->entries;
	int64_t now = date_monotonic_ns();

	for (size_t i = 0; i < ENTRIES; i++) {
		entry = &guard->entries[i];
		if (entry->key.kind == key.kind &&
		    memcmp(entry->key.bytes, key.bytes, sizeof(key.bytes)) ==
			0) {
			entry->used_ns = now;
			return entry;
		}
		if (entry->used_ns < oldest->used_ns)
			oldest = entry;
	}
	guard->hidden += oldest->hidden;
	*oldest = (struct entry){.key = key, .used_ns = now};
	return oldest;
}

/* --- waiting -------------------------------------------------------------- */

static int64_t
interval_ns(const struct guard *guard)
{
	return NS_PER_S / guard->settings->guess_rate;
}

static int64_t
burst_ns(const struct guard *guard)
{
	return interval_ns(guard) * guard->settings->guess_burst;
}

static void
pay(struct guard *guard, struct entry *entry)
{
	int64_t now = date_monotonic_ns();

	if (entry->paid_ns < now)
		entry->paid_ns = now;
	entry->paid_ns += interval_ns(guard);
	if (entry->paid_ns - burst_ns(guard) > guard->alert_until_ns)
		guard->alert_until_ns = entry->paid_ns - burst_ns(guard);
}

bool
guard_is_alert(const struct guard *guard)
{
	return guard->alert_until_ns > date_monotonic_ns();
}

/* Until the entry's next turn; 0 or less when there is one now. */
static int64_t
turn_ns(const struct guard *guard, const struct entry *entry)
{
	return entry->paid_ns - burst_ns(guard) - date_monotonic_ns();
}

int64_t
guard_wait(struct guard *guard, const struct guard_who *who)
{
	struct entry *entry = find(guard, who);
	int64_t ns = turn_ns(guard, entry);

	assert(who->address != NULL);
	if (ns <= 0)
		return 0;
	if (ns > WAIT_MAX_MS * NS_PER_MS)
		return -1;
	pay(guard, entry);
	return ns / NS_PER_MS + 1;
}

int64_t
guard_retry_s(struct guard *guard, const struct guard_who *who)
{
	int64_t ns = turn_ns(guard, find(guard, who)) - WAIT_MAX_MS * NS_PER_MS;

	assert(who->address != NULL);
	return ns > NS_PER_S ? (ns + NS_PER_S - 1) / NS_PER_S : 1;
}

void
guard_right(struct guard *guard, const struct guard_who *who)
{
	assert(who->address != NULL);
	find(guard, who)->paid_ns -= interval_ns(guard);
}

void
guard_wrong(struct guard *guard, const struct guard_who *who)
{
	assert(who->address != NULL);
	pay(guard, find(guard, who));
}

/* --- the log -------------------------------------------------------------- */

static void
tell_sums(struct guard *guard)
{
	struct entry *entry;
	unsigned told = 0;

	for (size_t i = 0; i < ENTRIES; i++) {
		entry = &guard->entries[i];
		if (entry->hidden > 0 && told++ < LINES_EACH)
			log_warn("refusals that were not shown: remote=%s "
				 "count=%u",
			    entry->peer, entry->hidden);
		else
			guard->hidden += entry->hidden;
		entry->lines = 0;
		entry->hidden = 0;
	}
	if (guard->hidden > 0)
		log_warn("refusals that were not shown, of further addresses: "
			 "count=%u",
		    guard->hidden);
	guard->lines = 0;
	guard->hidden = 0;
}

static void
end_window(struct loop_timer *timer)
{
	tell_sums((struct guard *)timer);
}

bool
guard_may_log(struct guard *guard, const struct guard_who *who)
{
	struct entry *entry = find(guard, who);

	assert(who->peer != NULL);
	if (guard->window.link == NULL)
		loop_timer_set(guard->loop, &guard->window, WINDOW_MS);
	if (entry->lines < LINES_EACH && guard->lines < LINES_ALL) {
		entry->lines++;
		guard->lines++;
		return true;
	}
	entry->hidden++;
	span_copy(entry->peer, sizeof(entry->peer), span_of(who->peer));
	return false;
}

/* -------------------------------------------------------------------------- */

enum err
guard_open(
    struct guard **out, struct loop *loop, const struct hook_settings *settings)
{
	struct guard *guard = calloc(1, sizeof(*guard));

	assert(loop != NULL && settings != NULL);
	*out = guard;
	if (guard == NULL)
		return ERR_NO_MEMORY;
	guard->loop = loop;
	guard->settings = settings;
	guard->window.fire = end_window;
	return ERR_OK;
}

void
guard_close(struct guard *guard)
{
	if (guard == NULL)
		return;
	tell_sums(guard);
	loop_timer_stop(&guard->window);
	free(guard);
}
