/*
 * steps: the steps of a request that serve.c takes for each that comes in, and
 * within.c for one that an endpoint makes. Each gives ERR_OK to go on, or
 * ERR_ANSWERED.
 */
#pragma once

#include "common/err.h"

struct call;

/* The request's address -> call->query. */
enum err steps_query(struct call *call);

/* call->query -> call->params, by what the route knows. */
enum err steps_params(struct call *call);

/*
 * Behind the last step: any failure but ERR_ANSWERED means that memory is out or
 * that the storage is damaged or unreadable, which the door to it has logged.
 * Its 500 is made here and nowhere else.
 */
void steps_end(struct call *call, enum err err);
