#include "tests/lmdb-schema/told.h"

#include <check.h>
#include <stdio.h>
#include <string.h>

char told[4096];
struct check_counts told_counts;

static void
tell(void *context, const struct fault *fault)
{
	size_t len = strlen(told);

	(void)context;
	snprintf(told + len, sizeof(told) - len, "%s: %s\n", fault->place,
	    fault->message);
}

void
told_check(struct store *store)
{
	told[0] = '\0';
	ck_assert_int_eq(
	    check_store(&told_counts, store, tell, NULL, NULL), ERR_OK);
}

void
told_must_have(const char *words)
{
	ck_assert_msg(strstr(told, words) != NULL, "told: %s", told);
}
