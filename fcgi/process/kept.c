/*
 * A place's word says which thread owns the connection. Each arming gives the
 * word a new number, which epoll returns: an event of an earlier arming finds
 * another number there and is ignored.
 *
 *	OWNED   a thread serves it, or the place is free
 *	ARMING  being armed: a thread with its event waits a moment
 *	ARMED   waiting: any thread may take it
 *
 * ARMING keeps other threads away from a descriptor that epoll_ctl() is being
 * given: if it were closed meanwhile, its number could already belong to
 * another connection.
 */
#include "fcgi/process/kept.h"

#include <assert.h>
#include <errno.h>
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <sys/epoll.h>
#include <unistd.h>

#include "common/date.h"
#include "common/log.h"

enum { OWNED, ARMING, ARMED, STATES };

/*
 * In the upper half of epoll's data, which otherwise holds the number of the
 * arming.
 */
#define NO_TIME UINT32_MAX

/*
 * On a cache line of its own, since different threads serve neighbouring
 * places.
 */
struct place {
	_Alignas(64) _Atomic uint64_t word; /* times armed * STATES + state */
	atomic_llong since_ns;
	int fd;
	bool known; /* registered with epoll */
	struct kept_notes notes;
	uint32_t next; /* next free place */
};

struct kept_connections {
	int epoll, listener;
	uint32_t most;
	struct place *places;
	pthread_mutex_t lock; /* protects the members below */
	uint32_t free;
	uint32_t count;
	bool no_more;
};

/* --- places --------------------------------------------------------------- */

static uint64_t
word_of(uint64_t time, unsigned state)
{
	return time * STATES + state;
}

/*
 * The number in epoll's data and in a word: the lower 32 bits, never NO_TIME.
 */
static uint32_t
short_time(uint64_t time)
{
	return (uint32_t)(time % NO_TIME);
}

static bool
change(struct place *place, uint64_t from, uint64_t to)
{
	return atomic_compare_exchange_strong(&place->word, &from, to);
}

uint32_t
kept_add(struct kept_connections *kept, int fd)
{
	uint32_t number;

	assert(fd >= 0);
	pthread_mutex_lock(&kept->lock);
	number = kept->free;
	if (number != KEPT_NO_PLACE) {
		kept->free = kept->places[number].next;
		kept->count++;
	}
	pthread_mutex_unlock(&kept->lock);
	if (number != KEPT_NO_PLACE) {
		kept->places[number].fd = fd;
		kept->places[number].known = false;
		kept->places[number].notes = (struct kept_notes){0};
	}
	return number;
}

/* Clears the descriptor before freeing the place: a free place has none. */
void
kept_drop(struct kept_connections *kept, uint32_t number)
{
	struct place *place = &kept->places[number];

	assert(number < kept->most);
	assert(atomic_load(&place->word) % STATES == OWNED);
	close(place->fd);
	place->fd = -1;
	pthread_mutex_lock(&kept->lock);
	place->next = kept->free;
	kept->free = number;
	kept->count--;
	pthread_mutex_unlock(&kept->lock);
}

struct kept_notes *
kept_notes(struct kept_connections *kept, uint32_t number)
{
	assert(number < kept->most);
	return &kept->places[number].notes;
}

uint32_t
kept_count(struct kept_connections *kept)
{
	uint32_t count;

	pthread_mutex_lock(&kept->lock);
	count = kept->count;
	pthread_mutex_unlock(&kept->lock);
	return count;
}

/* --- the listener --------------------------------------------------------- */

static bool
watch_listener(struct kept_connections *kept)
{
	struct epoll_event event = {.events = EPOLLIN | EPOLLEXCLUSIVE,
	    .data.u64 = (uint64_t)NO_TIME << 32 | KEPT_LISTENER};

	return epoll_ctl(kept->epoll, EPOLL_CTL_ADD, kept->listener, &event) ==
	    0;
}

/*
 * Moves this process to the end of the kernel's queue for the listener: the
 * kernel wakes the process that has waited longest, and a connection stays with
 * the process that accepted it. Adding the listener again reports connections
 * that came meanwhile.
 */
static void
go_behind_others(struct kept_connections *kept)
{
	pthread_mutex_lock(&kept->lock);
	if (!kept->no_more) {
		epoll_ctl(kept->epoll, EPOLL_CTL_DEL, kept->listener, NULL);
		if (!watch_listener(kept)) {
			log_error("a worker accepts nobody any more, and ends");
			_exit(1);
		}
	}
	pthread_mutex_unlock(&kept->lock);
}

void
kept_no_more(struct kept_connections *kept)
{
	pthread_mutex_lock(&kept->lock);
	kept->no_more = true;
	epoll_ctl(kept->epoll, EPOLL_CTL_DEL, kept->listener, NULL);
	pthread_mutex_unlock(&kept->lock);
}

/* --- waiting -------------------------------------------------------------- */

