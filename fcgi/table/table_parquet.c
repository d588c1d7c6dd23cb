/*
 * Cells as Apache Parquet: a row group at a time, one page of plain values for
 * each of its columns, packed with zstd; the metadata behind all of them. What
 * is kept are the values of one row group, and where the ones before lie.
 *
 *	"PAR1"  row groups  metadata  length of the metadata, u32  "PAR1"
 */
#include <assert.h>
#include <stdlib.h>

#include "fcgi/http/reply.h"
#include "fcgi/table/parquet_value.h"
#include "fcgi/table/table_priv.h"
#include "fcgi/table/thrift.h"
#include "lmdb-schema/zstd.h"

#define MAGIC "PAR1"
#define GROUP_ROWS 50000
#define GROUP_BYTES ((size_t)32 << 20) /* a thread's, and as much packed */
#define COLUMN_BYTES ((size_t)1 << 30)

/* Of the format's own enumerations, what is used here. */
enum { TYPE_INT32 = 1, TYPE_INT64 = 2, TYPE_BYTES = 6, TYPE_FIXED = 7 };
enum { CONVERTED_UTF8 = 0, CONVERTED_DECIMAL = 5, CONVERTED_DATE = 6 };
enum { ENCODING_PLAIN = 0, ENCODING_RLE = 3 };
enum { CODEC_ZSTD = 6, OPTIONAL = 1, PAGE_DATA = 0 };

struct column {
	struct buf values; /* those that are not null, one behind the other */
	struct buf there; /* a bit a row: 1 is a value */
};

/* A column's bytes in a row group that is out. */
struct chunk {
	uint64_t at, plain, packed; /* both with the page's head */
};

struct group {
	uint32_t rows;
	uint64_t bytes;
	struct chunk *chunks; /* [count of columns] */
};

struct parquet {
	struct column *columns;
	struct group *groups;
	size_t group_count, group_room;
	uint32_t rows; /* of the present group */
	size_t bytes;
	uint64_t out; /* bytes added to the body so far */
	struct zstd *zstd;
	struct buf page, packed, head;
};

static int
type_of(enum row_type type)
{
	switch (type) {
	case ROW_DECIMAL:
		return TYPE_FIXED;
	case ROW_INTEGER:
		return TYPE_INT64;
	case ROW_DATE:
		return TYPE_INT32;
	default:
		return TYPE_BYTES;
	}
}

/* --- a row group ---------------------------------------------------------- */

static void
put(struct table *table, struct span bytes)
{
	struct parquet *parquet = table->writer;

	iovbuf_add(&table->reply->body, bytes);
	parquet->out += bytes.len;
}

/*
 * The page's plain bytes: which rows have a value, as one run of bits in groups
 * of eight behind its length; then the values.
 */
static enum err
make_page(struct parquet *parquet, const struct column *column)
{
	struct buf *page = &parquet->page;
	uint32_t eights = (parquet->rows + 7) / 8;
	uint64_t head = (uint64_t)eights << 1 | 1;
	unsigned head_len = 1;

	for (uint64_t left = head >> 7; left > 0; left >>= 7)
		head_len++;
	buf_clear(page);
	buf_add_u32(page, head_len + eights);
	for (; head >= 0x80; head >>= 7)
		buf_add_char(page, (char)(head | 0x80));
	buf_add_char(page, (char)head);
	buf_add_span(page, span_sub(buf_span(&column->there), 0, eights));
	buf_add_span(page, buf_span(&column->values));
	return buf_end(page);
}

static void
make_page_head(struct parquet *parquet)
{
	struct thrift thrift;

	buf_clear(&parquet->head);
	thrift_begin(&thrift, &parquet->head);
	thrift_i32(&thrift, 1, PAGE_DATA);
	thrift_i32(&thrift, 2, (int32_t)parquet->page.len);
	thrift_i32(&thrift, 3, (int32_t)parquet->packed.len);
	thrift_struct(&thrift, 5);
	thrift_i32(&thrift, 1, (int32_t)parquet->rows);
	thrift_i32(&thrift, 2, ENCODING_PLAIN);
	thrift_i32(&thrift, 3, ENCODING_RLE);
	thrift_i32(&thrift, 4, ENCODING_RLE);
	thrift_struct_end(&thrift);
	thrift_struct_end(&thrift);
}

