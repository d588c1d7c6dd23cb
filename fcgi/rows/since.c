/*
 * Both generations list their rows by codein: one walk over the older list finds
 * each article in the newer one. Rows that it never met are new.
 */
#include "fcgi/rows/since.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "common/date.h"
#include "common/jsonw.h"

#define LOOK_ROWS 512 /* after so many the files are looked at again */
#define GONE_MAX ((size_t)1 << 30)

struct finding {
	struct since *since;
	struct pinned *now, *then;
	const struct columns *columns;
	uint8_t *same; /* by rows of `now` */
	uint32_t place; /* of snapshot_find_next() */
	struct buf code;
};

static bool
same_bytes(struct span a, struct span b)
{
	return a.len > 0 && span_eq(a, b);
}

/* All scalars, or all maps, as they lie in the file. */
static struct span
flat_text(const struct snapshot_part *part)
{
	const uint16_t *off = part->off.flat;

	return off[ROW_FLATS] < off[0]
	    ? SPAN("")
	    : span_make(part->json + off[0], off[ROW_FLATS] - off[0]);
}

static struct span
maps_text(const struct snapshot_part *part)
{
	const uint32_t *off = part->off.maps;

	return off[ROW_MAPCOUNT] < off[0]
	    ? SPAN("")
	    : span_make(part->json + off[0], off[ROW_MAPCOUNT] - off[0]);
}

static bool
same_row(struct snapshot *now, uint32_t row, struct snapshot *then,
    uint32_t row_then)
{
	struct snapshot_part a, b;

	return snapshot_flat(now, row, &a) &&
	    snapshot_flat(then, row_then, &b) &&
	    same_bytes(flat_text(&a), flat_text(&b)) &&
	    snapshot_maps(now, row, &a) && snapshot_maps(then, row_then, &b) &&
	    same_bytes(maps_text(&a), maps_text(&b));
}

static bool
same_columns(const struct finding *finding, uint32_t row, uint32_t row_then)
{
	const struct columns *columns = finding->columns;

	for (unsigned i = columns_next(columns, 0); i < ROW_COLUMNS;
	     i = columns_next(columns, i + 1))
		if (!same_bytes(snapshot_value(finding->now->snap, row, i),
			snapshot_value(finding->then->snap, row_then, i)))
			return false;
	return true;
}

static enum err
look_at(struct finding *finding, uint32_t row_then)
{
	struct snapshot *now = finding->now->snap;
	struct snapshot *then = finding->then->snap;
	struct span quoted = snapshot_value(then, row_then, COL_codein);
	struct span code;
	uint32_t row = 0;
	enum err err;

	if (quoted.len == 0)
		return ERR_DAMAGED;
	buf_clear(&finding->code);
	jsonw_unquote(&finding->code, quoted);
	err = buf_end(&finding->code);
	if (err != ERR_OK)
		return err;
	code = buf_span(&finding->code);
	err = snapshot_find_next(now, code, &finding->place, &row);
	if (err == ERR_NOT_FOUND) {
		buf_add_span(&finding->since->gone, code);
		buf_add_char(&finding->since->gone, '\0');
		finding->since->gone_count++;
		return buf_end(&finding->since->gone);
	}
	if (err == ERR_OK)
		finding->same[row] = columns_any(finding->columns)
		    ? same_columns(finding, row, row_then)
		    : same_row(now, row, then, row_then);
	return err;
}

static enum err
walk(struct finding *finding)
{
	struct snapshot *then = finding->then->snap;
	const uint32_t *order = snapshot_by_codein(then);
	enum err err = order == NULL ? ERR_DAMAGED : ERR_OK;

	for (uint32_t i = 0; i < snapshot_rows(then) && err == ERR_OK; i++) {
		if (i % LOOK_ROWS == 0) {
			int64_t now_ns = date_monotonic_ns();

			snapcache_look(finding->now, now_ns);
			snapcache_look(finding->then, now_ns);
		}
		err = look_at(finding, order[i]);
	}
	return err;
}

static void
list(struct since *since, const uint8_t *same, uint32_t rows)
{
	for (uint32_t row = 0; row < rows; row++)
		if (same[row] == 0)
			since->rows[since->count++] = row;
}

enum err
since_find(struct since *since, struct pinned *now, struct pinned *then,
    const struct columns *columns)
{
	uint32_t rows = snapshot_rows(now->snap);
	struct finding finding = {.since = since,
	    .now = now,
	    .then = then,
	    .columns = columns,
	    .same = calloc(rows + 1u, 1)};
	enum err err = ERR_NO_MEMORY;

	assert(now != NULL && then != NULL);
	memset(since, 0, sizeof(*since));
	buf_init(&since->gone, GONE_MAX);
	buf_init(&finding.code, SCHEMA_CODE_MAX);
	since->rows = malloc((rows + 1u) * sizeof(*since->rows));
	if (finding.same != NULL && since->rows != NULL)
		err = walk(&finding);
	/* Damaged bytes compare as others, and are no difference. */
	if (err == ERR_OK &&
	    (snapshot_is_damaged(now->snap) || snapshot_is_damaged(then->snap)))
		err = ERR_DAMAGED;
	if (err == ERR_OK)
		list(since, finding.same, rows);
	buf_fini(&finding.code);
	free(finding.same);
	return err;
}

void
since_fini(struct since *since)
{
	buf_fini(&since->gone);
	free(since->rows);
}
