/*
 * deposit DATA: for each line of standard input, a range's letter, proposes it
 * for the 10,000 articles 10000 … 19999 of supplier S1 in one transaction, and
 * prints how many milliseconds that took. What POST /gammes does in the store,
 * and nothing around it.
 *
 * deposit DATA close: moves the entries of the trail into parts of 20,000, as
 * if their months were over, and prints how many it moved.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/date.h"
#include "common/err.h"
#include "lmdb-schema/state/proposal.h"
#include "lmdb-schema/state/trail_close.h"
#include "lmdb-schema/store/store.h"

#define COUNT 10000
#define CODE_ROOM 8
#define PART_ENTRIES 20000

static struct proposal_change changes[COUNT];
static struct proposal_result results[COUNT];
static char codes[COUNT][CODE_ROOM];

static enum err
propose(struct store *store, struct span letter)
{
	const struct proposal_request request = {
	    SPAN("S1"), SPAN("robot"), changes, COUNT};
	int64_t start, when_ms;
	enum err err;

	for (unsigned i = 0; i < COUNT; i++)
		changes[i].gamme = row_gamme(letter);
	start = date_monotonic_ns();
	err = proposal_deposit(store, &request, results, &when_ms);
	if (err == ERR_OK)
		printf("%.3f\n", (double)(date_monotonic_ns() - start) / 1e6);
	fflush(stdout);
	return err;
}

static enum err
propose_all(struct store *store)
{
	char line[16];
	enum err err = ERR_OK;

	while (err == ERR_OK && fgets(line, sizeof(line), stdin) != NULL)
		err = propose(store, span_make(line, 1));
	return err;
}

static enum err
close_months(struct store *store)
{
	struct trail_closed closed;
	enum err err = trail_close(&closed, store, PART_ENTRIES, INT64_MAX);

	if (err == ERR_OK)
		printf("%llu\n", (unsigned long long)closed.entries);
	return err;
}

int
main(int argc, char **argv)
{
	struct store *store;
	struct fault fault;
	enum err err;

	if (argc != 2 && (argc != 3 || strcmp(argv[2], "close") != 0))
		return 2;
	for (unsigned i = 0; i < COUNT; i++) {
		snprintf(codes[i], CODE_ROOM, "%05u", 10000 + i);
		changes[i].codein = span_of(codes[i]);
	}
	fault_clear(&fault);
	err = store_open(&store, argv[1], &fault);
	if (err != ERR_OK) {
		fprintf(stderr, "%s %s\n", fault.place, fault.message);
		return 1;
	}
	err = argc == 2 ? propose_all(store) : close_months(store);
	store_close(store);
	return err == ERR_OK ? 0 : 1;
}
