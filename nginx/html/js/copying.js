/*
 * copying: cells as a spreadsheet takes them: text with tabs, and a table in
 * which a code stays text, zeros before it and all.
 */
import * as format from "./format.js";
import {sheetColumns} from "./sheetcolumns.js";

const escaped = (text) => text.replace(/[&<>"]/g, (one) =>
    ({"&": "&amp;", "<": "&lt;", ">": "&gt;", "\"": "&quot;"})[one]);

/* A text that holds what parts cells stands in quotes. */
const inSheet = (text) => /[\t\n\r"]/.test(text) ?
    `"${text.replaceAll('"', '""')}"` : text;

const words = {day: format.day, time: format.time,
    percent: format.percentForSheet};

function wordsOf({type, valueOf}, row) {
	const value = valueOf(row);

	if (value == null)
		return "";
	return typeof value === "number" ?
	    (words[type] ?? format.forSheet)(value) :
	    (words[type] ?? String)(value);
}

/* {text, html} of these rows' columns, under their heads when `heads`. */
export function sheetOf(rows, names, heads = false) {
	const columns = sheetColumns(names);
	const lines = [], table = [];
	const add = (cells) => {
		lines.push(cells.map(([text]) => inSheet(text)).join("\t"));
		table.push(`<tr>${cells.map(([text, type]) => `<td${
		    type === "text" ? " style=\"mso-number-format:'\\@'\"" : ""}>${
		    escaped(text)}</td>`).join("")}</tr>`);
	};

	if (heads)
		add(columns.map(({head}) => [head, "text"]));
	for (const row of rows)
		add(columns.map((one) => [wordsOf(one, row), one.type]));
	return {text: lines.join("\n"),
	    html: `<table>${table.join("")}</table>`};
}

/*
 * By the copy event, which takes a table as it is and works without TLS, for
 * some seconds after a key; later by the clipboard, as text.
 */
function copyByEvent({text, html}) {
	const put = (event) => {
		event.clipboardData.setData("text/plain", text);
		event.clipboardData.setData("text/html", html);
		event.preventDefault();
		event.stopImmediatePropagation();
	};

	document.addEventListener("copy", put, {capture: true});
	const done = document.execCommand("copy");

	document.removeEventListener("copy", put, {capture: true});
	return done;
}

export async function copySheet(sheet) {
	if (!copyByEvent(sheet))
		await navigator.clipboard.writeText(sheet.text);
}
