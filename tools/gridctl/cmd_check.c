/* gridctl check: verifies everything that is stored. */
#include <stdio.h>

#include "common/jsonw.h"
#include "common/opt.h"
#include "common/progress.h"
#include "lmdb-schema/store/store.h"
#include "lmdb-schema/upkeep/check.h"
#include "tools/gridctl/cmd.h"

struct options {
	bool json, quiet;
};

static const struct opt_row rows[] = {
    {"--json", 0, OPT_FLAG, offsetof(struct options, json), 0, 0, NULL,
	"as a JSON object"},
    {"--quiet", 'q', OPT_FLAG, offsetof(struct options, quiet), 0, 0, NULL,
	"no progress; print damages only"},
};

static const struct opt_spec spec = {
    .usage = "gridctl [--data DIR] check [OPTION]...",
    .about =
	"Reads all stored data and verifies every checksum and "
	"cross-reference: facts, live.mdb, state.mdb and catalog.mdb, "
	"page by page and record by record, and each snapshot. Prints for each "
	"damage how to repair it. Exit code 0: nothing is damaged. It may run "
	"while the data is in use, and blocks no reader or writer.",
    .rows = rows,
    .count = sizeof(rows) / sizeof(rows[0]),
};

struct checking {
	struct progress progress;
	struct jsonw json;
	struct buf text;
	bool as_json;
	const struct check_counts *counts;
};

static void
tell(void *context, const struct fault *fault)
{
	struct checking *checking = context;

	if (!checking->as_json) {
		fprintf(stderr, "%s: %s: %s\n",
		    checking->counts->unreadable ? "unreadable" : "damaged",
		    fault->place, fault->message);
		return;
	}
	jsonw_object_begin(&checking->json);
	jsonw_key(&checking->json, "where");
	jsonw_text(&checking->json, fault->place);
	jsonw_key(&checking->json, "what");
	jsonw_text(&checking->json, fault->message);
	jsonw_object_end(&checking->json);
}

static void
at(void *context, uint64_t bytes)
{
	struct checking *checking = context;

	progress_at(&checking->progress, bytes);
}

static const char *
s_of(uint64_t count)
{
	return count == 1 ? "" : "s";
}

static void
print_text(const struct check_counts *counts)
{
	printf("%s article%s, %s network product%s, %s server range%s read\n",
	    cmd_count(counts->articles), s_of(counts->articles),
	    cmd_count(counts->networks), s_of(counts->networks),
	    cmd_count(counts->gammes), s_of(counts->gammes));
	printf("keys, users and sessions: %s; %s proposal%s, %s %s of the "
	       "audit trail read\n",
	    cmd_count(counts->people), cmd_count(counts->proposals),
	    s_of(counts->proposals), cmd_count(counts->entries),
	    counts->entries == 1 ? "entry" : "entries");
	if (counts->archived > 0)
		printf("%s file%s of the audit trail %s in an archive, and not "
		       "read\n",
		    cmd_count(counts->archived), s_of(counts->archived),
		    counts->archived == 1 ? "is" : "are");
	printf("%s record%s of live.mdb, catalog.mdb and state.mdb read\n",
	    cmd_count(counts->records), s_of(counts->records));
	printf("%s snapshot%s: %s part%s, %s verified by checksum\n",
	    cmd_count(counts->snapshots), s_of(counts->snapshots),
	    cmd_count(counts->sections), s_of(counts->sections),
	    cmd_bytes(counts->bytes));
	if (counts->foreign > 0)
		printf("%s snapshot%s of another version of Product Grid, not "
		       "read: 'gridctl compute --stale' makes new ones, "
		       "'gridctl prune' removes those that were replaced\n",
		    cmd_count(counts->foreign), s_of(counts->foreign));
	printf("%s cross-reference%s looked up\n",
	    cmd_count(counts->references), s_of(counts->references));
	if (counts->leftovers > 0)
		printf("%s leftover%s: 'gridctl prune' removes %s\n",
		    cmd_count(counts->leftovers), s_of(counts->leftovers),
		    counts->leftovers == 1 ? "it" : "them");
	if (counts->strays > 0)
		printf("%s file%s in %s/trail that %s no month of the trail: "
		       "no command removes %s\n",
		    cmd_count(counts->strays), s_of(counts->strays),
		    cmd_data_dir(), counts->strays == 1 ? "is" : "are",
		    counts->strays == 1 ? "it" : "them");
	if (counts->words_missing)
		cmd_words_missing();
	if (counts->damages == 0)
		puts("all is whole");
	else
		printf("%s damages\n", cmd_count(counts->damages));
}

static void
finish_json(struct checking *checking, const struct check_counts *counts)
{
	static const char *const names[] = {"articles", "references",
	    "networkProducts", "serverRanges", "snapshots", "sections", "bytes",
	    "leftovers", "people", "proposals", "auditEntries", "auditArchived",
	    "records", "strays", "otherVersion"};
	const uint64_t values[] = {counts->articles, counts->references,
	    counts->networks, counts->gammes, counts->snapshots,
	    counts->sections, counts->bytes, counts->leftovers, counts->people,
	    counts->proposals, counts->entries, counts->archived,
	    counts->records, counts->strays, counts->foreign};
	struct jsonw *json = &checking->json;

	jsonw_array_end(json);
	for (unsigned i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
		jsonw_key(json, names[i]);
		jsonw_int(json, (int64_t)values[i]);
	}
	jsonw_key(json, "wordsMissing");
	jsonw_bool(json, counts->words_missing);
	jsonw_key(json, "whole");
	jsonw_bool(json, counts->damages == 0);
	jsonw_object_end(json);
	if (jsonw_end(json) == ERR_OK)
		printf("%.*s\n", (int)checking->text.len, checking->text.data);
}

static enum err
check(struct store *store, const struct options *options,
    struct check_counts *counts)
{
	struct checking checking = {.as_json = options->json, .counts = counts};
	enum err err;

	buf_init(&checking.text, 1 << 26);
	jsonw_init(&checking.json, &checking.text);
	if (options->json) {
		jsonw_object_begin(&checking.json);
		jsonw_key(&checking.json, "damages");
		jsonw_array_begin(&checking.json);
	}
	progress_begin(&checking.progress, "check", "bytes", 0,
	    options->json || options->quiet);
	err = check_store(counts, store, tell, at, &checking);
	progress_end(&checking.progress);
	if (err == ERR_OK && options->json)
		finish_json(&checking, counts);
	else if (err == ERR_OK && !options->quiet)
		print_text(counts);
	buf_fini(&checking.text);
	return err;
}

int
cmd_check(int argc, char **argv)
{
	struct options options = {false, false};
	struct check_counts counts;
	struct store *store;
	int args, result;
	enum err err;

	result = cmd_start(&store, "check", &options, &spec, argc, argv, &args);
	if (result != CMD_GO)
		return result;
	result = CMD_DONE;
	err = check(store, &options, &counts);
	if (err != ERR_OK)
		result = cmd_fail("check", err, NULL);
	else if (counts.damages > 0)
		result = CMD_FAILED;
	store_close(store);
	return result;
}
