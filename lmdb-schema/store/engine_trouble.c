#include "lmdb-schema/store/engine_trouble.h"

#include <pthread.h>
#include <stdio.h>
#include <string.h>

#include "common/date.h"
#include "common/log.h"
#include "common/seldom.h"
#include "lmdb-schema/store/engine.h"

/* Of each engine's: a failure is rare, and what is done within is short. */
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

void
engine_trouble(struct engine_trouble *out, struct engine *engine)
{
	pthread_mutex_lock(&lock);
	*out = engine->trouble;
	pthread_mutex_unlock(&lock);
}

void
engine_fails(struct engine *engine, const struct engine_trouble *trouble)
{
	pthread_mutex_lock(&lock);
	engine->trouble = *trouble;
	pthread_mutex_unlock(&lock);
}

static const struct engine_trouble none;

void
engine_works(struct engine *engine)
{
	engine_fails(engine, &none);
}

/* --- rights ---------------------------------------------------------------- */

bool
engine_lacks_rights(struct engine_trouble *out, struct engine *engine)
{
	pthread_mutex_lock(&lock);
	*out = engine->rights_trouble;
	pthread_mutex_unlock(&lock);
	return out->refusal[0] != '\0';
}

static void
set_rights(struct engine *engine, const struct engine_trouble *trouble)
{
	pthread_mutex_lock(&lock);
	engine->rights_trouble = *trouble;
	pthread_mutex_unlock(&lock);
}

void
engine_has_rights(struct engine *engine)
{
	set_rights(engine, &none);
	log_info("%s lets the nodes' user do all that a node does again",
	    engine->title);
}

void
engine_refuses(struct engine *engine, const struct engine_trouble *trouble,
    const char *where)
{
	char cause[ENGINE_REFUSAL_MAX + ENGINE_WHY_MAX + 64];
	uint64_t before;

	if (trouble->of_rights)
		set_rights(engine, trouble);
	else
		engine_fails(engine, trouble);
	snprintf(cause, sizeof(cause), "%s %s %s", engine->title,
	    trouble->refusal, trouble->why);
	if (seldom_fails_of(cause, &before, date_monotonic_ns()))
		log_error("%s %s%s: %s times=%llu error=%s: %s", engine->title,
		    trouble->refusal,
		    trouble->of_rights ? "" : ", nothing can be stored", where,
		    (unsigned long long)before + 1, trouble->why,
		    trouble->todo);
}

void
engine_tell_away(enum err err, struct engine *engine, struct fault *fault)
{
	struct engine_trouble trouble;

	if (err != ERR_AWAY || engine == NULL)
		return;
	engine_trouble(&trouble, engine);
	if (trouble.refusal[0] == '\0' && trouble.todo[0] == '\0')
		(void)engine_lacks_rights(&trouble, engine);
	if (trouble.refusal[0] == '\0')
		fault_set(fault, engine->title, "is out of reach");
	else
		fault_set(fault, engine->title, "%s: %s: %s", trouble.refusal,
		    trouble.why, trouble.todo);
}