void
kept_arm(struct kept_connections *kept, uint32_t number)
{
	struct place *place = &kept->places[number];
	uint64_t time = atomic_load(&place->word) / STATES + 1;
	bool first = !place->known;
	struct epoll_event event = {
	    .events = EPOLLIN | EPOLLRDHUP | EPOLLONESHOT,
	    .data.u64 = (uint64_t)short_time(time) << 32 | number};
	int fd = place->fd;

	assert(number < kept->most);
	place->known = true;
	atomic_store_explicit(
	    &place->since_ns, date_monotonic_ns(), memory_order_relaxed);
	atomic_store(&place->word, word_of(time, ARMING));
	if (epoll_ctl(kept->epoll, first ? EPOLL_CTL_ADD : EPOLL_CTL_MOD, fd,
		&event) == 0) {
		atomic_store(&place->word, word_of(time, ARMED));
		if (first)
			go_behind_others(kept);
		return;
	}
	log_error(
	    "a connection cannot be kept: %s", err_text(err_from_errno(errno)));
	atomic_store(&place->word, word_of(time, OWNED));
	kept_drop(kept, number);
}

static struct kept_found
found_at(struct kept_connections *kept, uint32_t number)
{
	struct place *place = &kept->places[number];

	return (struct kept_found){KEPT_CONNECTION, number, place->fd,
	    atomic_load_explicit(&place->since_ns, memory_order_relaxed)};
}

/* Takes the place of the event, if its arming is still the same. */
static bool
take(struct kept_found *found, struct kept_connections *kept, uint64_t data)
{
	uint32_t number = (uint32_t)data;
	struct place *place = &kept->places[number];

	for (;;) {
		uint64_t word = atomic_load(&place->word);

		if (short_time(word / STATES) != (uint32_t)(data >> 32) ||
		    word % STATES == OWNED)
			return false;
		if (word % STATES == ARMED &&
		    change(place, word, word_of(word / STATES, OWNED)))
			break;
		sched_yield();
	}
	*found = found_at(kept, number);
	return true;
}

bool
kept_wait(struct kept_found *found, struct kept_connections *kept)
{
	struct epoll_event event;
	int count = epoll_wait(kept->epoll, &event, 1, -1);

	assert(found != NULL && kept->epoll >= 0);
	if (count < 0 && errno != EINTR)
		log_error(
		    "epoll_wait failed: %s", err_text(err_from_errno(errno)));
	if (count != 1)
		return false;
	if (event.data.u64 >> 32 != NO_TIME)
		return take(found, kept, event.data.u64);
	*found = (struct kept_found){
	    (enum kept_what)(uint32_t)event.data.u64, KEPT_NO_PLACE, -1, 0};
	return true;
}

/* --- unasked -------------------------------------------------------------- */

/* While it is ARMED, no thread changes its other members. */
static bool
take_waiting(struct place *place, int64_t since_ns, bool served)
{
	uint64_t word = atomic_load(&place->word);

	return word % STATES == ARMED && (place->notes.served || !served) &&
	    atomic_load_explicit(&place->since_ns, memory_order_relaxed) <=
	    since_ns &&
	    change(place, word, word_of(word / STATES, OWNED));
}

bool
kept_take_any(struct kept_found *found, struct kept_connections *kept)
{
	assert(found != NULL);
	for (uint32_t i = 0; i < kept->most; i++)
		if (take_waiting(&kept->places[i], INT64_MAX, false)) {
			*found = found_at(kept, i);
			return true;
		}
	return false;
}

void
kept_expire(struct kept_connections *kept, int64_t since_ns)
{
	for (uint32_t i = 0; i < kept->most; i++)
		if (take_waiting(&kept->places[i], since_ns, false))
			kept_drop(kept, i);
}

void
kept_shed(struct kept_connections *kept)
{
	for (uint32_t i = 0; i < kept->most; i++)
		if (take_waiting(&kept->places[i], INT64_MAX, true))
			kept_drop(kept, i);
}

/* --- all of it ------------------------------------------------------------ */

static bool
watch(struct kept_connections *kept, int stop)
{
	struct epoll_event event = {
	    .events = EPOLLIN, .data.u64 = (uint64_t)NO_TIME << 32 | KEPT_STOP};

	kept->epoll = epoll_create1(EPOLL_CLOEXEC);
	return kept->epoll >= 0 && watch_listener(kept) &&
	    epoll_ctl(kept->epoll, EPOLL_CTL_ADD, stop, &event) == 0;
}

enum err
kept_open(struct kept_connections **out, int listener, int stop, uint32_t most)
{
	struct kept_connections *kept = calloc(1, sizeof(*kept));

	assert(listener >= 0 && most > 0);
	*out = NULL;
	if (kept == NULL)
		return ERR_NO_MEMORY;
	pthread_mutex_init(&kept->lock, NULL);
	kept->epoll = -1;
	kept->listener = listener;
	kept->most = most;
	kept->places =
	    aligned_alloc(_Alignof(struct place), most * sizeof(struct place));
	if (kept->places == NULL) {
		kept_close(kept);
		return ERR_NO_MEMORY;
	}
	for (uint32_t i = 0; i < most; i++)
		kept->places[i] = (struct place){
		    .fd = -1, .next = i + 1 < most ? i + 1 : KEPT_NO_PLACE};
	kept->free = most > 0 ? 0 : KEPT_NO_PLACE;
	if (!watch(kept, stop)) {
		kept_close(kept);
		return ERR_SYSTEM;
	}
	*out = kept;
	return ERR_OK;
}

void
kept_close(struct kept_connections *kept)
{
	if (kept == NULL)
		return;
	for (uint32_t i = 0; kept->places != NULL && i < kept->most; i++)
		if (kept->places[i].fd >= 0)
			close(kept->places[i].fd);
	if (kept->epoll >= 0)
		close(kept->epoll);
	pthread_mutex_destroy(&kept->lock);
	free(kept->places);
	free(kept);
}
