/*
 * urlrule: which URLs may be handed to a browser. What passes is one argument
 * that no program can take for an option or a file.
 */
#pragma once

#include "common/buf.h"
#include "common/err.h"
#include "common/span.h"

#define URL_MAX 2048

/*
 * Appends `url` as it may be opened: unchanged, but for a mailto: URL, which
 * loses its attachments. `schemes` is NULL-ended.
 *
 * ERR_DENIED, with a fault that begins "not allowed: ", for another scheme, a
 * name or password before the host, no host, blanks, control characters, a
 * backslash, or more than URL_MAX bytes.
 */
enum err urlrule_check(struct buf *out, struct span url,
    const char *const *schemes, struct fault *fault);
