/* Internals of conf*.c. */
#pragma once

#include "common/conf.h"

/* The setting's row, or NULL; without a name the section's first one. */
const struct conf_row *conf_find(const struct conf_row *rows, size_t count,
    const char *section, const char *name);

/* As conf_set(); `place` is where the value stands, "[section] name" or a line. */
enum err conf_set_at(void *settings, const struct conf_row *rows, size_t count,
    const char *section, const char *name, const char *value, const char *place,
    struct fault *fault);