static enum err
put_column(struct table *table, struct column *column, struct chunk *chunk)
{
	struct parquet *parquet = table->writer;
	enum err err = buf_end(&column->values);

	if (err == ERR_OK)
		err = buf_end(&column->there);
	if (err == ERR_OK)
		err = make_page(parquet, column);
	if (err == ERR_OK)
		err = zstd_begin(parquet->zstd);
	buf_clear(&parquet->packed);
	if (err == ERR_OK)
		err = zstd_add(parquet->zstd, &parquet->packed,
		    buf_span(&parquet->page), true);
	if (err != ERR_OK)
		return err;
	make_page_head(parquet);
	*chunk =
	    (struct chunk){parquet->out, parquet->head.len + parquet->page.len,
		parquet->head.len + parquet->packed.len};
	put(table, buf_span(&parquet->head));
	put(table, buf_span(&parquet->packed));
	buf_clear(&column->values);
	buf_clear(&column->there);
	return buf_end(&parquet->head);
}

static struct group *
new_group(struct table *table)
{
	struct parquet *parquet = table->writer;
	struct group *group;

	if (parquet->group_count == parquet->group_room) {
		size_t room =
		    parquet->group_room == 0 ? 16 : 2 * parquet->group_room;
		struct group *grown =
		    realloc(parquet->groups, room * sizeof(*grown));

		if (grown == NULL)
			return NULL;
		parquet->groups = grown;
		parquet->group_room = room;
	}
	group = &parquet->groups[parquet->group_count];
	group->rows = parquet->rows;
	group->bytes = 0;
	group->chunks = calloc(table->count, sizeof(*group->chunks));
	if (group->chunks == NULL)
		return NULL;
	parquet->group_count++;
	return group;
}

static enum err
put_group(struct table *table)
{
	struct parquet *parquet = table->writer;
	struct group *group = new_group(table);
	enum err err = group == NULL ? ERR_NO_MEMORY : ERR_OK;

	for (unsigned i = 0; i < table->count && err == ERR_OK; i++) {
		err =
		    put_column(table, &parquet->columns[i], &group->chunks[i]);
		if (err == ERR_OK)
			group->bytes += group->chunks[i].plain;
		reply_flush_some(table->reply);
	}
	parquet->rows = 0;
	parquet->bytes = 0;
	return err;
}

/* --- metadata ------------------------------------------------------------- */

static void
add_schema_column(struct thrift *thrift, const struct table_column *column)
{
	int type = type_of(column->type);

	thrift_item_begin(thrift);
	thrift_i32(thrift, 1, type);
	if (type == TYPE_FIXED)
		thrift_i32(thrift, 2, PARQUET_DECIMAL_BYTES);
	thrift_i32(thrift, 3, OPTIONAL);
	thrift_text(thrift, 4, column->name);
	if (type == TYPE_BYTES)
		thrift_i32(thrift, 6, CONVERTED_UTF8);
	if (type == TYPE_INT32)
		thrift_i32(thrift, 6, CONVERTED_DATE);
	if (type == TYPE_FIXED) {
		thrift_i32(thrift, 6, CONVERTED_DECIMAL);
		thrift_i32(thrift, 7, PARQUET_DECIMAL_SCALE);
		thrift_i32(thrift, 8, PARQUET_DECIMAL_DIGITS);
	}
	thrift_struct_end(thrift);
}

static void
add_schema(struct thrift *thrift, const struct table *table)
{
	thrift_list(thrift, 2, THRIFT_STRUCT, table->count + 1);
	thrift_item_begin(thrift);
	thrift_text(thrift, 4, SPAN("schema"));
	thrift_i32(thrift, 5, (int32_t)table->count);
	thrift_struct_end(thrift);
	for (unsigned i = 0; i < table->count; i++)
		add_schema_column(thrift, &table->columns[i]);
}

static void
add_chunk(struct thrift *thrift, const struct table_column *column,
    const struct chunk *chunk, uint32_t rows)
{
	thrift_item_begin(thrift);
	thrift_i64(thrift, 2, (int64_t)chunk->at);
	thrift_struct(thrift, 3);
	thrift_i32(thrift, 1, type_of(column->type));
	thrift_list(thrift, 2, THRIFT_I32, 2);
	thrift_item_i32(thrift, ENCODING_PLAIN);
	thrift_item_i32(thrift, ENCODING_RLE);
	thrift_list(thrift, 3, THRIFT_TEXT, 1);
	thrift_item_text(thrift, column->name);
	thrift_i32(thrift, 4, CODEC_ZSTD);
	thrift_i64(thrift, 5, rows);
	thrift_i64(thrift, 6, (int64_t)chunk->plain);
	thrift_i64(thrift, 7, (int64_t)chunk->packed);
	thrift_i64(thrift, 9, (int64_t)chunk->at);
	thrift_struct_end(thrift);
	thrift_struct_end(thrift);
}

