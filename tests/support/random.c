#include "tests/support/random.h"

/* Marsaglia's xorshift64. */
uint64_t
random_bits(void)
{
	static uint64_t state = UINT64_C(0x9e3779b97f4a7c15);

	state ^= state << 13;
	state ^= state >> 7;
	state ^= state << 17;
	return state;
}
