#include "lmdb-schema/state/rights.h"

#include <assert.h>
#include <stddef.h>

#include "lmdb-schema/pack.h"
#include "lmdb-schema/state/access.h"

static const char *const texts[] = {
    [ROLE_BUYER] = "buyer",
    [ROLE_MANAGER] = "manager",
    [ROLE_ADMINISTRATOR] = "administrator",
};

const char *
role_text(enum role role)
{
	assert(role >= ROLE_BUYER && role <= ROLE_ADMINISTRATOR);
	return texts[role];
}

bool
role_read(enum role *role, struct span text)
{
	for (unsigned i = ROLE_BUYER; i <= ROLE_ADMINISTRATOR; i++)
		if (span_eq(text, span_of(texts[i]))) {
			*role = (enum role)i;
			return true;
		}
	return false;
}

bool
rights_decide(const struct rights *rights, struct span supplier)
{
	return rights->role != ROLE_BUYER ||
	    access_sees(rights->suppliers, supplier);
}

bool
rights_share(const struct rights *rights)
{
	return rights->role != ROLE_BUYER;
}

bool
rights_ok(const struct rights *rights)
{
	return rights->role >= ROLE_BUYER &&
	    rights->role <= ROLE_ADMINISTRATOR &&
	    rights->suppliers.len <= ACCESS_SUPPLIERS_MAX &&
	    (rights->suppliers.len == 0 || rights->role == ROLE_BUYER);
}

void
rights_pack(struct buf *value, const struct rights *rights)
{
	assert(rights_ok(rights));
	pack_add_unsigned(value, rights->role);
	pack_add_text(value, rights->suppliers);
}

bool
rights_unpack(struct rights *rights, struct unpack *from)
{
	uint64_t role = unpack_unsigned(from);

	rights->role = role > ROLE_ADMINISTRATOR ? 0 : (enum role)role;
	rights->suppliers = unpack_text(from);
	return rights_ok(rights);
}
