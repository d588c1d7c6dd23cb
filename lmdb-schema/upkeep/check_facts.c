/* The facts: every series of every article, and the counts of the header. */
#include "lmdb-schema/facts/source.h"
#include "lmdb-schema/upkeep/check_priv.h"

/* The files of an import come from other nodes of a cluster. */
static const char *
help(const struct checking *checking)
{
	return checking_help(checking, CHECKING_LIVE, "import again");
}

static void
check_series(struct checking *checking, const struct source_article *article)
{
	const struct source_header *header = source_header(checking->source);

	for (unsigned kind = 0; kind < SERIES_KINDS; kind++) {
		struct series_reader reader;
		struct series_record record;

		series_open(&reader, kind, article->series[kind]);
		while (series_next(&reader, &record)) {
			if (record.store >= header->stores)
				reader.from.bad = true;
			checking->records[kind]++;
		}
		if (series_bad(&reader))
			checking_tell(checking, SPAN("facts"),
			    "a series of article %.*s of supplier %.*s is "
			    "broken: %s",
			    SPAN_ARG(article->codein),
			    SPAN_ARG(checking->supplier), help(checking));
	}
}

static enum err
check_supplier(void *context, const struct source_supplier *supplier)
{
	struct checking *checking = context;
	struct source_article article;
	struct source_walk *walk;
	uint64_t count = 0;
	bool lists;
	enum err err =
	    source_walk_begin(&walk, checking->source, supplier->code);

	if (err != ERR_OK)
		return err;
	checking->supplier = supplier->code;
	while ((err = source_walk_next(walk, &article)) == ERR_OK) {
		check_series(checking, &article);
		/* Damaged listings have been told. */
		if (source_lists(&lists, checking->source, supplier->code,
			article.codein) == ERR_OK &&
		    !lists)
			checking_tell(checking, SPAN("facts"),
			    "article %.*s of supplier %.*s is not in the "
			    "index: %s",
			    SPAN_ARG(article.codein), SPAN_ARG(supplier->code),
			    help(checking));
		checking->counts->references++;
		count++;
	}
	source_walk_end(walk);
	if (err == ERR_DAMAGED || count != supplier->articles)
		checking_tell(checking, SPAN("facts"),
		    "the articles of supplier %.*s are broken: %s",
		    SPAN_ARG(supplier->code), help(checking));
	checking->counts->articles += count;
	return err == ERR_NOT_FOUND || err == ERR_DAMAGED ? ERR_OK : err;
}

/* Compares the header's counts with the records found. */
static void
compare_with_header(struct checking *checking)
{
	static const char *const names[] = {
	    "positions", "sales", "stock", "receptions"};
	const struct source_header *header = source_header(checking->source);

	for (unsigned i = 0; i < SERIES_KINDS; i++)
		if (checking->records[i] != header->records[i])
			checking_tell(checking, SPAN("facts"),
			    "%llu records of %s were written, %llu are there: "
			    "%s",
			    (unsigned long long)header->records[i], names[i],
			    (unsigned long long)checking->records[i],
			    help(checking));
	if (checking->counts->articles != header->articles)
		checking_tell(checking, SPAN("facts"),
		    "%llu articles were written, %llu are there: %s",
		    (unsigned long long)header->articles,
		    (unsigned long long)checking->counts->articles,
		    help(checking));
}

enum err
checking_facts(struct checking *checking)
{
	enum err err = source_open(&checking->source, checking->store);

	if (err == ERR_NOT_FOUND)
		return ERR_OK;
	if (err == ERR_DAMAGED || err == ERR_VERSION) {
		checking_tell(checking, SPAN("facts"),
		    "the facts file cannot be read (%s): %s", err_text(err),
		    help(checking));
		return ERR_OK;
	}
	if (err == ERR_OK)
		err = source_verify(checking->source);
	if (err == ERR_DAMAGED) {
		checking_tell(checking, SPAN("facts"),
		    "suppliers, stores, classification or the index are not as "
		    "they were written: %s",
		    help(checking));
		err = ERR_OK;
	}
	if (err == ERR_OK)
		err = source_suppliers(
		    checking->source, check_supplier, checking);
	if (err == ERR_DAMAGED) {
		checking_tell(checking, SPAN("facts"),
		    "a supplier's record is broken: %s", help(checking));
		err = ERR_OK;
	}
	if (err == ERR_OK)
		compare_with_header(checking);
	return err;
}
