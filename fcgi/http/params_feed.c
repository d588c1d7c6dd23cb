/* Parameters of the feed of proposals. */
#include <assert.h>
#include <stddef.h>

#include "common/date.h"
#include "fcgi/http/params_priv.h"

void
params_read_states(struct trouble *trouble, const struct param_info *info,
    struct span value, void *out)
{
	struct span name, rest = value;
	unsigned states = 0, place;

	while (span_cut(&name, &rest, ',')) {
		for (place = 0; place < FEED_STATES; place++)
			if (span_eq(name, feed_state_names[place]))
				break;
		if (place == FEED_STATES) {
			params_wrong(trouble, info->name,
			    "must be some of proposee, validee, rejetee, "
			    "retiree, modifiee, arrivee, separated by commas");
			return;
		}
		states |= 1u << place;
	}
	*(unsigned *)out = states;
}

void
params_read_cursor(struct trouble *trouble, const struct param_info *info,
    struct span value, void *out)
{
	struct params *params =
	    (struct params *)((char *)out - offsetof(struct params, since));

	params->has_since = true;
	if (!feed_cursor(&params->since, value))
		params_wrong(trouble, info->name,
		    "must be meta.suivant of an earlier answer");
}

void
params_read_moment(struct trouble *trouble, const struct param_info *info,
    struct span value, void *out)
{
	int32_t day;

	if (date_instant(out, value))
		return;
	if (date_day(&day, value))
		*(int64_t *)out = (int64_t)day * 86400000;
	else
		params_wrong(trouble, info->name,
		    "must be a day, 2026-11-21, or a moment, "
		    "2026-11-21T10:33:42Z");
}

void
params_finish_moments(struct trouble *trouble, const struct params *params)
{
	assert(trouble != NULL && params != NULL);
	if (params->until_ms != 0 && params->until_ms < params->from_ms)
		params_wrong(trouble, "au", "must not be before du");
}
