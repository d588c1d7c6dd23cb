/* stat_priv: for stat*.c only. */
#pragma once

#include "lmdb-schema/upkeep/stat.h"

/* Adds to `counts`. */
enum err stat_count_hooks(struct stat_hooks *counts, struct store *store);
