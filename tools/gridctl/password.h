/*
 * password: reads a secret from the operator: typed twice at a terminal without
 * echo, or the first line of standard input.
 */
#pragma once

#include <stddef.h>

#include "common/err.h"

/*
 * ERR_BAD_INPUT with a fault that says why: no line, too long, or the second
 * entry differs. The caller wipes `password` (digest_forget()).
 */
enum err password_read(char *password, size_t size, struct fault *fault);
