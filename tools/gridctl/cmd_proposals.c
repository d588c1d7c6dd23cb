/*
 * gridctl proposals list, save, cancel, log: a buyer's work in the Grid screen,
 * for an operator.
 */
#include <assert.h>
#include <stdio.h>
#include <stdlib.h>

#include "common/arena.h"
#include "common/jsonw.h"
#include "common/opt.h"
#include "common/utf8.h"
#include "lmdb-schema/facts/source.h"
#include "lmdb-schema/state/proposal.h"
#include "lmdb-schema/state/trail.h"
#include "lmdb-schema/store/store.h"
#include "tools/gridctl/cmd.h"

/* Of --last: entries, and bytes of their texts. */
#define NEWEST_MAX 100000
#define NEWEST_BYTES ((size_t)256 << 20)

struct options {
	const char *codein;
	int64_t from, last;
	bool json, all, validated;
};

#define JSON_ROW \
	{ \
		"--json", 0, OPT_FLAG, offsetof(struct options, json), 0, 0, \
		    NULL, "as a JSON array" \
	}

static const struct opt_row list_rows[] = {
    {"--validated", 0, OPT_FLAG, offsetof(struct options, validated), 0, 0,
	NULL, "the validated changes that have not arrived yet, instead"},
    JSON_ROW,
};

static const struct opt_spec list_spec = {
    .usage = "gridctl [--data DIR] proposals list [OPTION]... [SUPPLIER]",
    .about = "Lists the pending proposals of one supplier, or of all, with "
	     "their authors.",
    .rows = list_rows,
    .count = sizeof(list_rows) / sizeof(list_rows[0]),
    .args_max = 1,
};

static const struct opt_row decide_rows[] = {
    {"--all", 0, OPT_FLAG, offsetof(struct options, all), 0, 0, NULL,
	"all that is pending at this supplier"},
};

static const struct opt_spec save_spec = {
    .usage = "gridctl [--data DIR] proposals save SUPPLIER CODEIN... | --all",
    .about =
	"Validates proposed ranges: the rows show them as codeGamme at "
	"once. 'gammes export' writes them until they arrive as server ranges.",
    .rows = decide_rows,
    .count = 1,
    .args_min = 1,
    .args_max = -1,
};

static const struct opt_spec cancel_spec = {
    .usage = "gridctl [--data DIR] proposals cancel SUPPLIER CODEIN... | "
	     "--all",
    .about = "Rejects proposed ranges.",
    .rows = decide_rows,
    .count = 1,
    .args_min = 1,
    .args_max = -1,
};

static const struct opt_row log_rows[] = {
    {"--codein", 0, OPT_TEXT, offsetof(struct options, codein), 0, 0, "CODEIN",
	"what happened to this article only"},
    {"--from", 0, OPT_INT, offsetof(struct options, from), 0, INT64_MAX, "N",
	"from this entry on (default 1)"},
    {"--last", 0, OPT_INT, offsetof(struct options, last), 1, NEWEST_MAX, "N",
	"the newest N only: few files are read for them"},
    JSON_ROW,
};

static const struct opt_spec log_spec = {
    .usage = "gridctl [--data DIR] proposals log [OPTION]... [SUPPLIER]",
    .about = "Prints the audit trail, oldest entry first: who did what when.",
    .rows = log_rows,
    .count = sizeof(log_rows) / sizeof(log_rows[0]),
    .args_max = 1,
};

/* --- list and log --------------------------------------------------------- */

/* The newest entries so far, newest first. */
struct newest {
	struct buf entries; /* struct audit_entry of each */
	struct arena *texts;
	int64_t left;
};

struct listing {
	struct state_view *view;
	struct buf text;
	struct jsonw json;
	const struct options *options;
	const char *named; /* the supplier given; NULL: all */
	struct span supplier, codein; /* empty: all */
	struct newest newest; /* with --last */
};

static void
add_member(struct jsonw *json, const char *name, struct span text)
{
	jsonw_key(json, name);
	if (text.len == 0)
		jsonw_null(json);
	else
		jsonw_string(json, text);
}

/* Behind the last column, and the end of the line. */
static void
add_motif(struct buf *text, struct span motif)
{
	if (motif.len > 0) {
		buf_add_text(text, ": ");
		utf8_show(text, motif);
	}
	buf_add_char(text, '\n');
}

