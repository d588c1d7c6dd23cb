/*
 * gridctl dump: prints a snapshot's rows as JSON, one per line, or a level of
 * its classification. For tests and inspection.
 */
#include <stdio.h>

#include "common/jsonw.h"
#include "common/num.h"
#include "common/opt.h"
#include "lmdb-schema/snapshot/catalog.h"
#include "lmdb-schema/snapshot/snapshot.h"
#include "lmdb-schema/store/store.h"
#include "tools/gridctl/cmd.h"

struct options {
	int64_t level;
};

static const struct opt_row rows[] = {
    {"--nomenclatures", 0, OPT_INT, offsetof(struct options, level), 1, 3,
	"LEVEL", "the classification at level 1, 2 or 3 instead of the rows"},
};

static const struct opt_spec spec = {
    .usage = "gridctl [--data DIR] dump [--nomenclatures LEVEL] SUPPLIER",
    .about = "Prints the rows of a snapshot as JSON lines.",
    .rows = rows,
    .count = 1,
    .args_min = 1,
    .args_max = 1,
};

static enum err
dump_rows(struct snapshot *snap)
{
	struct snapshot_part flat, maps;

	for (uint32_t row = 0; row < snapshot_rows(snap); row++) {
		if (!snapshot_flat(snap, row, &flat) ||
		    !snapshot_maps(snap, row, &maps))
			return ERR_DAMAGED;
		fwrite(flat.json, 1, flat.off.flat[ROW_FLATS], stdout);
		fwrite(maps.json, 1, maps.off.maps[ROW_MAPCOUNT], stdout);
		putchar('\n');
	}
	return ERR_OK;
}

static enum err
dump_classes(struct snapshot *snap, unsigned level)
{
	struct snapshot_classes classes;
	struct buf line;
	enum err err;

	if (!snapshot_classes(snap, level, &classes))
		return ERR_DAMAGED;
	buf_init(&line, 1 << 20);
	for (uint32_t i = 0; i < classes.count; i++) {
		const struct snap_class *class = &classes.class[i];
		struct span label = snapshot_class_label(&classes, class);

		buf_clear(&line);
		buf_addf(&line,
		    "{\"code\":\"%0*u\",\"libelle\":", (int)level * 2,
		    class->code);
		if (label.len == 0)
			buf_add_text(&line, "null");
		else
			jsonw_quote(&line, label);
		buf_addf(
		    &line, ",\"nbArticles\":%u,\"totalCa\":", class->articles);
		num_add_decimal(&line, class->ca);
		buf_add_text(&line, ",\"totalQuantite\":");
		num_add_decimal(&line, class->qte);
		buf_add_text(&line, "}\n");
		fwrite(line.data, 1, line.len, stdout);
	}
	err = buf_end(&line);
	buf_fini(&line);
	return err;
}

static enum err
dump(struct store *store, struct span supplier, unsigned level)
{
	struct catalog_entry entry;
	struct snapshot *snap = NULL;
	enum err err = catalog_current(store, supplier, &entry);

	if (err == ERR_OK)
		err = snapshot_open(&snap, store, supplier, entry.generation);
	if (err == ERR_OK)
		err = level == 0 ? dump_rows(snap) : dump_classes(snap, level);
	snapshot_close(snap);
	return err;
}

int
cmd_dump(int argc, char **argv)
{
	struct options options = {0};
	struct store *store;
	int args, result;
	enum err err;

	result = cmd_start(&store, "dump", &options, &spec, argc, argv, &args);
	if (result != CMD_GO)
		return result;
	result = CMD_DONE;
	err = dump(store, span_of(argv[1]), (unsigned)options.level);
	if (err == ERR_NOT_FOUND) {
		struct fault fault;

		fault_clear(&fault);
		fault_set(&fault, argv[1], "has no snapshot");
		result = cmd_fail("dump", err, &fault);
	} else if (err != ERR_OK)
		result = cmd_fail("dump", err, NULL);
	store_close(store);
	return result;
}
