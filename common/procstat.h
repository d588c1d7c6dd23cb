/* procstat: what a process of this machine uses, read from /proc. */
#pragma once

#include <stdint.h>
#include <sys/types.h>

#include "common/err.h"

struct procstat {
	int64_t cpu_us; /* its own, of all threads */
	int64_t children_cpu_us; /* of children that it has waited for */
	int64_t private_bytes; /* memory that is no file's and not shared */
	int64_t open_files;
};

/* ERR_NOT_FOUND: there is no such process, or it may not be looked at. */
enum err procstat_read(struct procstat *out, pid_t pid);

struct procstat_who {
	char name[17]; /* of its program; cut off as the kernel does */
	char state; /* 'R', 'S', ...; 'T': stopped by a signal */
	pid_t parent;
};

enum err procstat_who(struct procstat_who *out, pid_t pid);
