/*
 * copying: cells as a spreadsheet takes them: text with tabs, and a table in
 * which a code stays text, zeros before it and all.
 */
import {copied} from "./cells.js";
import {column} from "./columns.js";
import {monthKeys} from "./period.js";

const TEXTS = new Set(["code", "text", "label", "range", "gamme"]);

const escaped = (text) => text.replace(/[&<>"]/g, (one) =>
    ({"&": "&amp;", "<": "&lt;", ">": "&gt;", "\"": "&quot;"})[one]);

/* A text that holds what parts cells stands in quotes. */
const inSheet = (text) => /[\t\n\r"]/.test(text) ?
    `"${text.replaceAll('"', '""')}"` : text;

/* The cells of a value: a series has twelve. */
function cellsOf({kind}, value) {
	if (kind === "series" && value == null)
		return monthKeys({}).map(() => "");
	return kind === "series" ? copied(kind, value).split("\t") :
	    [copied(kind, value)];
}

function headsOf({kind, label}) {
	return kind === "series" ? monthKeys({}).map((key) =>
	    `${label} ${key}`) : [label];
}

/* {text, html} of these rows' columns, under their heads when `heads`. */
export function sheetOf(rows, names, heads = false) {
	const columns = names.map(column);
	const lines = [], table = [];
	const add = (cells) => {
		lines.push(cells.map(({text}) => inSheet(text)).join("\t"));
		table.push(`<tr>${cells.map(({text, plain}) => `<td${plain ?
		    " style=\"mso-number-format:'\\@'\"" : ""}>${
		    escaped(text)}</td>`).join("")}</tr>`);
	};

	if (heads)
		add(columns.flatMap((one) => headsOf(one)
		    .map((text) => ({text, plain: true}))));
	for (const row of rows)
		add(columns.flatMap((one) => cellsOf(one, row[one.name])
		    .map((text) => ({text, plain: TEXTS.has(one.kind)}))));
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
