/*
 * gridctl proposals list, save, cancel, log: a buyer's work in the Grid screen,
 * for an operator.
 */
#include <stdio.h>
#include <stdlib.h>

#include "common/opt.h"
#include "common/utf8.h"
#include "lmdb-schema/facts/source.h"
#include "lmdb-schema/state/proposal.h"
#include "lmdb-schema/store/store.h"
#include "tools/gridctl/proposals.h"

struct options {
	bool json, all, validated;
};

static const struct opt_row list_rows[] = {
    {"--validated", 0, OPT_FLAG, offsetof(struct options, validated), 0, 0,
	NULL, "the validated changes that have not arrived yet, instead"},
    {"--json", 0, OPT_FLAG, offsetof(struct options, json), 0, 0, NULL,
	"as a JSON array"},
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

/* --- list and log --------------------------------------------------------- */

void
proposals_add_member(struct jsonw *json, const char *name, struct span text)
{
	jsonw_key(json, name);
	if (text.len == 0)
		jsonw_null(json);
	else
		jsonw_string(json, text);
}

void
proposals_add_motif(struct buf *text, struct span motif)
{
	if (motif.len > 0) {
		buf_add_text(text, ": ");
		utf8_show(text, motif);
	}
	buf_add_char(text, '\n');
}

/*
 * True for a supplier that the facts name, or whose ranges have ever changed.
 */
static enum err
is_known(const struct proposals_listing *listing)
{
	struct source_supplier supplier;
	struct source *source;
	enum err err;

	if (proposal_version(listing->view, listing->supplier) != 0)
		return ERR_OK;
	err = source_open(&source, listing->store);
	if (err == ERR_OK)
		err = source_supplier(source, listing->supplier, &supplier);
	source_close(source);
	return err;
}

static int
tell_failure(
    const char *command, const struct proposals_listing *listing, enum err err)
{
	struct fault fault;

	fault_clear(&fault);
	if (err == ERR_NOT_FOUND && listing->named != NULL)
		fault_set(&fault, listing->named,
		    "there is no such supplier ('gridctl suppliers' lists "
		    "them)");
	return cmd_fail(command, err, &fault);
}

int
proposals_show(const char *command, struct proposals_listing *listing,
    enum err (*fill)(void *context), void *context)
{
	int result = cmd_open_to_look(&listing->store, command);
	enum err err;

	if (result != CMD_DONE)
		return result;
	listing->supplier = span_of(listing->named);
	cmd_list_begin(&listing->list, listing->json);
	err = state_view_open(&listing->view, listing->store);
	if (err == ERR_OK && listing->named != NULL)
		err = is_known(listing);
	if (err == ERR_OK)
		err = fill(context);
	state_view_close(listing->view);
	store_close(listing->store);
	if (err == ERR_OK)
		return cmd_list_end(&listing->list, command, ERR_OK);
	buf_fini(&listing->list.text);
	return tell_failure(command, listing, err);
}

/* --- list ----------------------------------------------------------------- */

struct listing {
	struct proposals_listing of;
	bool validated;
};

static enum err
add_proposal(void *context, struct span codein, const struct proposal *proposal)
{
	struct proposals_listing *listing = context;
	struct buf *text = &listing->list.text;
	struct jsonw *json = &listing->list.json;
	struct span gamme = row_gamme_text(proposal->gamme);
	char when[DATE_TEXT_MAX];

	if (listing->json) {
		jsonw_object_begin(json);
		proposals_add_member(json, "fournisseur", listing->supplier);
		proposals_add_member(json, "codein", codein);
		proposals_add_member(json, "gamme", gamme);
		proposals_add_member(json, "author", proposal->author);
		cmd_json_time(json, "at", proposal->when_ms);
		proposals_add_member(json, "motif", proposal->motif);
		jsonw_object_end(json);
		return buf_end(text);
	}
	cmd_time(when, proposal->when_ms);
	buf_addf(text, "%-10.*s %-12.*s %-5.*s  %-24s  %.*s",
	    SPAN_ARG(listing->supplier), SPAN_ARG(codein), SPAN_ARG(gamme),
	    when, SPAN_ARG(proposal->author));
	proposals_add_motif(text, proposal->motif);
	return buf_end(text);
}

static enum err
list_supplier(
    void *context, struct span supplier, const struct proposal_counts *counts)
{
	struct listing *listing = context;

	(void)counts;
	listing->of.supplier = supplier;
	return (listing->validated ? proposal_validated : proposal_pending)(
	    listing->of.view, supplier, add_proposal, &listing->of);
}

static enum err
list_all(void *context)
{
	struct listing *listing = context;

	if (!listing->of.json)
		buf_addf(&listing->of.list.text,
		    "%-10s %-12s %-5s  %-24s  %s\n", "supplier", "codein",
		    "range", "when", "author");
	if (listing->of.named != NULL)
		return list_supplier(listing, listing->of.supplier, NULL);
	return proposal_suppliers(listing->of.view, list_supplier, listing);
}

static int
proposals_list(int argc, char **argv)
{
	struct options options = {.json = false};
	struct listing listing;
	int args, result = cmd_options(&options, &list_spec, argc, argv, &args);

	if (result != CMD_GO)
		return result;
	listing = (struct listing){
	    .of = {.named = args > 0 ? argv[1] : NULL, .json = options.json},
	    .validated = options.validated};
	return proposals_show(
	    "proposals list", &listing.of, list_all, &listing);
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
	struct options options = {.all = false};
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
