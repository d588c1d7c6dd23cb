/*
 * gridctl demo: writes made-up CSV files of a grocer, to try the product with.
 */
#include <inttypes.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>

#include "common/opt.h"
#include "tools/gridctl/cmd.h"
#include "tools/gridctl/demo/demo_run.h"

struct options {
	const char *out;
	int64_t articles, suppliers, stores, total, seed;
	bool shuffle;
};

#define ROW(member) offsetof(struct options, member)

static const struct opt_row rows[] = {
    {.name = "--out",
	.type = OPT_TEXT,
	.offset = ROW(out),
	.operand = "DIR",
	.help = "the folder to write to; created if it does not exist"},
    {.name = "--articles",
	.type = OPT_INT,
	.offset = ROW(articles),
	.min = 1,
	.max = DEMO_ARTICLES_MAX,
	.operand = "N",
	.help = "articles of the largest supplier (130000)"},
    {.name = "--suppliers",
	.type = OPT_INT,
	.offset = ROW(suppliers),
	.min = 1,
	.max = DEMO_SUPPLIERS_MAX,
	.operand = "N",
	.help = "how many suppliers (400)"},
    {.name = "--stores",
	.type = OPT_INT,
	.offset = ROW(stores),
	.min = 1,
	.max = DEMO_STORES_MAX,
	.operand = "N",
	.help = "how many stores (6)"},
    {.name = "--total",
	.type = OPT_INT,
	.offset = ROW(total),
	.min = 1,
	.max = DEMO_ARTICLES_MAX,
	.operand = "N",
	.help = "articles of all suppliers together: makes the small ones "
		"larger"},
    {.name = "--seed",
	.type = OPT_INT,
	.offset = ROW(seed),
	.min = 0,
	.max = INT64_MAX,
	.operand = "N",
	.help = "the same seed gives the same bytes (1)"},
    {.name = "--shuffle",
	.type = OPT_FLAG,
	.offset = ROW(shuffle),
	.help = "write the facts in disorder, to test an import with"},
};

static const struct opt_spec spec = {
    .usage = "gridctl demo --out DIR [OPTION]...",
    .about = "Writes the ten CSV files of a made-up grocer, for `gridctl "
	     "import DIR`.",
    .rows = rows,
    .count = sizeof(rows) / sizeof(rows[0])};

static void
print_totals(const struct demo_totals *totals, const struct demo_plan *plan)
{
	for (int i = 0; i < DEMO_FILES; i++)
		printf("%-18s %10" PRIu64 " rows %12" PRIu64 " bytes\n",
		    demo_file_names[i], totals->rows[i], totals->bytes[i]);
	printf("largest supplier: %s\n", plan->suppliers[plan->largest].code);
}

static enum err
make_demo(const struct options *options)
{
	struct demo_totals totals;
	struct demo_plan plan;
	enum err err;

	err = demo_plan_make(&plan, (uint64_t)options->seed,
	    (uint32_t)options->articles, (uint32_t)options->suppliers,
	    (uint32_t)options->stores, (uint32_t)options->total);
	if (err == ERR_BAD_INPUT)
		fprintf(stderr,
		    "gridctl demo: --total %lld cannot be reached: there are "
		    "more articles already, or no more than four suppliers\n",
		    (long long)options->total);
	if (err == ERR_OK)
		err = demo_run(&totals, &plan, options->out, options->shuffle);
	if (err == ERR_OK)
		print_totals(&totals, &plan);
	demo_plan_fini(&plan);
	return err;
}

int
cmd_demo(int argc, char **argv)
{
	struct options options = {
	    .articles = 130000, .suppliers = 400, .stores = 6, .seed = 1};
	int args_count;
	enum err err;

	switch (opt_read(&options, &spec, argc, argv, &args_count)) {
	case OPT_HELP:
		return EXIT_SUCCESS;
	case OPT_WRONG:
		return OPT_USAGE;
	case OPT_GO:
		break;
	}
	if (options.out == NULL) {
		fprintf(stderr,
		    "gridctl demo: --out DIR is missing: say where "
		    "to write the files\n");
		return OPT_USAGE;
	}
	err = make_demo(&options);
	if (err == ERR_OK)
		return EXIT_SUCCESS;
	fprintf(stderr, "gridctl demo: the files in %s are not complete: %s\n",
	    options.out, err_text(err));
	return EXIT_FAILURE;
}
