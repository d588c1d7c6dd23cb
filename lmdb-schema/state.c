#include "lmdb-schema/state.h"

const char *const state_tables[STATE_TABLES] = {"meta", "keys", "users",
    "sessions", "pending", "validated", "audit", "versions"};
