#include "fcgi/key_rates.h"

#include <assert.h>

#define TRIED 16 /* slots that a key may stand in */
#define SECOND_NS INT64_C(1000000000)

static uint64_t
hash_of(struct span id)
{
	uint64_t hash = UINT64_C(0xcbf29ce484222325);

	for (size_t i = 0; i < id.len; i++)
		hash =
		    (hash ^ (unsigned char)id.ptr[i]) * UINT64_C(0x100000001b3);
	return hash == 0 ? 1 : hash;
}

/* The key's slot, a free one, or that of the key that has rested longest. */
static struct key_rate *
slot_of(struct key_rates *rates, uint64_t key)
{
	struct key_rate *oldest = NULL;

	for (unsigned i = 0; i < TRIED; i++) {
		struct key_rate *slot = &rates->slots[(key + i) % KEY_RATES];
		unsigned long long there = 0;

		if (atomic_compare_exchange_strong(&slot->key, &there, key) ||
		    there == key)
			return slot;
		if (oldest == NULL ||
		    atomic_load(&slot->paid_ns) < atomic_load(&oldest->paid_ns))
			oldest = slot;
	}
	atomic_store(&oldest->key, key);
	atomic_store(&oldest->paid_ns, 0);
	return oldest;
}

int64_t
key_rates_take(
    struct key_rates *rates, struct span id, int64_t per_minute, int64_t now_ns)
{
	int64_t step = 60 * SECOND_NS / per_minute;
	int64_t ahead = 60 * SECOND_NS - step;
	struct key_rate *slot = slot_of(rates, hash_of(id));
	long long paid = atomic_load(&slot->paid_ns);

	assert(per_minute > 0 && id.len > 0);
	for (;;) {
		long long from = paid > now_ns ? paid : now_ns;

		if (from - now_ns > ahead)
			return (from - now_ns - ahead + SECOND_NS - 1) /
			    SECOND_NS;
		if (atomic_compare_exchange_weak(
			&slot->paid_ns, &paid, from + step))
			return 0;
	}
}
