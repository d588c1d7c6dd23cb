/*
 * auth: who calls. X-API-Key alone decides when it is sent; else the bearer
 * token; else the session's cookie.
 */
#pragma once

#include "common/err.h"

struct call;

/*
 * Fills call->subject. ERR_DENIED: nobody; the answer is the same 401 whatever
 * was wrong. Another failure is the storage's.
 */
enum err auth_subject(struct call *call);

/* The 401 of every endpoint. */
void auth_refuse(struct call *call);
