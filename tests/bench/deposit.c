/*
 * deposit DATA: proposals in the store, and nothing around it: no HTTP, no keys.
 * Each line of standard input is a command; for each a line of standard output
 * says how many milliseconds it took, of the wall's clock and of the
 * processor, what it counts, and the bytes that it gave the kernel to write.
 * All articles are of one supplier, COUNT of them, 10000 …
 *
 *	propose SUPPLIER LETTER COUNT   one transaction, as POST /gammes has it
 *	save SUPPLIER                   all that is pending there
 *	import SUPPLIER LETTER COUNT    the server has these ranges now
 *	settle                          what has arrived by imports
 *	close ENTRIES                   moves the trail's months that are over
 *	                                into parts of so many entries at most
 *	archive FOLDER MONTHS           takes the older ones there
 *	now MS                          the clock of all that follows; 0: real
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "common/date.h"
#include "common/err.h"
#include "lmdb-schema/facts/live.h"
#include "lmdb-schema/state/proposal.h"
#include "lmdb-schema/state/trail_archive.h"
#include "lmdb-schema/state/trail_close.h"
#include "lmdb-schema/store/store.h"

#define COUNT 10000
#define CODE_ROOM 8
#define LINE_ROOM 4200

static struct proposal_change changes[COUNT];
static struct proposal_result results[COUNT];
static char codes[COUNT][CODE_ROOM];

#define WORDS 4 /* of a line */

struct command {
	char line[LINE_ROOM];
	const char *word[WORDS]; /* "" where there is none */
};

/* --- the clock ------------------------------------------------------------ */

static int64_t now_ms;

/* The linker puts these in place of date_now_ms(): Makefile.inc. */
int64_t __real_date_now_ms(void);
int64_t __wrap_date_now_ms(void);

int64_t
__wrap_date_now_ms(void)
{
	return now_ms != 0 ? now_ms : __real_date_now_ms();
}

static int64_t
processor_ns(void)
{
	struct timespec used;

	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &used);
	return (int64_t)used.tv_sec * 1000000000 + used.tv_nsec;
}

/* Of this process so far, whether they have reached a disk or not; 0: unknown. */
static unsigned long long
bytes_written(void)
{
	FILE *file = fopen("/proc/self/io", "re");
	unsigned long long bytes = 0;

	if (file == NULL)
		return 0;
	if (fscanf(file, "rchar: %*u wchar: %llu", &bytes) != 1)
		bytes = 0;
	fclose(file);
	return bytes;
}

/* --- commands ------------------------------------------------------------- */

static unsigned
count_of(const struct command *command)
{
	long count = strtol(command->word[3], NULL, 10);

	return count < 0 || count > COUNT ? COUNT : (unsigned)count;
}

static enum err
propose(struct store *store, const struct command *command, uint64_t *done)
{
	const struct proposal_request request = {span_of(command->word[1]),
	    SPAN("robot"), changes, count_of(command)};
	int64_t when_ms;

	for (unsigned i = 0; i < request.count; i++)
		changes[i].gamme = row_gamme(span_of(command->word[2]));
	*done = request.count;
	return proposal_deposit(store, &request, results, &when_ms);
}

static enum err
save(struct store *store, const struct command *command, uint64_t *done)
{
	const struct proposal_verdict verdict = {
	    .supplier = span_of(command->word[1]),
	    .actor = SPAN("buyer"),
	    .rest = PROPOSAL_SAVE_REST};

	return proposal_decide(store, &verdict, NULL, done);
}

static enum err
put_gammes(void *context, struct live_change *change)
{
	const struct command *command = context;
	unsigned count = count_of(command);
	enum err err = ERR_OK;

	for (unsigned i = 0; i < count && err == ERR_OK; i++)
		err = live_put_gamme(change, span_of(command->word[1]),
		    changes[i].codein, row_gamme(span_of(command->word[2])));
	return err;
}

static enum err
import(struct store *store, struct command *command, uint64_t *done)
{
	struct live_counts counts;
	enum err err = live_change_run(store, put_gammes, command, &counts);

	*done = counts.gammes;
	return err;
}

static enum err
settle(struct store *store, uint64_t *done)
{
	struct proposal_settled settled = {0, 0};
	enum err err = proposal_settle(store, SPAN("import"), true, &settled);

	*done = settled.arrived;
	return err;
}

static enum err
close_months(struct store *store, const struct command *command, uint64_t *done)
{
	struct trail_closed closed;
	enum err err = trail_close(&closed, store,
	    (uint32_t)strtoul(command->word[1], NULL, 10), INT64_MAX);

	*done = closed.entries;
	return err;
}

static enum err
archive(struct store *store, const struct command *command, uint64_t *done)
{
	int64_t months = strtoll(command->word[2], NULL, 10);
	struct fault fault;

	fault_clear(&fault);
	return trail_archive(done, store, command->word[1],
	    trail_archive_before(date_now_ms(), months), &fault);
}

static void
split(struct command *command)
{
	char *rest = command->line;

	for (unsigned i = 0; i < WORDS; i++) {
		char *word = strsep(&rest, " \n");

		command->word[i] = word == NULL ? "" : word;
	}
}

static enum err
run(struct store *store, struct command *command, uint64_t *done)
{
	const char *name = command->word[0];

	if (strcmp(name, "propose") == 0)
		return propose(store, command, done);
	if (strcmp(name, "save") == 0)
		return save(store, command, done);
	if (strcmp(name, "import") == 0)
		return import(store, command, done);
	if (strcmp(name, "settle") == 0)
		return settle(store, done);
	if (strcmp(name, "close") == 0)
		return close_months(store, command, done);
	if (strcmp(name, "archive") == 0)
		return archive(store, command, done);
	if (strcmp(name, "now") != 0)
		return ERR_BAD_INPUT;
	now_ms = strtoll(command->word[1], NULL, 10);
	return ERR_OK;
}

static enum err
run_all(struct store *store)
{
	struct command command;
	enum err err = ERR_OK;

	while (err == ERR_OK && fgets(command.line, LINE_ROOM, stdin) != NULL) {
		uint64_t done = 0;
		int64_t start, busy;
		unsigned long long written = bytes_written();

		split(&command);
		start = date_monotonic_ns();
		busy = processor_ns();
		err = run(store, &command, &done);
		if (err == ERR_OK)
			printf("%.3f %.3f %llu %llu\n",
			    (double)(date_monotonic_ns() - start) / 1e6,
			    (double)(processor_ns() - busy) / 1e6,
			    (unsigned long long)done,
			    bytes_written() - written);
		fflush(stdout);
	}
	return err;
}

int
main(int argc, char **argv)
{
	struct store *store;
	struct fault fault;
	enum err err;

	if (argc != 2)
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
	err = run_all(store);
	if (err != ERR_OK)
		fprintf(stderr, "deposit: %s\n", err_text(err));
	store_close(store);
	return err == ERR_OK ? 0 : 1;
}
