/* login_place: how many hash a password at once. */
#pragma once

#include "common/err.h"

struct call;

/*
 * Waits for one of the places; the caller close()s it. At most STORE_LOGINS hash
 * at once over all processes, and as many wait, a thread for each: all others
 * queue in nginx, where they cost next to nothing. ERR_ANSWERED: there is none.
 */
enum err login_place_take(int *place, struct call *call);
