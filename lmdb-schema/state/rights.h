/*
 * rights: what a person may do in the Grid screen, beside reading.
 *
 *	                      buyer            manager  administrator
 *	save, cancel          chosen suppliers,   all   all
 *	                      or all
 *	share views           -                   yes   yes
 *	API keys              -                   -     yes
 *
 * Stored behind the other members of a user or a session, packed: unsigned
 * role, text suppliers. A user's record without them is an administrator's,
 * as all users were before there were roles.
 */
#pragma once

#include <stdbool.h>

#include "common/span.h"

struct buf;
struct unpack;

enum role { ROLE_BUYER = 1, ROLE_MANAGER = 2, ROLE_ADMINISTRATOR = 3 };

struct rights {
	enum role role;
	/* Of a buyer, access.h's list: those to decide for; empty: all. */
	struct span suppliers;
};

/* "buyer", "manager", "administrator". */
const char *role_text(enum role role);
bool role_read(enum role *role, struct span text);

/* Whether the person may save and cancel ranges of the supplier. */
bool rights_decide(const struct rights *rights, struct span supplier);

/* Whether the person may change the views that all share. */
bool rights_share(const struct rights *rights);

/* Only a buyer has a list, of ACCESS_SUPPLIERS_MAX bytes at most. */
bool rights_ok(const struct rights *rights);

void rights_pack(struct buf *value, const struct rights *rights);

/* False for rights that nothing of ours has written. */
bool rights_unpack(struct rights *rights, struct unpack *from);
