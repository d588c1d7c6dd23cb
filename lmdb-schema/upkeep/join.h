/*
 * join: how a cluster begins, and how a node comes to have its state
 * (docs/cluster.md). Each opens the data directory itself, and no other program
 * may use it meanwhile.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "common/err.h"

/*
 * Begins the cluster with the state of this data directory.
 *
 *   ERR_EXISTS     it has begun
 *   ERR_BAD_INPUT  this state is of a cluster already
 */
enum err join_begin(const char *dir, struct fault *fault);

/*
 * After etcd's loss: begins the next epoch with the state of this data
 * directory, which must have reached this number.
 *
 *   ERR_EXISTS     etcd has all that this node has, or a later epoch has begun
 *   ERR_BAD_INPUT  it is at another number
 */
enum err join_begin_again(
    uint64_t *epoch, const char *dir, uint64_t number, struct fault *fault);

struct joining {
	const char *holder; /* address of a node to ask first; NULL: none */
	bool anew; /* the state that is there may be replaced */
	/* The outcome: */
	uint64_t number, epoch, bytes;
	bool adopted; /* its state is of the epoch: nothing was replaced */
};

/*
 * Makes an empty data directory one of the cluster's, by the newest checkpoint
 * that can be had from other nodes. One that is there keeps all but its
 * state.mdb, of which state.mdb.before is the one that was replaced.
 *
 *   ERR_EXISTS     it has a state, and `anew` is not set
 *   ERR_NOT_FOUND  the cluster has not begun, or there is no checkpoint
 *   ERR_BUSY       another program uses it
 */
enum err join(const char *dir, struct joining *joining, struct fault *fault);

/*
 * Ends sharing: the data directory is a machine's on its own from then on. `told` is
 * false where the other nodes were not told of it, as there was no cluster.conf.
 */
enum err join_leave(bool *told, const char *dir, struct fault *fault);