static enum err
add_proposal(void *context, struct span codein, const struct proposal *proposal)
{
	struct listing *listing = context;
	struct jsonw *json = &listing->json;
	char when[DATE_TEXT_MAX];

	if (listing->options->json) {
		jsonw_object_begin(json);
		add_member(json, "fournisseur", listing->supplier);
		add_member(json, "codein", codein);
		add_member(json, "gamme", row_gamme_text(proposal->gamme));
		add_member(json, "author", proposal->author);
		cmd_json_time(json, "at", proposal->when_ms);
		add_member(json, "motif", proposal->motif);
		jsonw_object_end(json);
		return buf_end(&listing->text);
	}
	cmd_time(when, proposal->when_ms);
	buf_addf(&listing->text, "%-10.*s %-12.*s %-5.*s  %-24s  %.*s",
	    SPAN_ARG(listing->supplier), SPAN_ARG(codein),
	    SPAN_ARG(row_gamme_text(proposal->gamme)), when,
	    SPAN_ARG(proposal->author));
	add_motif(&listing->text, proposal->motif);
	return buf_end(&listing->text);
}

static enum err
list_supplier(
    void *context, struct span supplier, const struct proposal_counts *counts)
{
	struct listing *listing = context;

	(void)counts;
	listing->supplier = supplier;
	return (listing->options->validated ? proposal_validated
					    : proposal_pending)(
	    listing->view, supplier, add_proposal, listing);
}

static enum err
list_all(struct listing *listing)
{
	if (!listing->options->json)
		buf_addf(&listing->text, "%-10s %-12s %-5s  %-24s  %s\n",
		    "supplier", "codein", "range", "when", "author");
	if (listing->named != NULL)
		return list_supplier(listing, listing->supplier, NULL);
	return proposal_suppliers(listing->view, list_supplier, listing);
}

static bool
is_wanted(const struct listing *listing, const struct audit_entry *entry)
{
	return (listing->supplier.len == 0 ||
		   span_eq(listing->supplier, entry->supplier)) &&
	    (listing->codein.len == 0 ||
		span_eq(listing->codein, entry->codein));
}

/*
 * With the blanks behind it, one at least. A history has thousands of lines, and
 * printf() takes most of its time.
 */
static void
add_column(struct buf *text, struct span value, size_t width)
{
	static const char blanks[] = "                            ";
	size_t left = value.len < width ? width - value.len : 1;

	assert(width < sizeof(blanks));
	buf_add_span(text, value);
	buf_add(text, blanks, left);
}

static enum err
add_entry(void *context, const struct audit_entry *entry)
{
	struct listing *listing = context;
	struct jsonw *json = &listing->json;
	char when[DATE_TEXT_MAX];

	if (!is_wanted(listing, entry))
		return ERR_OK;
	if (listing->options->json) {
		jsonw_object_begin(json);
		jsonw_key(json, "number");
		jsonw_int(json, (int64_t)entry->number);
		cmd_json_time(json, "at", entry->when_ms);
		add_member(json, "event", entry->event);
		add_member(json, "actor", entry->actor);
		add_member(json, "fournisseur", entry->supplier);
		add_member(json, "codein", entry->codein);
		add_member(json, "gamme", entry->gamme);
		add_member(json, "before", entry->before);
		add_member(json, "motif", entry->motif);
		add_member(json, "proposedBy", entry->author);
		cmd_json_time(json, "proposedAt", entry->proposed_ms);
		jsonw_object_end(json);
		return buf_end(&listing->text);
	}
	cmd_time(when, entry->when_ms);
	buf_addf(&listing->text, "%8llu  ", (unsigned long long)entry->number);
	add_column(&listing->text, span_of(when), 26);
	add_column(&listing->text, entry->event, 13);
	add_column(&listing->text, entry->supplier, 11);
	add_column(&listing->text, entry->codein, 13);
	add_column(&listing->text, entry->gamme, 6);
	add_column(&listing->text, entry->before, 7);
	buf_add_span(&listing->text, entry->actor);
	add_motif(&listing->text, entry->motif);
	return buf_end(&listing->text);
}

/* The entries that may be wanted, from `from` on; with `back` newest first. */
static enum err
each_entry(struct listing *listing, uint64_t from, bool back,
    enum err (*each)(void *context, const struct audit_entry *entry))
{
	const struct trail_article article = {.supplier = listing->supplier,
	    .codein = listing->codein,
	    .from = back ? 0 : from,
	    .back = back};
	const struct trail_wanted wanted = {.supplier = listing->supplier};

	return listing->codein.len > 0
	    ? trail_history(listing->view, &article, each, listing)
	    : trail_each(listing->view, &wanted, from, back, each, listing);
}

