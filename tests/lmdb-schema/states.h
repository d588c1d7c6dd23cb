/*
 * states: a store in the scratch folder, for the tests of state.mdb. Checked
 * fixtures:
 *
 *	tcase_add_checked_fixture(tc, states_make, states_remove);
 *
 * Ranges are letters here, '-' for none; the supplier is "S" where none is
 * named.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "lmdb-schema/state/audit.h"
#include "lmdb-schema/state/proposal.h"
#include "lmdb-schema/store/store.h"

extern struct store *states; /* open between the two */

void states_make(void);
void states_remove(void);

/* Opens and closes the store by hand, for tests that use other processes. */
void states_open(void);
void states_close(void);

uint8_t states_code(char letter);
char states_letter(uint8_t gamme);

/* Imports the server range of an article. */
void states_server(const char *supplier, const char *codein, char letter);

/* A proposal for one article; true when it is pending now. */
bool states_propose(const char *author, const char *codein, char letter);

/* A decision about one article, whatever the buyer saw. */
enum proposal_outcome states_decide(
    enum proposal_action action, const char *codein, char letter);

/*
 * Adds that many entries to the trail, of the 10th of the month: entry i of
 * supplier S0 to S4, article A0 to A29, by "key 0" to "key 2".
 */
void states_month(int year, int month, unsigned count);

/*
 * A store whose trail has three months: entries 1 to 900 in January's file, 901
 * to 1000 in February's, the rest in state.mdb.
 */
void states_three_months(void);

/*
 * All that is pending, or validated, at a supplier as "codein=Xauthor ...",
 * borrowed until the next call.
 */
const char *states_pending(const char *supplier);
const char *states_validated(const char *supplier);

uint64_t states_version(const char *supplier);

/*
 * The audit trail from `number` on, an entry a line:
 * "event actor supplier codein gamme before\n". Borrowed until the next call.
 */
const char *states_audit(uint64_t number);
uint64_t states_audit_last(void);
