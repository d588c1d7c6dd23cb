/*
 * gridctl proposals log: the audit trail. Entries of files that are lost or in an
 * archive are told on stderr, behind all the others.
 */
#include <assert.h>
#include <stdio.h>

#include "common/arena.h"
#include "common/num.h"
#include "common/opt.h"
#include "lmdb-schema/state/trail.h"
#include "lmdb-schema/state/trail_look.h"
#include "lmdb-schema/state/trail_lost.h"
#include "tools/gridctl/proposals.h"

#define COMMAND "proposals log"

/* Of --last: entries, and bytes of their texts. */
#define NEWEST_MAX 100000
#define NEWEST_BYTES ((size_t)256 << 20)

#define NUMBER_WIDTH 8 /* of an entry's number, which may be longer */

/* Bytes of what is told: two lines for each month. */
#define LEFT_OUT_BYTES ((size_t)1 << 24)

struct options {
	const char *codein;
	int64_t from, last;
	bool json;
};

static const struct opt_row rows[] = {
    {"--codein", 0, OPT_TEXT, offsetof(struct options, codein), 0, 0, "CODEIN",
	"what happened to this article only"},
    {"--from", 0, OPT_INT, offsetof(struct options, from), 0, INT64_MAX, "N",
	"from this entry on (default 1)"},
    {"--last", 0, OPT_INT, offsetof(struct options, last), 1, NEWEST_MAX, "N",
	"the newest N only: few files are read for them"},
    {"--json", 0, OPT_FLAG, offsetof(struct options, json), 0, 0, NULL,
	"as a JSON array"},
};

static const struct opt_spec spec = {
    .usage = "gridctl [--data DIR] proposals log [OPTION]... [SUPPLIER]",
    .about = "Prints the audit trail, oldest entry first: who did what when. "
	     "Entries that cannot be read are told on standard error, with "
	     "exit code 1; entries in an archive are told, too.",
    .rows = rows,
    .count = sizeof(rows) / sizeof(rows[0]),
    .args_max = 1,
};

/* The newest entries so far, newest first. */
struct newest {
	struct buf entries; /* struct audit_entry of each */
	struct arena *texts;
	int64_t left;
};

struct log {
	struct proposals_listing of;
	const struct options *options;
	struct span codein; /* empty: all */
	struct newest newest; /* with --last */
	/* Left out, and told behind the list */
	struct trail_stretch archived;
	struct buf left_out;
	/* Of the file that is read: "3 to 9, 12 to 40", and the last of them */
	struct buf lacking;
	uint64_t lack_first, lack_last;
	enum err
	    err; /* of state.mdb or a file, behind which others were read */
};

/* --- what is left out ----------------------------------------------------- */

static void
tell_archived(struct log *log)
{
	const struct trail_stretch *stretch = &log->archived;
	char months[TRAIL_MONTHS_MAX];

	if (stretch->files == 0)
		return;
	trail_months_text(months, stretch);
	buf_addf(&log->left_out,
	    "gridctl " COMMAND ": entries %s to %s (%s) are in the archive: "
	    "copy the %s back into %s/trail, by 'cp -p', to read them\n",
	    cmd_count(stretch->first), cmd_count(stretch->last), months,
	    stretch->files == 1 ? "file" : "files", cmd_data_dir());
	log->archived = (struct trail_stretch){.files = 0};
}

static void
add_lacking(struct log *log)
{
	if (log->lack_last > 0)
		buf_addf(&log->lacking, "%s%llu to %llu",
		    log->lacking.len > 0 ? ", " : "",
		    (unsigned long long)log->lack_first,
		    (unsigned long long)log->lack_last);
}

/* Adds what is next to the last ones to them, on either side. */
static void
lacks(void *context, uint64_t first, uint64_t last)
{
	struct log *log = context;
	uint64_t from = (uint64_t)log->options->from;

	if (last < from)
		return;
	if (first < from)
		first = from;
	if (log->lack_last != 0 && first == log->lack_last + 1)
		log->lack_last = last;
	else if (log->lack_last != 0 && last + 1 == log->lack_first)
		log->lack_first = first;
	else {
		add_lacking(log);
		log->lack_first = first;
		log->lack_last = last;
	}
}

