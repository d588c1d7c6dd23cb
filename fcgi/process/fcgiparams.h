/*
 * fcgiparams: the parameters of a request, parsed from its head. The door to
 * libfcgi, which gets only heads that incoming.h has read and found sound.
 */
#pragma once

#include "common/err.h"
#include "common/span.h"

struct fcgiparams; /* used by one thread */

/*
 * Call once in a process, before the first fcgiparams_new(). ERR_SYSTEM:
 * libfcgi cannot be used.
 */
enum err fcgiparams_begin(void);

/* ERR_NO_MEMORY, ERR_SYSTEM with errno. */
enum err fcgiparams_new(struct fcgiparams **out);
void fcgiparams_free(struct fcgiparams *params);

/*
 * "NAME=value" texts, ended by NULL, valid until fcgiparams_release(), which
 * must be called after a failure as well.
 */
enum err fcgiparams_parse(
    char ***texts, struct fcgiparams *params, struct span head);
void fcgiparams_release(struct fcgiparams *params);
