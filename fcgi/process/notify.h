/* notify: tells systemd how the service is, as sd_notify(3) does. */
#pragma once

/*
 * "READY=1", "STOPPING=1", "STATUS=...". Without $NOTIFY_SOCKET it does
 * nothing; what cannot be sent is logged.
 */
void notify(const char *state);