/* Names the entries of a file that were not read, where these are not all. */
static void
add_left_out(struct log *log, const struct trail_parts_row *row)
{
	struct buf *text = &log->left_out;

	if (log->lack_last == 0)
		buf_add_span(text, SPAN("; none is left out"));
	else if (log->lacking.len > 0 || log->lack_last != row->last ||
	    log->lack_first > row->first) {
		add_lacking(log);
		buf_addf(text, "; left out: %.*s",
		    SPAN_ARG(buf_span(&log->lacking)));
	}
}

static void
forget_lacking(struct log *log)
{
	buf_clear(&log->lacking);
	log->lack_first = log->lack_last = 0;
}

static void
tell_lost(struct log *log, const struct trail_parts_row *row, enum err err)
{
	struct trail_lost lost;

	tell_archived(log);
	trail_lost(&lost, log->of.store, row, err);
	buf_addf(&log->left_out,
	    "gridctl " COMMAND ": not all can be read: %s: %s", lost.path,
	    lost.what);
	add_left_out(log, row);
	buf_addf(&log->left_out, ": %s\n", lost.todo);
	log->err = err;
}

static void
leave_out(void *context, const struct trail_parts_row *row, enum err err)
{
	struct log *log = context;

	if (row->last >= (uint64_t)log->options->from) {
		if (err != ERR_NOT_FOUND)
			tell_lost(log, row, err);
		else if (!trail_stretch_add(&log->archived, row, err)) {
			tell_archived(log);
			(void)trail_stretch_add(&log->archived, row, err);
		}
	}
	forget_lacking(log);
}

/* Behind the list. */
static int
tell_left_out(struct log *log)
{
	tell_archived(log);
	if (buf_end(&log->left_out) == ERR_OK)
		(void)fwrite(log->left_out.data, 1, log->left_out.len, stderr);
	buf_fini(&log->left_out);
	buf_fini(&log->lacking);
	return log->err == ERR_OK ? CMD_DONE : CMD_FAILED;
}

/* --- entries -------------------------------------------------------------- */

static bool
is_wanted(const struct log *log, const struct audit_entry *entry)
{
	return (log->of.supplier.len == 0 ||
		   span_eq(log->of.supplier, entry->supplier)) &&
	    (log->codein.len == 0 || span_eq(log->codein, entry->codein));
}

/*
 * A history has thousands of lines, and printf() would take most of its time.
 */
static void
add_blanks(struct buf *text, size_t count)
{
	static const char blanks[] = "                            ";

	assert(count < sizeof(blanks));
	buf_add(text, blanks, count);
}

/* With the blanks behind it, one at least. */
static void
add_column(struct buf *text, struct span value, size_t width)
{
	buf_add_span(text, value);
	add_blanks(text, value.len < width ? width - value.len : 1);
}

static void
add_number(struct buf *text, uint64_t number)
{
	char digits[NUM_TEXT_MAX];
	size_t len = num_int_text(digits, (int64_t)number);

	add_blanks(text, len < NUMBER_WIDTH ? NUMBER_WIDTH - len : 0);
	buf_add(text, digits, len);
	add_blanks(text, 2);
}

static void
add_object(struct jsonw *json, const struct audit_entry *entry)
{
	jsonw_object_begin(json);
	jsonw_key(json, "number");
	jsonw_int(json, (int64_t)entry->number);
	cmd_json_time(json, "at", entry->when_ms);
	proposals_add_member(json, "event", entry->event);
	proposals_add_member(json, "actor", entry->actor);
	proposals_add_member(json, "fournisseur", entry->supplier);
	proposals_add_member(json, "codein", entry->codein);
	proposals_add_member(json, "gamme", entry->gamme);
	proposals_add_member(json, "before", entry->before);
	proposals_add_member(json, "motif", entry->motif);
	proposals_add_member(json, "proposedBy", entry->author);
	cmd_json_time(json, "proposedAt", entry->proposed_ms);
	jsonw_object_end(json);
}

static enum err
add_entry(void *context, const struct audit_entry *entry)
{
	struct log *log = context;
	struct buf *text = &log->of.list.text;
	char when[DATE_TEXT_MAX];

	if (!is_wanted(log, entry))
		return ERR_OK;
	if (log->of.json) {
		add_object(&log->of.list.json, entry);
		return buf_end(text);
	}
	cmd_time(when, entry->when_ms);
	add_number(text, entry->number);
	add_column(text, span_of(when), 26);
	add_column(text, entry->event, 13);
	add_column(text, entry->supplier, 11);
	add_column(text, entry->codein, 13);
	add_column(text, entry->gamme, 6);
	add_column(text, entry->before, 7);
	buf_add_span(text, entry->actor);
	proposals_add_motif(text, entry->motif);
	return buf_end(text);
}

