/* Rows with live values: the overlay over the snapshot. */
#include <assert.h>

#include "common/num.h"
#include "fcgi/rows/shown.h"
#include "fcgi/rows/splice_priv.h"
#include "lmdb-schema/facts/trend.h"

static uint8_t
gamme_of(const struct splice *splice, const struct splice_today *today,
    unsigned column)
{
	const struct ranges *ranges = splice->ranges;

	if (column == COL_codeGamme)
		return splice->enrich ? ranges->shown[today->row]
				      : ranges->raw[today->row];
	if (column == COL_gammeAValider)
		return ranges->pending[today->row];
	return ranges->server[today->row];
}

/* The range at the computation, when no request needs today's. */
static bool
is_computed(const struct splice *splice, unsigned column)
{
	return !splice->enrich && column != COL_codeGamme &&
	    column != COL_gammeAValider;
}

static enum err
read_network(struct splice *splice, struct splice_today *today)
{
	today->network_read = true;
	return shown_network(&today->network, &today->network_known, today->row,
	    splice->snap, splice->live);
}

static void
add_number(struct buf *buf, unsigned column, int64_t number)
{
	if (number == NUM_NULL)
		buf_add_text(buf, "null");
	else if (row_info[column].type == ROW_INTEGER)
		num_add_int(buf, number);
	else
		num_add_decimal(buf, number);
}

/* The article's own margin rate; needed only for the gap to the network's. */
static enum err
own_margin(
    struct splice *splice, uint32_t row, unsigned column, int64_t *margin)
{
	const int64_t *margins;

	*margin = NUM_NULL;
	if (column != COL_ecartMargeReseau)
		return ERR_OK;
	margins = snapshot_numbers(splice->snap, COL_tauxMarge);
	if (margins == NULL || row >= snapshot_rows(splice->snap))
		return ERR_DAMAGED;
	*margin = margins[row];
	return ERR_OK;
}

static enum err
add_network(
    struct splice *splice, const struct splice_today *today, unsigned column)
{
	const struct network *network =
	    today->network_known ? &today->network : NULL;
	struct buf *buf = &splice->text;
	int64_t margin;
	enum err err;

	buf_clear(buf);
	if (column < ROW_FLATS) {
		err = own_margin(splice, today->row, column, &margin);
		if (err != ERR_OK)
			return err;
		add_number(
		    buf, column, network_number(network, column, margin));
	} else if (network == NULL)
		buf_add_text(buf, "null");
	else if (column == COL_network)
		network_json(buf, network);
	else if (column == COL_trend)
		trend_network_json(buf, network);
	else
		network_months_json(buf, network);
	return buf_end(buf);
}

enum err
splice_value(struct splice *splice, struct splice_today *today, unsigned column,
    struct span *value)
{
	enum err err = ERR_OK;

	assert(column < ROW_COLUMNS);
	if (splice->ranges != NULL && splice_is_gamme(column) &&
	    !is_computed(splice, column)) {
		*value = row_gamme_json(gamme_of(splice, today, column));
		return ERR_OK;
	}
	if (splice->network_changed && splice_is_network(column)) {
		if (!today->network_read)
			err = read_network(splice, today);
		if (err == ERR_OK)
			err = add_network(splice, today, column);
		*value = buf_span(&splice->text);
		return err;
	}
	*value = snapshot_value(splice->snap, today->row, column);
	return value->len == 0 ? ERR_DAMAGED : ERR_OK;
}

/*
 * Appends today's value to splice->row, where it stays for the row. Its address
 * is known only after the last value, since the buffer may move.
 */
static enum err
keep_value(struct splice *splice, struct splice_today *today, unsigned column,
    struct span *value)
{
	enum err err = splice_value(splice, today, column, value);

	if (err != ERR_OK || value->ptr != splice->text.data)
		return err;
	value->ptr = NULL;
	buf_add_span(&splice->row, buf_span(&splice->text));
	return buf_end(&splice->row);
}

