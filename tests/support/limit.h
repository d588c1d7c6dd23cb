/*
 * limit: a disk that is full, as far as this process can tell: no file of it
 * may grow beyond so many bytes.
 */
#pragma once

#include <stddef.h>

void limit_files(size_t bytes);

/* As it was before. */
void limit_end(void);
