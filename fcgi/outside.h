/*
 * outside: persons who have an account of the organisation, and no password
 * here. nginx asks the organisation's server (auth_request), and tells name and
 * groups in parameters that no header of a client can become; docs/access.md
 * has the contract. The settings of [outside] turn groups into rights.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "common/err.h"
#include "common/span.h"
#include "lmdb-schema/state/access.h"
#include "lmdb-schema/state/rights.h"

struct api_settings;

/*
 * The rights of a person of these groups, separated by commas: those of the
 * highest role. A buyer of several groups has the suppliers of all of them.
 * ERR_DENIED: no group has a role.
 */
enum err outside_rights(struct rights *rights,
    char suppliers[ACCESS_SUPPLIERS_MAX + 1],
    const struct api_settings *settings, struct span groups);

/* When a session ends that was begun then, and would last until `expires_ms`. */
int64_t outside_expires(const struct api_settings *settings, int64_t created_ms,
    int64_t expires_ms);

/*
 * Whether a session that was begun at `created_ms` is to be confirmed by the
 * organisation's server.
 */
bool outside_is_over(
    const struct api_settings *settings, int64_t created_ms, int64_t now_ms);