/* The same for a row whose network values may differ from the snapshot. */
static enum err
values_today(struct splice *splice, uint32_t row, struct span *values)
{
	struct splice_today today = {.row = row};
	const char *at;

	buf_clear(&splice->row);
	for (unsigned i = 0; i < splice->chosen_count; i++) {
		enum err err =
		    keep_value(splice, &today, splice->chosen[i], &values[i]);

		if (err != ERR_OK)
			return err;
	}
	at = splice->row.data;
	for (unsigned i = 0; i < splice->chosen_count; i++)
		if (values[i].ptr == NULL) {
			values[i].ptr = at;
			at += values[i].len;
		}
	return ERR_OK;
}

/* Range codes are constants of the program. */
static void
lay_gammes(struct splice *splice, uint32_t row, struct span *values)
{
	const struct splice_today today = {.row = row};

	for (unsigned i = 0; i < splice->gamme_count; i++) {
		unsigned at = splice->gammes[i];
		unsigned column = splice->chosen[at];

		if (!is_computed(splice, column))
			values[at] =
			    row_gamme_json(gamme_of(splice, &today, column));
	}
}

enum err
splice_values(struct splice *splice, uint32_t row, struct span *values)
{
	struct snapshot_part flat, maps;

	if (splice->network_changed)
		return values_today(splice, row, values);
	if (!snapshot_flat(splice->snap, row, &flat) ||
	    (splice->map_runs > 0 && !snapshot_maps(splice->snap, row, &maps)))
		return ERR_DAMAGED;
	if (splice->in_order)
		splice_expect_behind(splice, &flat);
	for (unsigned i = 0; i < splice->chosen_count; i++) {
		unsigned column = splice->chosen[i];

		values[i] = column < ROW_FLATS
		    ? snapshot_flat_value(&flat, column)
		    : snapshot_maps_value(&maps, column);
		if (values[i].len == 0)
			return ERR_DAMAGED;
	}
	if (splice->ranges != NULL)
		lay_gammes(splice, row, values);
	return ERR_OK;
}

enum err
splice_live_row(
    struct splice *splice, struct splice_today *today, struct iovbuf *pieces)
{
	iovbuf_text(pieces, "{");
	for (unsigned i = 0; i < ROW_COLUMNS; i++) {
		struct span value;
		enum err err;

		if (!columns_has(&splice->columns, i))
			continue;
		err = splice_value(splice, today, i, &value);
		if (err != ERR_OK)
			return err;
		iovbuf_text(pieces, "\"");
		iovbuf_add(pieces, row_info[i].name);
		iovbuf_text(pieces, "\":");
		if (value.ptr == splice->text.data)
			iovbuf_add(pieces, value);
		else
			iovbuf_refer(pieces, value.ptr, value.len);
		iovbuf_text(pieces, ",");
	}
	splice_close_row(splice, pieces);
	return ERR_OK;
}

bool
splice_gammes_differ(const struct splice *splice, uint32_t row)
{
	const struct ranges *ranges = splice->ranges;

	return ranges != NULL && splice->has_gammes && row < ranges->rows &&
	    ranges->differs[row] != 0;
}

/*
 * All values derived from the network follow from the object that the row
 * shows.
 */
static bool
tells_network(const struct splice *splice, unsigned column)
{
	if (columns_has(&splice->columns, COL_network))
		return column == COL_network;
	return splice_is_network(column) &&
	    columns_has(&splice->columns, column);
}

enum err
splice_differs(struct splice *splice, struct splice_today *today, bool *out)
{
	enum err err = ERR_OK;

	*out = splice_gammes_differ(splice, today->row);
	if (!splice->network_changed)
		return ERR_OK;
	for (unsigned i = 0; i < ROW_COLUMNS && !*out && err == ERR_OK; i++) {
		struct span value;

		if (!tells_network(splice, i))
			continue;
		err = splice_value(splice, today, i, &value);
		*out = err == ERR_OK &&
		    !span_eq(
			value, snapshot_value(splice->snap, today->row, i));
	}
	return err;
}

enum err
splice_row_differs(struct splice *splice, uint32_t row, bool *out)
{
	struct splice_today today = {.row = row};

	assert(splice->snap != NULL);
	return splice_differs(splice, &today, out);
}
