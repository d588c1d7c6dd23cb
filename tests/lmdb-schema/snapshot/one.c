#include "tests/lmdb-schema/snapshot/one.h"

#include <check.h>

#include "common/num.h"
#include "tests/lmdb-schema/facts.h"

struct compute_result one_result;
struct snapshot *one_snap;
unsigned one_rows;

void
one_make(unsigned rows)
{
	one_rows = rows;
	facts_make();
	facts_import(rows, 3);
	facts_network("100001", 77 * NUM_MICRO);
	facts_gamme("BIG", "C000007", 2);
	ck_assert_int_eq(facts_compute("BIG", &one_result), ERR_OK);
	ck_assert_int_eq(snapshot_open(&one_snap, facts, SPAN("BIG"),
			     one_result.entry.generation),
	    ERR_OK);
}

void
one_drop(void)
{
	snapshot_close(one_snap);
	one_snap = NULL;
	facts_remove();
}
