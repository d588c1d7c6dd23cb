/*
 * Cells as a workbook (ISO/IEC 29500), written as it grows: texts stand in
 * their cells, so nothing is kept but the cells that are not packed yet. Behind
 * SHEET_ROWS rows, or SHEET_BYTES bytes, another sheet begins, with the same
 * head.
 */
#include <assert.h>
#include <stdio.h>
#include <stdlib.h>

#include "common/date.h"
#include "common/jsonw.h"
#include "common/num.h"
#include "fcgi/http/reply.h"
#include "fcgi/table/table_priv.h"
#include "fcgi/table/zip.h"

#define SHEET_ROWS 1048575u /* beside the head */
#define SHEET_BYTES ((uint64_t)3 << 30)
#define CELL_BYTES 32767 /* a cell has room for as many UTF-16 units */
#define GATHERED ((size_t)64 << 10)
#define TEXT_MAX ((size_t)64 << 20)
#define LETTERS 4 /* of a column's name, with what ends it */

#define XML "<?xml version=\"1.0\" encoding=\"UTF-8\" standalone=\"yes\"?>\n"
#define MAIN "http://schemas.openxmlformats.org/spreadsheetml/2006/main"
#define PACKAGE "http://schemas.openxmlformats.org/package/2006/"
#define OFFICE \
	"http://schemas.openxmlformats.org/officeDocument/2006/relationships"
#define KIND "application/vnd.openxmlformats-officedocument.spreadsheetml."

/* The text of a cell whose own is longer than a cell may be. */
#define TOO_LONG "(plus de 32 767 caractères : demander mois=lignes)"

/* The places in the styles below. */
enum style {
	STYLE_HEAD = 1,
	STYLE_TEXT,
	STYLE_INTEGER,
	STYLE_DECIMAL,
	STYLE_DAY
};

static const char styles[] = XML
    "<styleSheet xmlns=\"" MAIN "\">"
    "<numFmts count=\"2\"><numFmt numFmtId=\"164\" "
    "formatCode=\"#,##0.00####\"/><numFmt numFmtId=\"165\" "
    "formatCode=\"yyyy\\-mm\\-dd\"/></numFmts>"
    "<fonts count=\"2\"><font><sz val=\"11\"/><name val=\"Calibri\"/></font>"
    "<font><b/><sz val=\"11\"/><name val=\"Calibri\"/></font></fonts>"
    "<fills count=\"2\"><fill><patternFill patternType=\"none\"/></fill>"
    "<fill><patternFill patternType=\"gray125\"/></fill></fills>"
    "<borders count=\"1\"><border><left/><right/><top/><bottom/><diagonal/>"
    "</border></borders>"
    "<cellStyleXfs count=\"1\"><xf/></cellStyleXfs>"
    "<cellXfs count=\"6\"><xf/><xf fontId=\"1\" applyFont=\"1\"/>"
    "<xf numFmtId=\"49\" applyNumberFormat=\"1\"/>"
    "<xf numFmtId=\"3\" applyNumberFormat=\"1\"/>"
    "<xf numFmtId=\"164\" applyNumberFormat=\"1\"/>"
    "<xf numFmtId=\"165\" applyNumberFormat=\"1\"/></cellXfs>"
    "<cellStyles count=\"1\"><cellStyle name=\"Normal\" xfId=\"0\" "
    "builtinId=\"0\"/></cellStyles></styleSheet>";

static const char roots[] =
    XML "<Relationships xmlns=\"" PACKAGE "relationships\">"
	"<Relationship Id=\"rId1\" Type=\"" OFFICE "/officeDocument\" "
	"Target=\"xl/workbook.xml\"/></Relationships>";

struct xlsx {
	struct zip *zip;
	struct buf text; /* of the sheet, not packed yet */
	char (*letters)[LETTERS]; /* of each column */
	unsigned sheets;
	uint32_t rows; /* of the present sheet */
	uint64_t bytes;
};

/* --- texts ---------------------------------------------------------------- */

/* A byte of XML; those that it cannot hold are written as spreadsheets do. */
static void
add_byte(struct buf *to, char byte)
{
	switch (byte) {
	case '&':
		buf_add_text(to, "&amp;");
		break;
	case '<':
		buf_add_text(to, "&lt;");
		break;
	case '>':
		buf_add_text(to, "&gt;");
		break;
	case '"':
		buf_add_text(to, "&quot;");
		break;
	case '\r':
		buf_add_text(to, "&#13;");
		break;
	default:
		if ((unsigned char)byte < ' ' && byte != '\t' && byte != '\n')
			buf_addf(to, "_x%04X_", (unsigned)byte);
		else
			buf_add_char(to, byte);
	}
}

