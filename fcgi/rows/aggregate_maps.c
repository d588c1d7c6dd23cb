/*
 * Sums by month and store, from figures that are kept (figures.h), or from the
 * rows' maps where few rows are asked for, or too many to keep their figures.
 */
#include "fcgi/rows/aggregate_priv.h"
#include "fcgi/rows/figures.h"
#include "fcgi/rows/map_cells.h"

static enum err
add_planes(
    struct aggregating *making, unsigned place, const struct figures *figures)
{
	unsigned cells = aggregate_cells(making->out);
	enum err err = ERR_OK;

	for (unsigned cell = 0; cell < cells && err == ERR_OK; cell++) {
		struct plane plane = figures_plane(
		    figures, cell / SCHEMA_MONTHS, cell % SCHEMA_MONTHS);

		err = aggregate_add_plane(making, place, cell, &plane);
	}
	return err;
}

/* A store's own figure, where months are no key: see snapshot_store(). */
static int64_t
store_figure(const int64_t *months, enum snap_measure kind)
{
	int64_t sum = NUM_NULL;

	if (kind == SNAP_STOCK)
		return months[SCHEMA_MONTHS - 1];
	for (unsigned i = 0; i < SCHEMA_MONTHS; i++) {
		if (months[i] == NUM_NULL)
			continue;
		if (sum == NUM_NULL)
			sum = 0;
		if (!num_add(&sum, sum, months[i]))
			sum = months[i] < 0 ? -INT64_MAX : INT64_MAX;
	}
	return sum;
}

static void
add_row(struct aggregating *making, uint32_t i, unsigned place,
    enum snap_measure kind, const struct map_cells *reader)
{
	struct aggregate *out = making->out;

	for (unsigned cell = 0; cell < aggregate_cells(out); cell++)
		aggregate_value_add(aggregate_place(making, i, cell, place),
		    out->months > 1
			? reader->cells[cell]
			: store_figure(
			      reader->cells + cell * SCHEMA_MONTHS, kind));
}

static enum err
add_rows(struct aggregating *making, unsigned place, enum snap_measure kind)
{
	struct map_cells reader;
	enum err err = map_cells_init(&reader, making->snap, kind);

	for (uint32_t i = 0; i < making->count && err == ERR_OK; i++) {
		err = map_cells_read(&reader, making->rows[i]);
		if (err == ERR_OK)
			add_row(making, i, place, kind, &reader);
	}
	map_cells_fini(&reader);
	return err;
}

enum err
aggregate_add_maps(
    struct aggregating *making, unsigned place, enum snap_measure kind)
{
	bool many = making->count > snapshot_rows(making->snap) / 4;
	struct figures *figures = NULL;
	enum err err = ERR_OK;

	if (making->out->months > 1 && making->figures != NULL)
		err = figures_get(
		    &figures, making->figures, making->snap, kind, many);
	if (err != ERR_OK)
		return err;
	err = figures == NULL ? add_rows(making, place, kind)
			      : add_planes(making, place, figures);
	figures_release(making->figures, figures);
	return err;
}
