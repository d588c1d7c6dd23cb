/*
 * password: a secret from whoever runs a command: typed twice at a terminal
 * that does not show it, or the first line of standard input.
 */
#pragma once

#include <stddef.h>

#include "common/err.h"

/*
 * ERR_BAD_INPUT with a fault that says why: no line, too long, or the second
 * one differs. The caller forgets `password` (digest_forget()).
 */
enum err password_read(char *password, size_t size, struct fault *fault);