/* U+FFFE and U+FFFF, which XML cannot hold either. */
static bool
is_no_character(struct span text, size_t at)
{
	return text.len - at >= 3 && text.ptr[at] == '\xef' &&
	    text.ptr[at + 1] == '\xbf' && (text.ptr[at + 2] & '\xfe') == '\xbe';
}

static void
add_escaped(struct buf *to, struct span text)
{
	for (size_t at = 0; at < text.len;)
		if (is_no_character(text, at)) {
			buf_add_text(to, "\xef\xbf\xbd");
			at += 3;
		} else
			add_byte(to, text.ptr[at++]);
}

/* Adds the text between the quotes of a JSON string. */
static void
add_string(struct buf *to, struct span text)
{
	for (size_t at = 0; at < text.len;)
		if (is_no_character(text, at)) {
			buf_add_text(to, "\xef\xbf\xbd");
			at += 3;
		} else
			add_byte(to, jsonw_plain_byte(text, &at));
}

/* --- cells ---------------------------------------------------------------- */

/* "<c r="B7" s="2"": the cell's begin. */
static void
add_place(struct table *table, enum style style, uint32_t row)
{
	struct xlsx *xlsx = table->writer;
	struct buf *text = &xlsx->text;

	buf_add_text(text, "<c r=\"");
	buf_add_span(text, span_of(xlsx->letters[table->at]));
	num_add_int(text, row);
	buf_add_text(text, "\" s=\"");
	buf_add_char(text, (char)('0' + style));
	buf_add_char(text, '"');
}

static void
begin_text(struct table *table, enum style style, uint32_t row)
{
	struct xlsx *xlsx = table->writer;

	add_place(table, style, row);
	buf_add_text(
	    &xlsx->text, " t=\"inlineStr\"><is><t xml:space=\"preserve\">");
}

static void
end_text(struct xlsx *xlsx)
{
	buf_add_text(&xlsx->text, "</t></is></c>");
}

static void
add_text(struct table *table, struct span json, uint32_t row)
{
	struct xlsx *xlsx = table->writer;

	begin_text(table, STYLE_TEXT, row);
	if (json.len > CELL_BYTES)
		buf_add_text(&xlsx->text, TOO_LONG);
	else if (json.ptr[0] == '"')
		add_string(&xlsx->text, jsonw_inside(json));
	else
		add_escaped(&xlsx->text, json);
	end_text(xlsx);
}

static void
add_number(
    struct table *table, struct span json, enum style style, uint32_t row)
{
	struct xlsx *xlsx = table->writer;

	add_place(table, style, row);
	buf_add_text(&xlsx->text, "><v>");
	buf_add_span(&xlsx->text, json);
	buf_add_text(&xlsx->text, "</v></c>");
}

/* Days are counted from the end of 1899, rightly so from March 1900 on. */
static bool
add_day(struct table *table, struct span json, uint32_t row)
{
	char text[NUM_TEXT_MAX];
	int32_t day;

	if (!date_day(&day, jsonw_inside(json)) ||
	    day < date_day_of(1900, 3, 1))
		return false;
	day -= date_day_of(1899, 12, 30);
	add_number(
	    table, span_make(text, num_int_text(text, day)), STYLE_DAY, row);
	return true;
}

/* --- sheets --------------------------------------------------------------- */

static enum err
pack(struct xlsx *xlsx)
{
	enum err err = buf_end(&xlsx->text);

	if (err != ERR_OK)
		return err;
	xlsx->bytes += xlsx->text.len;
	err = zip_add(xlsx->zip, buf_span(&xlsx->text));
	buf_clear(&xlsx->text);
	return err;
}

/* In characters: of a text that is read, of a number, of a day. */
static unsigned
width_of(const struct table_column *column)
{
	unsigned name = (unsigned)column->name.len + 2;
	unsigned value = column->type == ROW_TEXT ? 18
	    : column->type == ROW_OBJECT          ? 30
						  : 12;

	return name > value && name <= 40 ? name : value;
}

