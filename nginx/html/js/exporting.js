/*
 * exporting: exactly what is shown as a file: the rows, the columns under their
 * heads and in their order, and what waits at a row, with progress. Programs get
 * files with the API's names from the API itself.
 */
import {sourceOf} from "./asked.js";
import {askedColumns, displayedNames} from "./columns.js";
import {delimitedOf, FORMS} from "./delimited.js";
import {openDialog} from "./dialog.js";
import {el} from "./dom.js";
import {reasons} from "./errors.js";
import * as format from "./format.js";
import {edit, editCount, pendingCount, proposal} from "./ranges.js";
import {sheetColumns} from "./sheetcolumns.js";
import {plural, t} from "./text.js";
import {MOST_ROWS, workbookOf} from "./workbook.js";

const LINES = Object.keys(FORMS);
const SLICE = 5000; /* rows that are asked for at once */
const WIDTH = 90;

/* The range's cell shows what waits as well, a sheet in columns of their own. */
function columnsShown() {
	const waiting = {type: "text", width: WIDTH};

	return displayedNames().flatMap((name) => [...sheetColumns([name]),
	    ...name !== "codeGamme" ? [] : [
		pendingCount() > 0 && {...waiting, head: t("show_pending"),
		    valueOf: ({codein}) => proposal(codein)?.gamme},
		editCount() > 0 && {...waiting, head: t("mine"),
		    valueOf: ({codein}) => edit(codein)?.gamme},
	    ].filter((one) => one)]);
}

/* All rows, list by list, of one generation. */
async function* rowsIn(source, order, progress, signal) {
	const {total} = await source.page(1, order);

	for (let from = 0; from < total; from += SLICE) {
		const to = Math.min(from + SLICE, total);

		signal.throwIfAborted();
		yield await source.slice(from, to, order, true);
		progress(to, total);
	}
}

function hand(blob, name) {
	const link = el("a", {href: URL.createObjectURL(blob), download: name});

	document.body.append(link);
	link.click();
	link.remove();
	setTimeout(() => URL.revokeObjectURL(link.href), 60000);
}

/* `total` is the number of rows that the filters leave. */
export function openExport({supplier, filters, order, total}) {
	const offered = total > MOST_ROWS ? LINES : ["xlsx", ...LINES];
	const radios = offered.map((value, i) => el("input",
	    {type: "radio", name: "format", value, checked: i === 0}));
	const bar = el("progress", {"aria-label": t("export_progress"),
	    hidden: true, max: total, value: 0});
	const told = el("p.faint", {role: "status"});
	const problem = el("p.problem", {role: "alert"});
	const abort = new AbortController();
	const back = el("button", {type: "button",
	    onclick: () => window.close()}, t("go_back"));
	const go = el("button.primary", {type: "button", onclick: run},
	    t("export_go"));
	const window = openDialog({title: t("export_title"), content: [
		el("p", {}, t("export_lead",
		    {rows: plural("some_rows", total), columns: plural(
			"some_columns", displayedNames().length)})),
		el("fieldset.formats", {}, el("legend", {}, t("export_format")),
		    radios.map((radio) => el("label", {}, radio,
			el("span", {}, t(`export_${radio.value
			    .replace("-", "_")}`))))),
		el("p.faint", {}, t("export_codes")), bar, told, problem,
	], actions: [back, go]});

	window.closed.then(() => abort.abort());

	function progress(rows, all) {
		bar.max = all;
		bar.value = rows;
		told.textContent = plural("export_rows", rows,
		    {total: format.integer(all)});
	}

	async function make(chosen) {
		const source = sourceOf(supplier.code, filters, askedColumns());
		const rows = rowsIn(source, order, progress, abort.signal);
		const columns = columnsShown();

		abort.signal.addEventListener("abort", () => source.close());
		return chosen === "xlsx" ?
		    workbookOf(columns, rows, supplier.nom ?? supplier.code) :
		    delimitedOf(FORMS[chosen], columns, rows);
	}

	async function run() {
		const chosen = radios.find((radio) => radio.checked).value;

		go.disabled = true;
		bar.hidden = false;
		problem.replaceChildren();
		try {
			const made = await make(chosen);

			abort.signal.throwIfAborted();
			hand(made, `grid-${supplier.code.replace(/[^\w-]/g, "_")}.${
			    FORMS[chosen]?.suffix ?? chosen}`);
			window.close();
		} catch (error) {
			if (error.name === "AbortError")
				return;
			bar.hidden = true;
			go.disabled = false;
			told.textContent = "";
			problem.replaceChildren(...reasons(t("export_failed"),
			    error));
		}
	}

	go.focus();
}
