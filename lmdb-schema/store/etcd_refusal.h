/*
 * etcd_refusal: what an answer of etcd with a status other than 200 says of its users,
 * and what to do about it.
 */
#pragma once

#include <stdbool.h>

#include "lmdb-schema/store/engine_trouble.h"

/*
 * `text` is etcd's (etcd_fault()), `user` of cluster.conf, "" where it names none, and
 * `name` the cluster's. `writes`: it was asked for a change of keys. False, and no
 * trouble: the answer is of something else.
 */
bool etcd_refusal(struct engine_trouble *out, const char *text,
    const char *user, const char *name, bool writes);