static enum err
begin_sheet(struct table *table)
{
	struct xlsx *xlsx = table->writer;
	struct buf *text = &xlsx->text;
	char name[64];
	int len = snprintf(
	    name, sizeof(name), "xl/worksheets/sheet%u.xml", ++xlsx->sheets);
	enum err err = zip_file(xlsx->zip, span_make(name, (size_t)len));

	xlsx->rows = 0;
	xlsx->bytes = 0;
	buf_add_text(text,
	    XML "<worksheet xmlns=\"" MAIN "\"><sheetViews>"
		"<sheetView workbookViewId=\"0\"><pane xSplit=\"1\" "
		"ySplit=\"1\" topLeftCell=\"B2\" activePane=\"bottomRight\" "
		"state=\"frozen\"/></sheetView></sheetViews><cols>");
	for (unsigned i = 0; i < table->count; i++)
		buf_addf(text,
		    "<col min=\"%u\" max=\"%u\" width=\"%u\" "
		    "customWidth=\"1\"/>",
		    i + 1, i + 1, width_of(&table->columns[i]));
	buf_add_text(text, "</cols><sheetData><row r=\"1\">");
	for (table->at = 0; table->at < table->count; table->at++) {
		begin_text(table, STYLE_HEAD, 1);
		add_escaped(text, table->columns[table->at].name);
		end_text(xlsx);
	}
	table->at = 0;
	buf_add_text(text, "</row>");
	return err == ERR_OK ? pack(xlsx) : err;
}

/* Codes are texts that look like numbers: no mark in each of their cells. */
static enum err
end_sheet(struct table *table)
{
	struct xlsx *xlsx = table->writer;
	enum err err;

	buf_addf(&xlsx->text,
	    "</sheetData><ignoredErrors><ignoredError sqref=\"A1:%s%u\" "
	    "numberStoredAsText=\"1\"/></ignoredErrors></worksheet>",
	    xlsx->letters[table->count - 1], xlsx->rows + 1);
	err = pack(xlsx);
	return err == ERR_OK ? zip_file_end(xlsx->zip) : err;
}

/* --- the package ---------------------------------------------------------- */

static enum err
put_file(struct xlsx *xlsx, const char *name, struct span text)
{
	enum err err = zip_file(xlsx->zip, span_of(name));

	if (err == ERR_OK)
		err = zip_add(xlsx->zip, text);
	return err == ERR_OK ? zip_file_end(xlsx->zip) : err;
}

/* Puts what stands in the text, and empties it. */
static enum err
put_made(struct xlsx *xlsx, const char *name)
{
	enum err err = buf_end(&xlsx->text);

	if (err == ERR_OK)
		err = put_file(xlsx, name, buf_span(&xlsx->text));
	buf_clear(&xlsx->text);
	return err;
}

static enum err
put_types(struct xlsx *xlsx)
{
	buf_add_text(&xlsx->text,
	    XML "<Types xmlns=\"" PACKAGE "content-types\">"
		"<Default Extension=\"rels\" ContentType=\"application/"
		"vnd.openxmlformats-package.relationships+xml\"/>"
		"<Default Extension=\"xml\" ContentType=\"application/xml\"/>"
		"<Override PartName=\"/xl/workbook.xml\" ContentType=\"" KIND
		"sheet.main+xml\"/>"
		"<Override PartName=\"/xl/styles.xml\" ContentType=\"" KIND
		"styles+xml\"/>");
	for (unsigned i = 1; i <= xlsx->sheets; i++)
		buf_addf(&xlsx->text,
		    "<Override PartName=\"/xl/worksheets/sheet%u.xml\" "
		    "ContentType=\"%sworksheet+xml\"/>",
		    i, KIND);
	buf_add_text(&xlsx->text, "</Types>");
	return put_made(xlsx, "[Content_Types].xml");
}

static enum err
put_workbook(struct xlsx *xlsx)
{
	buf_add_text(&xlsx->text,
	    XML "<workbook xmlns=\"" MAIN "\" xmlns:r=\"" OFFICE "\"><sheets>");
	for (unsigned i = 1; i <= xlsx->sheets; i++)
		buf_addf(&xlsx->text,
		    "<sheet name=\"grid%.0u\" sheetId=\"%u\" r:id=\"rId%u\"/>",
		    i == 1 ? 0 : i, i, i);
	buf_add_text(&xlsx->text, "</sheets></workbook>");
	return put_made(xlsx, "xl/workbook.xml");
}

