#include "tools/gridhud/app/policy.h"

#include <assert.h>

static enum utterance
what_to_say(const struct policy_facts *facts, bool high)
{
	if (facts->replayed || facts->duplicate)
		return SAY_NOTHING;
	if (facts->failure && facts->speak_failures)
		return SAY_FAILURE;
	if (facts->silenced || !facts->speech_on)
		return SAY_NOTHING;
	if ((high || (facts->asked && !facts->muted)) &&
	    !(facts->quiet && facts->quiet_strict))
		return facts->failure ? SAY_FAILURE : SAY_SUMMARY;
	if (facts->quiet || facts->muted)
		return SAY_NOTHING;
	return facts->failure ? SAY_FAILURE : SAY_SUMMARY;
}

struct verdict
policy_decide(const struct policy_facts *facts)
{
	struct verdict verdict = {.priority = facts->priority};
	bool high;

	assert(facts->priority < PRIORITY_COUNT);
	if (facts->matched && verdict.priority < PRIORITY_HIGH)
		verdict.priority = PRIORITY_HIGH;
	high = verdict.priority >= PRIORITY_HIGH;
	verdict.say = what_to_say(facts, high);
	verdict.counts = !facts->duplicate;
	verdict.in_summary = facts->replayed && !facts->duplicate;
	verdict.alert = !facts->duplicate &&
	    (facts->failure || verdict.priority == PRIORITY_CRITICAL ||
		(facts->firing && high));
	verdict.bell = !facts->replayed && !facts->duplicate &&
	    (facts->failure ||
		(high && !facts->silenced &&
		    !(facts->quiet && facts->quiet_strict)));
	return verdict;
}

bool
policy_speaks_summary(unsigned failures, const struct policy_facts *facts)
{
	if (failures > 0 && facts->speak_failures)
		return true;
	return facts->speech_on && !facts->quiet;
}
