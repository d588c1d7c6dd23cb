#include "fcgi/process/notify.h"

#include <assert.h>
#include <errno.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include "common/log.h"

/*
 * A path, or "@name" for one in the abstract space, without a NUL at its end.
 */
static int
send_state(const char *to, const char *state)
{
	struct sockaddr_un address = {.sun_family = AF_UNIX};
	size_t len = strlen(to);
	ssize_t sent;
	int fd;

	if (len == 0 || len >= sizeof(address.sun_path))
		return ENAMETOOLONG;
	memcpy(address.sun_path, to, len);
	if (to[0] == '@')
		address.sun_path[0] = '\0';
	fd = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0);
	if (fd < 0)
		return errno;
	sent = sendto(fd, state, strlen(state), MSG_NOSIGNAL,
	    (const struct sockaddr *)&address,
	    (socklen_t)(offsetof(struct sockaddr_un, sun_path) + len));
	close(fd);
	return sent < 0 ? errno : 0;
}

void
notify(const char *state)
{
	const char *to = getenv("NOTIFY_SOCKET");
	int failed;

	assert(state != NULL);
	if (to == NULL)
		return;
	failed = send_state(to, state);
	if (failed != 0)
		log_warn("systemd was not told: state=%s error=%s", state,
		    strerror(failed));
}
