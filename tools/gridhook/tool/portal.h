/*
 * portal: org.freedesktop.portal.Desktop, which asks the person where an
 * application may not simply do a thing. A request is answered later, by a
 * signal; these calls wait for it.
 */
#pragma once

#include "common/err.h"
#include "common/span.h"

struct buf;

/*
 * A screenshot as PNG bytes.
 *
 *   ERR_NOT_FOUND  there is no portal
 *   ERR_DENIED     the person or the desktop said no
 *   ERR_TIMED_OUT  no answer
 */
enum err portal_screenshot(
    struct buf *png, int timeout_ms, struct fault *fault);

/* Opens a URL. ERR_TIMED_OUT: a question is probably still on the screen. */
enum err portal_open_url(const char *url, int timeout_ms, struct fault *fault);