static enum err
keep_entry(struct newest *newest, const struct audit_entry *entry)
{
	struct audit_entry copy = *entry;
	struct span *const texts[] = {&copy.event, &copy.actor, &copy.supplier,
	    &copy.codein, &copy.gamme, &copy.before, &copy.motif, &copy.author,
	    &copy.recorded};

	for (unsigned i = 0; i < sizeof(texts) / sizeof(texts[0]); i++) {
		*texts[i] = arena_copy(newest->texts, *texts[i]);
		if (texts[i]->ptr == NULL)
			return ERR_NO_MEMORY;
	}
	buf_add(&newest->entries, &copy, sizeof(copy));
	return buf_end(&newest->entries);
}

static enum err
keep_newest(void *context, const struct audit_entry *entry)
{
	struct listing *listing = context;
	struct newest *newest = &listing->newest;
	enum err err;

	if (entry->number < (uint64_t)listing->options->from)
		return ERR_EXISTS;
	if (!is_wanted(listing, entry))
		return ERR_OK;
	err = keep_entry(newest, entry);
	return err == ERR_OK && --newest->left == 0 ? ERR_EXISTS : err;
}

/* Reads the newest entries first, and shows them the other way. */
static enum err
log_newest(struct listing *listing)
{
	struct newest *newest = &listing->newest;
	const struct audit_entry *entries;
	uint64_t last;
	enum err err = trail_last(listing->view, &last);

	newest->left = listing->options->last;
	newest->texts = arena_new(NEWEST_BYTES);
	if (newest->texts == NULL)
		err = ERR_NO_MEMORY;
	buf_init(&newest->entries, NEWEST_BYTES);
	if (err == ERR_OK)
		err = each_entry(listing, last + 1, true, keep_newest);
	if (err == ERR_EXISTS)
		err = ERR_OK;
	entries = (const void *)newest->entries.data;
	for (size_t i = newest->entries.len / sizeof(*entries);
	     i > 0 && err == ERR_OK; i--)
		err = add_entry(listing, &entries[i - 1]);
	buf_fini(&newest->entries);
	arena_free(newest->texts);
	return err;
}

static enum err
log_all(struct listing *listing)
{
	if (!listing->options->json)
		buf_addf(&listing->text,
		    "%8s  %-24s  %-12s %-10s %-12s %-5s %-5s  %s\n", "entry",
		    "when", "event", "supplier", "codein", "range", "was",
		    "actor");
	return listing->options->last > 0
	    ? log_newest(listing)
	    : each_entry(
		  listing, (uint64_t)listing->options->from, false, add_entry);
}

/*
 * True for a supplier that the facts name, or whose ranges have ever changed.
 */
static enum err
is_known(const struct listing *listing, struct store *store)
{
	struct source_supplier supplier;
	struct source *source;
	enum err err;

	if (proposal_version(listing->view, listing->supplier) != 0)
		return ERR_OK;
	err = source_open(&source, store);
	if (err == ERR_OK)
		err = source_supplier(source, listing->supplier, &supplier);
	source_close(source);
	return err;
}

static int
tell_failure(const char *command, const struct listing *listing, enum err err)
{
	struct fault fault;

	fault_clear(&fault);
	if (err == ERR_NOT_FOUND && listing->named != NULL)
		fault_set(&fault, listing->named,
		    "there is no such supplier ('gridctl suppliers' lists "
		    "them)");
	return cmd_fail(command, err, &fault);
}

static int
show(const char *command, struct listing *listing,
    enum err (*fill)(struct listing *listing))
{
	struct store *store;
	int result = cmd_open_to_look(&store, command);
	enum err err;

	if (result != CMD_DONE)
		return result;
	listing->supplier = span_of(listing->named);
	buf_init(&listing->text, (size_t)1 << 34);
	jsonw_init(&listing->json, &listing->text);
	if (listing->options->json)
		jsonw_array_begin(&listing->json);
	err = state_view_open(&listing->view, store);
	if (err == ERR_OK && listing->named != NULL)
		err = is_known(listing, store);
	if (err == ERR_OK)
		err = fill(listing);
	state_view_close(listing->view);
	store_close(store);
	if (listing->options->json) {
		jsonw_array_end(&listing->json);
		buf_add_char(&listing->text, '\n');
	}
	if (err == ERR_OK)
		return cmd_print(&listing->text, command);
	buf_fini(&listing->text);
	return tell_failure(command, listing, err);
}

static int
proposals_list(int argc, char **argv)
{
	struct options options = {.from = 0};
	struct listing listing = {.options = &options};
	int args, result = cmd_options(&options, &list_spec, argc, argv, &args);

	if (result != CMD_GO)
		return result;
	if (args > 0)
		listing.named = argv[1];
	return show("proposals list", &listing, list_all);
}

