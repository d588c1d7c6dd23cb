/* aside: processes of the supervisor beside the workers, without its sockets. */
#pragma once

#include <sys/types.h>

#include "fcgi/process/listen.h"

/* As fork(); the child ends with the supervisor. */
pid_t aside_fork(const struct listen *listen);
