#include "fcgi/outside.h"

#include <assert.h>
#include <string.h>

#include "fcgi/settings.h"

_Static_assert(SETTINGS_BUYERS_MAX <= ACCESS_SUPPLIERS_MAX,
    "the codes of all groups fit into a list of suppliers");

static bool
is_among(struct span groups, struct span wanted)
{
	struct span group, rest = groups;

	while (rest.len > 0 && span_cut(&group, &rest, ','))
		if (wanted.len > 0 && span_eq(span_trim(group), wanted))
			return true;
	return false;
}

static bool
any_among(struct span groups, const char *setting)
{
	struct span one, rest = span_of(setting);

	while (rest.len > 0 && span_cut(&one, &rest, ','))
		if (is_among(groups, span_trim(one)))
			return true;
	return false;
}

/* The codes of "fruits=12345 12346", each ended by '\n', behind *len bytes. */
static void
add_codes(
    char suppliers[ACCESS_SUPPLIERS_MAX + 1], size_t *len, struct span codes)
{
	struct span code, rest = codes;

	while (rest.len > 0 && span_cut(&code, &rest, ' ')) {
		if (code.len == 0)
			continue;
		/* The setting is no longer than that: settings_check(). */
		assert(*len + code.len + 1 <= ACCESS_SUPPLIERS_MAX);
		memcpy(suppliers + *len, code.ptr, code.len);
		*len += code.len;
		suppliers[(*len)++] = '\n';
	}
}

/* Whether a group makes a buyer; *all when one does so for all suppliers. */
static bool
find_buyer(bool *all, char suppliers[ACCESS_SUPPLIERS_MAX + 1], size_t *len,
    struct span groups, const char *setting)
{
	struct span one, rest = span_of(setting);
	bool found = false;

	*all = false;
	while (rest.len > 0 && span_cut(&one, &rest, ',')) {
		size_t end = span_find(one, '=');
		size_t before = *len;

		if (!is_among(groups, span_trim(span_sub(one, 0, end))))
			continue;
		found = true;
		add_codes(suppliers, len, span_from(one, end + 1));
		*all |= *len == before;
	}
	return found;
}

enum err
outside_rights(struct rights *rights, char suppliers[ACCESS_SUPPLIERS_MAX + 1],
    const struct api_settings *settings, struct span groups)
{
	size_t len = 0;
	bool all;

	*rights = (struct rights){.role = ROLE_ADMINISTRATOR};
	if (any_among(groups, settings->outside_administrators))
		return ERR_OK;
	rights->role = ROLE_MANAGER;
	if (any_among(groups, settings->outside_managers))
		return ERR_OK;
	rights->role = ROLE_BUYER;
	if (!find_buyer(
		&all, suppliers, &len, groups, settings->outside_buyers))
		return ERR_DENIED;
	if (!all)
		rights->suppliers = span_make(suppliers, len);
	return ERR_OK;
}

int64_t
outside_expires(
    const struct api_settings *settings, int64_t created_ms, int64_t expires_ms)
{
	int64_t latest_ms = created_ms + settings->outside_s * 1000;

	return latest_ms < expires_ms ? latest_ms : expires_ms;
}

bool
outside_is_over(
    const struct api_settings *settings, int64_t created_ms, int64_t now_ms)
{
	int64_t age_ms = now_ms - created_ms;

	/* A clock that was set back makes no session eternal. */
	return !settings->outside || age_ms < -60000 ||
	    age_ms >= settings->outside_s * 1000;
}
