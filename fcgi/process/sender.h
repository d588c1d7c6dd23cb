/* sender: the process that sends what hooks wait for, gridctl hook deliver. */
#pragma once

#include <sys/types.h>

#include "fcgi/process/listen.h"
#include "fcgi/settings.h"

/* How long after its end the next one is started. */
#define SENDER_PAUSE_S 5

/* Starts it, if [hooks] deliver says so; 0: it does not, or it failed. */
pid_t sender_start(
    const struct api_settings *settings, const struct listen *listen);

/* Logs how a sender ended; `status` is that of waitpid(). */
void sender_tell(int status);
