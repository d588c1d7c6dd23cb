#include "fcgi/search/part.h"

#include "common/arena.h"
#include "fcgi/call.h"
#include "fcgi/rows/etag.h"
#include "fcgi/http/iovbuf.h"
#include "fcgi/rows/snapview.h"
#include "fcgi/rows/splice.h"
#include "fcgi/search/across.h"
#include "lmdb-schema/schema.h"
#include "lmdb-schema/snapshot/catalog.h"
#include "lmdb-schema/state/share.h"

static const struct span question_magic = {"ask 1", 5},
			 answer_magic = {"part 1", 6};

/* --- the question --------------------------------------------------------- */

void
part_question_write(struct buf *out, const struct part_question *question)
{
	const struct scope_wanted *wanted = &question->wanted;

	pack_add_text(out, question_magic);
	pack_add_text(out, question->address);
	pack_add_unsigned(out, question->first);
	pack_add_unsigned(out, question->count);
	pack_add_unsigned(out, question->text);
	pack_add_unsigned(out, wanted->count);
	for (unsigned i = 0; i < wanted->count; i++)
		pack_add_text(out, wanted->codes[i]);
}

void
part_hash(struct scope_wanted *wanted)
{
	uint64_t hash = wanted->count;

	for (unsigned i = 0; i < wanted->count; i++)
		hash =
		    etag_mix(hash, wanted->codes[i].ptr, wanted->codes[i].len);
	wanted->hash = hash == 0 ? 1 : hash;
}

static bool
read_suppliers(struct span *codes, uint64_t count, struct unpack *from)
{
	for (uint64_t i = 0; i < count; i++) {
		codes[i] = unpack_text(from);
		if (codes[i].len == 0 || codes[i].len > SCHEMA_CODE_MAX ||
		    (i > 0 && span_cmp(codes[i - 1], codes[i]) >= 0))
			return false;
	}
	return unpack_done(from);
}

enum err
part_question_read(
    struct part_question *out, struct span bytes, struct arena *arena)
{
	struct unpack from;
	uint64_t text, count;
	struct span *codes;

	if (bytes.len == 0)
		return ERR_BAD_INPUT;
	unpack_init(&from, bytes);
	if (!span_eq(unpack_text(&from), question_magic))
		return ERR_BAD_INPUT;
	out->address = unpack_text(&from);
	out->first = unpack_unsigned(&from);
	out->count = unpack_unsigned(&from);
	text = unpack_unsigned(&from);
	count = unpack_unsigned(&from);
	if (from.bad || text > 1 || count == 0 || count > PART_SUPPLIERS_MAX ||
	    out->first > INT64_MAX / 2 || out->count > INT64_MAX / 2)
		return ERR_BAD_INPUT;
	codes = arena_array(arena, count, sizeof(*codes));
	if (codes == NULL)
		return ERR_NO_MEMORY;
	if (!read_suppliers(codes, count, &from))
		return ERR_BAD_INPUT;
	out->text = text == 1;
	out->wanted =
	    (struct scope_wanted){.codes = codes, .count = (unsigned)count};
	part_hash(&out->wanted);
	return ERR_OK;
}

/* --- the answer ----------------------------------------------------------- */

void
part_write(struct buf *out, const struct part *head)
{
	pack_add_text(out, answer_magic);
	pack_add_unsigned(out, head->total);
	pack_add_unsigned(out, head->suppliers);
	pack_add_unsigned(out, head->sum);
	pack_add_unsigned(out, head->places);
	pack_add_text(out, head->head);
}

bool
part_is_here(struct call *call, struct span supplier)
{
	struct catalog_entry entry;

	return catalog_get(call->serving->views.catalog, supplier, &entry) ==
	    ERR_OK;
}

void
part_write_lacking(struct buf *out, const struct part *head, struct call *call,
    const struct scope_wanted *wanted)
{
	unsigned lack = 0;

	part_write(out, head);
	for (unsigned i = 0;
	     i < wanted->count && head->suppliers < wanted->count; i++)
		lack += !part_is_here(call, wanted->codes[i]);
	pack_add_unsigned(out, lack);
	for (unsigned i = 0; i < wanted->count && lack > 0; i++)
		if (!part_is_here(call, wanted->codes[i])) {
			pack_add_text(out, wanted->codes[i]);
			lack--;
		}
}

void
part_write_row(struct buf *out, struct span order, struct span text)
{
	pack_add_unsigned(out, 1);
	pack_add_text(out, order);
	pack_add_text(out, text);
}

void
part_write_end(struct buf *out)
{
	pack_add_unsigned(out, 0);
}

bool
part_next(struct part *part)
{
	if (unpack_unsigned(&part->rows) != 1)
		return false;
	part->order = unpack_text(&part->rows);
	part->text = unpack_text(&part->rows);
	return !part->rows.bad;
}

/* Up to and with the end: each row behind the one before. */
static bool
check_rows(struct part part)
{
	struct span before = span_make(NULL, 0);
	uint64_t count = 0;

	while (part.rows.at < part.rows.end && *part.rows.at == 1) {
		if (!part_next(&part) || part.order.len == 0 ||
		    span_cmp(before, part.order) >= 0)
			return false;
		before = part.order;
		count++;
	}
	return count <= part.total && unpack_unsigned(&part.rows) == 0 &&
	    unpack_done(&part.rows);
}

