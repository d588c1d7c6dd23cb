/*
 * delimited: a sheet as lines of text. Texts stand in quotes, codes among them,
 * so that a reader can tell them from numbers; with tabs only where they must.
 */
import {inPortions} from "./slices.js";

const quoted = (text) => `"${String(text).replaceAll('"', '""')}"`;
const whereNeeded = (text) => /[\t\r\n"]/.test(text) ? quoted(text) :
    String(text);

export const FORMS = {
	"csv-fr": {separator: ";", lead: "\ufeff", text: quoted,
	    number: (value) => String(value).replace(".", ","),
	    suffix: "csv", type: "text/csv; charset=utf-8"},
	csv: {separator: ",", lead: "", text: quoted, number: String,
	    suffix: "csv", type: "text/csv; charset=utf-8"},
	tsv: {separator: "\t", lead: "", text: whereNeeded, number: String,
	    suffix: "tsv", type: "text/tab-separated-values; charset=utf-8"},
};

function cell({text, number}, {type, valueOf}, row) {
	const value = valueOf(row);

	if (value == null)
		return "";
	if (type === "text")
		return text(value);
	return type === "day" || type === "time" ? value : number(value);
}

/* A Blob of rows that come in `batches`; columns: see sheetcolumns.js. */
export async function delimitedOf(form, columns, batches) {
	const line = (cells) => cells.join(form.separator) + "\r\n";
	const parts = [form.lead + line(columns.map(({head}) =>
	    form.text(head)))];

	await inPortions(batches, (rows) => parts.push(rows.map((row) =>
	    line(columns.map((one) => cell(form, one, row)))).join("")));
	return new Blob(parts, {type: form.type});
}
