/*
 * workbook: a sheet as an Excel file (ISO/IEC 29500): texts as texts, numbers,
 * rates and days as such, heads that stay on top.
 */
import {inPortions} from "./slices.js";
import {zipOf} from "./zip.js";

const TYPE = "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet";
const MAIN = "http://schemas.openxmlformats.org/spreadsheetml/2006/main";
const OFFICE = "http://schemas.openxmlformats.org/officeDocument/2006/relationships";
const PACKAGE = "http://schemas.openxmlformats.org/package/2006";
const HEAD = '<?xml version="1.0" encoding="UTF-8" standalone="yes"?>\n';

/* The formats of cells by their types; numbers below 100 are Excel's own. */
const STYLES = [["number", 0], ["text", 49], ["money", 3], ["price", 4],
    ["percent", 164], ["day", 14], ["time", 22], ["head", 49]];
const styleOf = Object.fromEntries(STYLES.map(([type], i) => [type, i]));

const DAY_MS = 86400000, EPOCH = 25569; /* 1970-01-01, in days of Excel */
const MOST_CHARACTERS = 32767;
export const MOST_ROWS = 1048575; /* and a head */
const PIXELS = 7; /* of a character */

/* What XML 1.0 has no place for is left out. */
const escaped = (text) => String(text).slice(0, MOST_CHARACTERS)
    .replace(/(?![\t\n])[\p{Cc}\ufffe\uffff]/gu, "")
    .replace(/[&<>"]/g, (one) => ({"&": "&amp;", "<": "&lt;", ">": "&gt;",
	"\"": "&quot;"})[one]);

const textCell = (value, style) => `<c s="${style}" t="inlineStr"><is>` +
    `<t xml:space="preserve">${escaped(value)}</t></is></c>`;

/* A moment as it is here, since a sheet knows no zones. */
function localDays(moment) {
	const date = new Date(moment);

	return (date - date.getTimezoneOffset() * 60000) / DAY_MS + EPOCH;
}

const numberOf = {
	day: (value) => Date.parse(value) / DAY_MS + EPOCH,
	time: localDays,
};

function cell({type, valueOf}, row) {
	const value = valueOf(row);

	if (value == null || value === "")
		return `<c s="${styleOf[type]}"/>`;
	return type === "text" ? textCell(value, styleOf.text) :
	    `<c s="${styleOf[type]}"><v>${
		(numberOf[type] ?? Number)(value)}</v></c>`;
}

const rowOf = (columns, row) => `<row>${columns.map((one) =>
    cell(one, row)).join("")}</row>`;

async function writeSheet(write, columns, batches) {
	await write(`${HEAD}<worksheet xmlns="${MAIN}"><sheetViews>` +
	    '<sheetView workbookViewId="0"><pane ySplit="1" topLeftCell="A2" ' +
	    'activePane="bottomLeft" state="frozen"/></sheetView></sheetViews>' +
	    `<cols>${columns.map(({width}, i) => `<col min="${i + 1}" max="${
		i + 1}" width="${(width / PIXELS).toFixed(1)}" customWidth="1"/>`)
		.join("")}</cols><sheetData><row>${columns.map(({head}) =>
		textCell(head, styleOf.head)).join("")}</row>`);
	await inPortions(batches, (rows) => write(rows.map((row) =>
	    rowOf(columns, row)).join("")));
	await write("</sheetData></worksheet>");
}

const styles = `${HEAD}<styleSheet xmlns="${MAIN}"><numFmts count="1">` +
    '<numFmt numFmtId="164" formatCode="0.0%"/></numFmts><fonts count="2">' +
    '<font><sz val="11"/><name val="Calibri"/></font><font><b/>' +
    '<sz val="11"/><name val="Calibri"/></font></fonts><fills count="2">' +
    '<fill><patternFill patternType="none"/></fill><fill>' +
    '<patternFill patternType="gray125"/></fill></fills><borders count="1">' +
    "<border/></borders><cellStyleXfs count=\"1\"><xf/></cellStyleXfs>" +
    `<cellXfs count="${STYLES.length}">${STYLES.map(([type, number]) =>
	`<xf numFmtId="${number}" fontId="${type === "head" ? 1 : 0}" ` +
	'fillId="0" borderId="0" xfId="0" applyNumberFormat="1" ' +
	'applyFont="1"/>').join("")}</cellXfs><cellStyles count="1"><cellStyle ` +
    'name="Normal" xfId="0" builtinId="0"/></cellStyles></styleSheet>';

const relations = (list) => `${HEAD}<Relationships xmlns="${PACKAGE}` +
    `/relationships">${list.map(([type, target], i) => `<Relationship ` +
	`Id="rId${i + 1}" Type="${OFFICE}/${type}" Target="${target}"/>`)
	.join("")}</Relationships>`;

const PARTS = [["/xl/workbook.xml", "sheet.main"],
    ["/xl/worksheets/sheet1.xml", "worksheet"], ["/xl/styles.xml", "styles"]];

const types = `${HEAD}<Types xmlns="${PACKAGE}/content-types"><Default ` +
    'Extension="rels" ContentType="application/vnd.openxmlformats-package.' +
    `relationships+xml"/>${PARTS.map(([name, type]) => `<Override ` +
	`PartName="${name}" ContentType="application/vnd.openxmlformats-` +
	`officedocument.spreadsheetml.${type}+xml"/>`).join("")}</Types>`;

const book = (title) => `${HEAD}<workbook xmlns="${MAIN}" xmlns:r="${OFFICE}">` +
    `<sheets><sheet name="${escaped(title)}" sheetId="1" r:id="rId1"/></sheets>` +
    "</workbook>";

/* What a sheet may be called. */
const titled = (words) => words.replace(/[[\]:*?/\\']/g, " ").trim()
    .slice(0, 31) || "1";

/* A Blob of rows that come in `batches`; columns: see sheetcolumns.js. */
export async function workbookOf(columns, batches, title) {
	const whole = (text) => (write) => write(text);
	const blob = await zipOf([
		["[Content_Types].xml", whole(types)],
		["_rels/.rels", whole(relations(
		    [["officeDocument", "xl/workbook.xml"]]))],
		["xl/workbook.xml", whole(book(titled(title)))],
		["xl/_rels/workbook.xml.rels", whole(relations(
		    [["worksheet", "worksheets/sheet1.xml"],
			["styles", "styles.xml"]]))],
		["xl/styles.xml", whole(styles)],
		["xl/worksheets/sheet1.xml", (write) =>
		    writeSheet(write, columns, batches)],
	]);

	return new Blob([blob], {type: TYPE});
}
