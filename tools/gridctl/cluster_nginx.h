/*
 * cluster_nginx: what nginx needs of a node, for gridctl cluster nginx, which prints
 * it, and gridctl doctor, which compares it with what nginx has.
 */
#pragma once

#include "common/buf.h"
#include "common/err.h"

#define CLUSTER_NGINX_MAX (1 << 20)

/* Adds it to `out`; the fault says what of cluster.conf is not right. */
enum err cluster_nginx_text(
    struct buf *out, const char *data, struct fault *fault);
