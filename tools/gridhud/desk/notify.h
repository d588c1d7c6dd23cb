/*
 * notify: messages as the desktop's own notifications
 * (org.freedesktop.Notifications). notify.c is a door to sd-bus; nothing here
 * waits for the bus.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "common/err.h"
#include "common/span.h"

struct notify;

/*
 * Actions of the user on a notification, named by its key; and the reason why
 * one was not shown, the first time and after each one that was.
 */
struct notify_ops {
	void (*open)(void *arg, uint64_t key);
	void (*acknowledge)(void *arg, uint64_t key);
	void (*failed)(void *arg, const char *reason);
};

struct notify_message {
	uint64_t key;
	struct span about; /* replaces one about the same; empty: none */
	struct span title, body;
	bool is_critical;
	bool is_silent; /* no sound */
	bool has_link; /* can be opened */
	bool is_alert; /* can be acknowledged */
};

/* False in a build without sd-bus. */
bool notify_is_there(void);

/* Connects to the session's bus; ERR_NOT_READY when there is none. */
enum err notify_open(struct notify **out, const char *app_name,
    const struct notify_ops *ops, void *arg);
void notify_close(struct notify *notify);

/*
 * The descriptor and events to poll for; -1 and none without a connection
 * (NULL).
 */
int notify_fd(const struct notify *notify);
short notify_events(const struct notify *notify);

/* Deals with what has come in; false when the connection is gone. */
bool notify_process(struct notify *notify);

void notify_show(struct notify *notify, const struct notify_message *message);

/* Withdraws the alerts' notifications for which `waits` says no. */
void notify_sweep(
    struct notify *notify, bool (*waits)(void *arg, uint64_t key), void *arg);
