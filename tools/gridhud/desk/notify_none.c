/* A build without sd-bus: no notifications. */
#include "tools/gridhud/desk/notify.h"

bool
notify_is_there(void)
{
	return false;
}

enum err
notify_open(struct notify **out, const char *app_name,
    const struct notify_ops *ops, void *arg)
{
	(void)app_name;
	(void)ops;
	(void)arg;
	*out = NULL;
	return ERR_NOT_READY;
}

void
notify_close(struct notify *notify)
{
	(void)notify;
}

int
notify_fd(const struct notify *notify)
{
	(void)notify;
	return -1;
}

short
notify_events(const struct notify *notify)
{
	(void)notify;
	return 0;
}

bool
notify_process(struct notify *notify)
{
	(void)notify;
	return false;
}

void
notify_show(struct notify *notify, const struct notify_message *message)
{
	(void)notify;
	(void)message;
}

void
notify_sweep(
    struct notify *notify, bool (*waits)(void *arg, uint64_t key), void *arg)
{
	(void)notify;
	(void)waits;
	(void)arg;
}
