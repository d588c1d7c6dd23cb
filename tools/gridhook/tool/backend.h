/* backend: what was found when this was configured. */
#pragma once

#include <stdbool.h>
#include <stdio.h>

/* "x11 yes", one a line. False when it could not be written. */
bool backend_print(FILE *file);