static enum err
put_relations(struct xlsx *xlsx)
{
	buf_add_text(&xlsx->text,
	    XML "<Relationships xmlns=\"" PACKAGE "relationships\">");
	for (unsigned i = 1; i <= xlsx->sheets; i++)
		buf_addf(&xlsx->text,
		    "<Relationship Id=\"rId%u\" Type=\"%s/worksheet\" "
		    "Target=\"worksheets/sheet%u.xml\"/>",
		    i, OFFICE, i);
	buf_addf(&xlsx->text,
	    "<Relationship Id=\"rId%u\" Type=\"%s/styles\" "
	    "Target=\"styles.xml\"/></Relationships>",
	    xlsx->sheets + 1, OFFICE);
	return put_made(xlsx, "xl/_rels/workbook.xml.rels");
}

/* --- the writer ----------------------------------------------------------- */

static void
fini(struct table *table)
{
	struct xlsx *xlsx = table->writer;

	if (xlsx == NULL)
		return;
	zip_close(xlsx->zip);
	buf_fini(&xlsx->text);
	free(xlsx->letters);
	free(xlsx);
	table->writer = NULL;
}

/* "A" to "XFD". */
static void
name_column(char letters[LETTERS], unsigned column)
{
	char text[LETTERS] = "";
	unsigned at = LETTERS - 1, left = column + 1;

	for (; left > 0; left = (left - 1) / 26)
		text[--at] = (char)('A' + (left - 1) % 26);
	memcpy(letters, text + at, LETTERS - at);
}

static enum err
begin(struct table *table)
{
	struct xlsx *xlsx = calloc(1, sizeof(*xlsx));
	enum err err;

	table->writer = xlsx;
	if (xlsx == NULL)
		return ERR_NO_MEMORY;
	buf_init(&xlsx->text, TEXT_MAX);
	xlsx->zip = zip_open(&table->reply->body);
	xlsx->letters = calloc(table->count, sizeof(*xlsx->letters));
	if (xlsx->zip == NULL || xlsx->letters == NULL)
		return ERR_NO_MEMORY;
	for (unsigned i = 0; i < table->count; i++)
		name_column(xlsx->letters[i], i);
	err = put_file(xlsx, "_rels/.rels", span_of(roots));
	if (err == ERR_OK)
		err = put_file(xlsx, "xl/styles.xml", span_of(styles));
	return err == ERR_OK ? begin_sheet(table) : err;
}

static void
add_cell(struct table *table, uint32_t row)
{
	struct span json = table->cells[table->at];

	if (span_eq(json, SPAN("null")))
		return;
	switch (table->columns[table->at].type) {
	case ROW_DECIMAL:
		add_number(table, json, STYLE_DECIMAL, row);
		return;
	case ROW_INTEGER:
		add_number(table, json, STYLE_INTEGER, row);
		return;
	case ROW_DATE:
		if (add_day(table, json, row))
			return;
		/* fall through */
	default:
		add_text(table, json, row);
	}
}

static enum err
row(struct table *table)
{
	struct xlsx *xlsx = table->writer;
	enum err err = ERR_OK;

	buf_add_text(&xlsx->text, "<row r=\"");
	num_add_int(&xlsx->text, xlsx->rows + 2);
	buf_add_text(&xlsx->text, "\">");
	for (table->at = 0; table->at < table->count; table->at++)
		add_cell(table, xlsx->rows + 2);
	buf_add_text(&xlsx->text, "</row>");
	xlsx->rows++;
	if (xlsx->text.len >= GATHERED)
		err = pack(xlsx);
	if (err != ERR_OK ||
	    (xlsx->rows < SHEET_ROWS && xlsx->bytes < SHEET_BYTES))
		return err;
	err = end_sheet(table);
	return err == ERR_OK ? begin_sheet(table) : err;
}

static enum err
end(struct table *table)
{
	struct xlsx *xlsx = table->writer;
	enum err err = end_sheet(table);

	if (err == ERR_OK)
		err = put_workbook(xlsx);
	if (err == ERR_OK)
		err = put_relations(xlsx);
	if (err == ERR_OK)
		err = put_types(xlsx);
	return err == ERR_OK ? zip_end(xlsx->zip) : err;
}

const struct table_ops table_xlsx_ops = {begin, row, end, fini};