static bool
pass_lacking(struct unpack *from, uint64_t count)
{
	struct span before = span_make(NULL, 0);

	for (uint64_t i = 0; i < count && !from->bad; i++) {
		struct span code = unpack_text(from);

		if (span_cmp(before, code) >= 0)
			return false;
		before = code;
	}
	return !from->bad;
}

enum err
part_read(struct part *out, struct span bytes)
{
	struct unpack *from = &out->rows;

	if (bytes.len == 0)
		return ERR_BAD_INPUT;
	unpack_init(from, bytes);
	if (!span_eq(unpack_text(from), answer_magic))
		return ERR_BAD_INPUT;
	out->total = unpack_unsigned(from);
	out->suppliers = unpack_unsigned(from);
	out->sum = unpack_unsigned(from);
	out->places = unpack_unsigned(from);
	out->head = unpack_text(from);
	out->lack_count = unpack_unsigned(from);
	out->lacks = *from;
	out->order = out->text = span_make(NULL, 0);
	if (from->bad || out->total > INT64_MAX / SHARE_NODES_MAX ||
	    out->suppliers > PART_SUPPLIERS_MAX ||
	    out->lack_count > PART_SUPPLIERS_MAX ||
	    !pass_lacking(from, out->lack_count))
		return ERR_BAD_INPUT;
	return check_rows(*out) ? ERR_OK : ERR_BAD_INPUT;
}

/* --- of this node --------------------------------------------------------- */

struct making {
	struct call *call;
	struct across across;
	const struct part_question *question;
	struct buf *out;
	struct buf order;
	struct iovbuf row;
	int64_t count; /* rows to be written */
};

#define ORDER_MAX ((size_t)1 << 20)

void
part_write_pieces(struct buf *out, struct span order, const struct iovbuf *row)
{
	size_t left = row->total - 1;

	pack_add_unsigned(out, 1);
	pack_add_text(out, order);
	pack_add_unsigned(out, left);
	for (unsigned i = 1; i < row->count && left > 0; i++) {
		size_t len = row->iov[i].iov_len;

		len = len < left ? len : left;
		buf_add(out, row->iov[i].iov_base, len);
		left -= len;
	}
}

static enum err
write_row(struct making *making, const struct snapview *view, uint32_t row)
{
	struct splice *splice = making->call->serving->splice;
	enum err err = ERR_OK;

	if (!making->question->text) {
		part_write_row(making->out, buf_span(&making->order), SPAN(""));
		return ERR_OK;
	}
	iovbuf_clear(&making->row);
	splice_turn(splice, view->pinned->snap, view->ranges);
	err = snapview_blame(
	    making->call, view, splice_row(splice, row, &making->row));
	if (err == ERR_OK)
		err = making->row.err;
	if (err == ERR_OK)
		part_write_pieces(
		    making->out, buf_span(&making->order), &making->row);
	return err;
}

static enum err
write_rows(struct making *making)
{
	struct call *call = making->call;
	size_t before = making->out->len;
	enum err err = ERR_OK;

	for (int64_t i = 0; i < making->count && err == ERR_OK &&
	     making->out->len - before < PART_BYTES;
	     i++) {
		const struct snapview *view;
		uint32_t row;

		buf_clear(&making->order);
		err = across_order(&making->order, &making->across);
		if (err == ERR_OK)
			err = across_next(&making->across, &view, &row);
		if (err != ERR_OK)
			break;
		if (i == 0)
			splice_begin(call->serving->splice, view->pinned->snap,
			    view->ranges, call->serving->views.live,
			    call->params.enrich, &call->params.fields,
			    SPLICE_NDJSON);
		err = write_row(making, view, row);
	}
	part_write_end(making->out);
	return err;
}

/* To the first of the rows. */
static enum err
find(struct making *making)
{
	const struct part_question *question = making->question;
	struct across *across = &making->across;
	enum err err = across_ask(across, SPAN(""));
	int64_t first = (int64_t)question->first, left;

	if (err != ERR_OK)
		return err;
	left = across->total > first ? across->total - first : 0;
	making->count =
	    (int64_t)question->count < left ? (int64_t)question->count : left;
	return making->count == 0 ? ERR_OK
				  : across_seek(across, first, making->count);
}

static enum err
make(struct making *making)
{
	const struct across *across = &making->across;
	struct part head;
	enum err err = find(making);

	/* A snapshot could not be opened: ask again, without its supplier. */
	if (err == ERR_NOT_READY)
		err = find(making);
	if (err != ERR_OK)
		return err;
	head = (struct part){.total = (uint64_t)across->total,
	    .suppliers = (uint64_t)across->suppliers,
	    .sum = across->sum,
	    .places = across->places,
	    .head = SPAN("")};
	part_write_lacking(
	    making->out, &head, making->call, &making->question->wanted);
	err = write_rows(making);
	return err == ERR_OK ? buf_end(making->out) : err;
}

enum err
part_search(struct buf *out, struct call *call,
    const struct rowset_query *query, const struct part_question *question)
{
	struct making making = {.call = call, .question = question, .out = out};
	enum err err;

	buf_clear(out);
	buf_init(&making.order, ORDER_MAX);
	iovbuf_init(&making.row);
	across_begin(&making.across, call, query);
	making.across.wanted = &question->wanted;
	err = make(&making);
	across_end(&making.across);
	iovbuf_fini(&making.row);
	buf_fini(&making.order);
	return err;
}