static int
proposals_log(int argc, char **argv)
{
	struct options options = {.from = 1};
	struct listing listing = {.options = &options};
	int args, result = cmd_options(&options, &log_spec, argc, argv, &args);

	if (result != CMD_GO)
		return result;
	if (args > 0)
		listing.named = argv[1];
	listing.codein = span_of(options.codein);
	return show("proposals log", &listing, log_all);
}

/* --- save and cancel ------------------------------------------------------ */

struct deciding {
	const char *command, *done;
	enum proposal_action action;
	struct proposal_verdict verdict;
	struct proposal_decision *decisions;
	struct proposal_decided *decided;
	uint64_t rest;
};

/* Prints how many were applied, and names the others. */
static uint64_t
count_applied(const struct deciding *deciding)
{
	uint64_t applied = 0;

	for (unsigned i = 0; i < deciding->verdict.count; i++) {
		if (deciding->decided[i].outcome == PROPOSAL_APPLIED)
			applied++;
		else
			fprintf(stderr,
			    "gridctl %s: %.*s: nothing is proposed for it at "
			    "this supplier\n",
			    deciding->command,
			    SPAN_ARG(deciding->decisions[i].codein));
	}
	return applied;
}

static int
decide(struct deciding *deciding, char **codeins, unsigned count)
{
	struct store *store;
	int result = cmd_open(&store, deciding->command);
	uint64_t applied;
	enum err err;

	if (result != CMD_DONE)
		return result;
	for (unsigned i = 0; i < count; i++)
		deciding->decisions[i] =
		    (struct proposal_decision){.action = deciding->action,
			.codein = span_of(codeins[i]),
			.seen_recorded = PROPOSAL_ANY,
			.seen_pending = PROPOSAL_ANY};
	err = proposal_decide(
	    store, &deciding->verdict, deciding->decided, &deciding->rest);
	store_close(store);
	if (err != ERR_OK)
		return cmd_fail(deciding->command, err, NULL);
	applied = count_applied(deciding);
	printf("%s proposals %s\n", cmd_count(applied + deciding->rest),
	    deciding->done);
	return applied == count ? CMD_DONE : CMD_FAILED;
}

static int
decide_command(struct deciding *deciding, const struct opt_spec *spec, int argc,
    char **argv)
{
	struct options options = {.from = 0};
	int args, result = cmd_options(&options, spec, argc, argv, &args);
	unsigned count = args > 1 ? (unsigned)args - 1 : 0;

	if (result != CMD_GO)
		return result;
	if (options.all == (count > 0)) {
		fprintf(stderr,
		    "gridctl %s: name the articles, or --all for every one\n",
		    deciding->command);
		return CMD_USAGE;
	}
	deciding->decisions = calloc(count + 1, sizeof(*deciding->decisions));
	deciding->decided = calloc(count + 1, sizeof(*deciding->decided));
	deciding->verdict =
	    (struct proposal_verdict){.supplier = span_of(argv[1]),
		.actor = SPAN("gridctl"),
		.decisions = deciding->decisions,
		.count = count,
		.rest = !options.all                    ? PROPOSAL_KEEP
		    : deciding->action == PROPOSAL_SAVE ? PROPOSAL_SAVE_REST
							: PROPOSAL_CANCEL_REST};
	if (deciding->decisions == NULL || deciding->decided == NULL)
		result = cmd_fail(deciding->command, ERR_NO_MEMORY, NULL);
	else
		result = decide(deciding, argv + 2, count);
	free(deciding->decisions);
	free(deciding->decided);
	return result;
}

static int
proposals_save(int argc, char **argv)
{
	struct deciding deciding = {.command = "proposals save",
	    .done = "saved",
	    .action = PROPOSAL_SAVE};

	return decide_command(&deciding, &save_spec, argc, argv);
}

static int
proposals_cancel(int argc, char **argv)
{
	struct deciding deciding = {.command = "proposals cancel",
	    .done = "cancelled",
	    .action = PROPOSAL_CANCEL};

	return decide_command(&deciding, &cancel_spec, argc, argv);
}

static const struct cmd_row commands[] = {
    {"list", proposals_list, "list what waits for a buyer"},
    {"save", proposals_save, "validate proposed ranges"},
    {"cancel", proposals_cancel, "reject proposed ranges"},
    {"log", proposals_log, "show who did what when"},
};

int
cmd_proposals(int argc, char **argv)
{
	return cmd_run_table("gridctl proposals",
	    "Range codes that the API's callers propose.", commands,
	    sizeof(commands) / sizeof(commands[0]), argc, argv);
}
