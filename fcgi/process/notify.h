/* notify: reports the state of the service to systemd, like sd_notify(3). */
#pragma once

/*
 * Sends "READY=1", "STOPPING=1" or "STATUS=...". Without $NOTIFY_SOCKET it does
 * nothing; a failure is logged.
 */
void notify(const char *state);