/* The entries that may be wanted, from `from` on; with `back` newest first. */
static enum err
each_entry(struct log *log, uint64_t from, bool back,
    enum err (*each)(void *context, const struct audit_entry *entry))
{
	const struct trail_left_out left_out = {leave_out, lacks, log};
	const struct trail_article article = {.supplier = log->of.supplier,
	    .codein = log->codein,
	    .from = (uint64_t)log->options->from,
	    .back = back,
	    .left_out = &left_out};
	const struct trail_wanted wanted = {
	    .supplier = log->of.supplier, .left_out = &left_out};

	return log->codein.len > 0
	    ? trail_history(log->of.view, &article, each, log)
	    : trail_each(log->of.view, &wanted, from, back, each, log);
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
	struct log *log = context;
	struct newest *newest = &log->newest;
	uint64_t from = (uint64_t)log->options->from;
	enum err err = ERR_OK;

	if (entry->number >= from && is_wanted(log, entry)) {
		err = keep_entry(newest, entry);
		newest->left--;
	}
	/* At `from` already: no earlier file is opened. */
	if (err == ERR_OK && (newest->left == 0 || entry->number <= from))
		err = ERR_EXISTS;
	return err;
}

static enum err
add_newest(struct log *log)
{
	const struct buf *kept = &log->newest.entries;
	const struct audit_entry *entries = (const void *)kept->data;
	enum err err = ERR_OK;

	for (size_t i = kept->len / sizeof(*entries); i > 0 && err == ERR_OK;
	     i--)
		err = add_entry(log, &entries[i - 1]);
	return err;
}

/* Reads the newest entries first, and shows them the other way. */
static enum err
log_newest(struct log *log)
{
	struct newest *newest = &log->newest;
	uint64_t last;
	enum err err = trail_last(log->of.view, &last), added = ERR_OK;

	newest->left = log->options->last;
	newest->texts = arena_new(NEWEST_BYTES);
	if (newest->texts == NULL)
		err = ERR_NO_MEMORY;
	buf_init(&newest->entries, NEWEST_BYTES);
	if (err == ERR_OK)
		err = each_entry(log, last + 1, true, keep_newest);
	if (err == ERR_EXISTS)
		err = ERR_OK;
	if (err == ERR_OK || err == ERR_DAMAGED)
		added = add_newest(log);
	buf_fini(&newest->entries);
	arena_free(newest->texts);
	return added == ERR_OK ? err : added;
}

/* Behind damage in state.mdb nothing more is read; what was read is shown. */
static enum err
log_all(void *context)
{
	struct log *log = context;
	enum err err;

	if (!log->of.json)
		buf_addf(&log->of.list.text,
		    "%8s  %-24s  %-12s %-10s %-12s %-5s %-5s  %s\n", "entry",
		    "when", "event", "supplier", "codein", "range", "was",
		    "actor");
	err = log->options->last > 0
	    ? log_newest(log)
	    : each_entry(log, (uint64_t)log->options->from, false, add_entry);
	if (err != ERR_DAMAGED)
		return err;
	log->err = err;
	buf_addf(&log->left_out,
	    "gridctl " COMMAND ": not all can be read: state.mdb: %s: 'gridctl "
	    "check' says what to do\n",
	    err_text(err));
	return ERR_OK;
}

int
proposals_log(int argc, char **argv)
{
	struct options options = {.from = 1};
	struct log log = {.options = &options};
	int args, told,
	    result = cmd_options(&options, &spec, argc, argv, &args);

	if (result != CMD_GO)
		return result;
	log.of.named = args > 0 ? argv[1] : NULL;
	log.of.json = options.json;
	log.codein = span_of(options.codein);
	buf_init(&log.left_out, LEFT_OUT_BYTES);
	buf_init(&log.lacking, LEFT_OUT_BYTES);
	result = proposals_show(COMMAND, &log.of, log_all, &log);
	told = tell_left_out(&log);
	return result == CMD_DONE ? told : result;
}
