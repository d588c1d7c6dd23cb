/*
 * limits: why the system refused a file, memory, room or a thread, for the operator
 * who raises a limit.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#define LIMITS_TEXT_MAX 192

/*
 * Describes an errno value. A limit of this process that is the cause comes with its
 * figure and with where it is set; any other value has strerror's text. Returns
 * `text`.
 */
const char *limits_why(char text[LIMITS_TEXT_MAX], int errnum);

/* The same of pthread_create() and fork(), whose EAGAIN has several causes. */
const char *limits_why_no_thread(char text[LIMITS_TEXT_MAX], int errnum);

/* The address space that this process may take; UINT64_MAX: no limit is set. */
uint64_t limits_addresses(void);

/* The length that a file of this process may have; UINT64_MAX: no limit is set. */
uint64_t limits_file_bytes(void);

/* Whether a file has that length: not one page more may be written to it. */
bool limits_ends(const char *path);

/* The address space that it has taken. */
uint64_t limits_addresses_taken(void);
