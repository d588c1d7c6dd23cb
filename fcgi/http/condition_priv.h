/* condition_priv: the reading of a condition, for condition*.c alone. */
#pragma once

#include "fcgi/http/condition.h"

/* A condition in the making. */
struct condition_reading {
	struct condition *out;
	struct arena *arena;
	struct fault *fault;
	enum condition_type type;
};

/* ERR_BAD_INPUT, with the rest of a sentence as the fault. */
enum err condition_refuse(
    const struct condition_reading *reading, const char *wrong);

/* A value of the condition's type. */
enum err condition_read_number(
    const struct condition_reading *reading, int64_t *out, struct span text);
enum err condition_read_code(
    const struct condition_reading *reading, unsigned *out, struct span text);

/* Folds the texts of the condition beside them. */
enum err condition_fold(const struct condition_reading *reading);

/* Reads "(A,B)": condition_list.c. */
enum err condition_read_list(
    const struct condition_reading *reading, struct span value);