static void
add_group(
    struct thrift *thrift, const struct table *table, const struct group *group)
{
	thrift_item_begin(thrift);
	thrift_list(thrift, 1, THRIFT_STRUCT, table->count);
	for (unsigned i = 0; i < table->count; i++)
		add_chunk(
		    thrift, &table->columns[i], &group->chunks[i], group->rows);
	thrift_i64(thrift, 2, (int64_t)group->bytes);
	thrift_i64(thrift, 3, group->rows);
	thrift_struct_end(thrift);
}

static enum err
put_metadata(struct table *table)
{
	struct parquet *parquet = table->writer;
	struct buf *text = &parquet->page;
	struct thrift thrift;

	buf_clear(text);
	thrift_begin(&thrift, text);
	thrift_i32(&thrift, 1, 1); /* the format's first version is enough */
	add_schema(&thrift, table);
	thrift_i64(&thrift, 3, (int64_t)table->rows);
	thrift_list(&thrift, 4, THRIFT_STRUCT, (uint32_t)parquet->group_count);
	for (size_t i = 0; i < parquet->group_count; i++)
		add_group(&thrift, table, &parquet->groups[i]);
	thrift_text(&thrift, 6, SPAN("product-grid"));
	thrift_struct_end(&thrift);
	buf_add_u32(text, (uint32_t)text->len);
	buf_add_text(text, MAGIC);
	put(table, buf_span(text));
	return buf_end(text);
}

/* --- the writer ----------------------------------------------------------- */

static void
fini(struct table *table)
{
	struct parquet *parquet = table->writer;

	if (parquet == NULL)
		return;
	for (unsigned i = 0; i < table->count && parquet->columns != NULL;
	     i++) {
		buf_fini(&parquet->columns[i].values);
		buf_fini(&parquet->columns[i].there);
	}
	for (size_t i = 0; i < parquet->group_count; i++)
		free(parquet->groups[i].chunks);
	free(parquet->columns);
	free(parquet->groups);
	zstd_free(parquet->zstd);
	buf_fini(&parquet->page);
	buf_fini(&parquet->packed);
	buf_fini(&parquet->head);
	free(parquet);
	table->writer = NULL;
}

static enum err
begin(struct table *table)
{
	struct parquet *parquet = calloc(1, sizeof(*parquet));

	table->writer = parquet;
	if (parquet == NULL)
		return ERR_NO_MEMORY;
	parquet->columns = calloc(table->count, sizeof(*parquet->columns));
	parquet->zstd = zstd_new();
	if (parquet->columns == NULL || parquet->zstd == NULL)
		return ERR_NO_MEMORY;
	for (unsigned i = 0; i < table->count; i++) {
		buf_init(&parquet->columns[i].values, COLUMN_BYTES);
		buf_init(&parquet->columns[i].there, COLUMN_BYTES);
	}
	buf_init(&parquet->page, COLUMN_BYTES);
	buf_init(&parquet->packed, COLUMN_BYTES);
	buf_init(&parquet->head, 1 << 16);
	put(table, SPAN(MAGIC));
	return ERR_OK;
}

/* Bit `rows` of the column. */
static void
note_there(struct buf *there, uint32_t rows, bool is)
{
	if (rows % 8 == 0)
		buf_add_char(there, is);
	else if (is && buf_end(there) == ERR_OK)
		there->data[rows / 8] =
		    (char)(there->data[rows / 8] | 1 << rows % 8);
}

static enum err
add_cell(struct table *table, unsigned i)
{
	struct parquet *parquet = table->writer;
	struct column *column = &parquet->columns[i];
	struct span json = table->cells[i];
	bool null = span_eq(json, SPAN("null"));
	size_t before = column->values.len;

	note_there(&column->there, parquet->rows, !null);
	if (!null &&
	    !parquet_value(&column->values, table->columns[i].type, json))
		return ERR_DAMAGED;
	parquet->bytes += column->values.len - before;
	return ERR_OK;
}

static enum err
row(struct table *table)
{
	struct parquet *parquet = table->writer;

	for (unsigned i = 0; i < table->count; i++) {
		enum err err = add_cell(table, i);

		if (err != ERR_OK)
			return err;
	}
	parquet->rows++;
	if (parquet->rows < GROUP_ROWS && parquet->bytes < GROUP_BYTES)
		return ERR_OK;
	return put_group(table);
}

static enum err
end(struct table *table)
{
	struct parquet *parquet = table->writer;
	enum err err = parquet->rows > 0 ? put_group(table) : ERR_OK;

	return err == ERR_OK ? put_metadata(table) : err;
}

const struct table_ops table_parquet_ops = {begin, row, end, fini};
