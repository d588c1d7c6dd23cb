/*
 * fcgiparams: the parameters of a request, out of its head. The door to libfcgi,
 * which gets heads that incoming.h has read and found sound, and nothing else.
 */
#pragma once

#include "common/err.h"
#include "common/span.h"

struct fcgiparams; /* of one thread */

/*
 * Once a process, before the first fcgiparams_new(): ERR_SYSTEM when libfcgi
 * cannot be used.
 */
enum err fcgiparams_begin(void);

/* ERR_NO_MEMORY, ERR_SYSTEM with errno. */
enum err fcgiparams_new(struct fcgiparams **out);
void fcgiparams_free(struct fcgiparams *params);

/*
 * "NAME=value" texts, the last one NULL, until fcgiparams_release(); which is
 * to be called also after a failure.
 */
enum err fcgiparams_parse(
    char ***texts, struct fcgiparams *params, struct span head);
void fcgiparams_release(struct fcgiparams *params);
