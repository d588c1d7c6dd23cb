/*
 * exporting: exactly the rows that are shown, their columns and order, as a file
 * of the API's own formats, with progress.
 */
import {ask} from "./api.js";
import {paramsFor} from "./asked.js";
import {column, formats} from "./columns.js";
import {quoted} from "./conditions.js";
import {openDialog} from "./dialog.js";
import {el} from "./dom.js";
import {reasons} from "./errors.js";
import * as format from "./format.js";
import {codePortions} from "./rows.js";
import {t} from "./text.js";

/* What a buyer may want, the best first: those that the API has. */
const WANTED = ["xlsx", "csv-fr", "csv", "tsv"];
const LINES = new Set(["csv-fr", "csv", "tsv"]);
const MEGABYTE = 1 << 20;

const file = (params, options) => ask("GET", "/api/v1/grid",
    {params, form: "file", ...options});

/* Own edits: their rows portion by portion, under one line of names. */
async function editsFile(params, codes, {signal, progress}) {
	const parts = [];
	let name, lines = 0;

	for (const part of codePortions(codes)) {
		const one = await file({...params,
		    codein: `in.(${part.map(quoted).join(",")})`}, {signal});
		const {blob} = one, text = await blob.text();

		name ??= one.name;
		lines += part.length;
		parts.push(parts.length === 0 ? blob :
		    text.slice(text.indexOf("\n") + 1));
		progress({bytes: 0, lines, total: codes.length});
	}
	return {blob: new Blob(parts, {type: parts[0]?.type ?? ""}), name};
}

function hand({blob, name}, fallback) {
	const link = el("a", {href: URL.createObjectURL(blob),
	    download: name ?? fallback});

	document.body.append(link);
	link.click();
	link.remove();
	setTimeout(() => URL.revokeObjectURL(link.href), 60000);
}

/*
 * `what` is {supplier, filters, order, names, total, source}: the rows, and the
 * columns as they stand.
 */
export function openExport({supplier, filters, order, names, total, source}) {
	const mine = filters.show === "mine";
	const offered = WANTED.filter((one) => formats.includes(one) &&
	    (!mine || LINES.has(one)));
	const radios = offered.map((value, i) => el("input",
	    {type: "radio", name: "format", value, checked: i === 0}));
	const series = names.some((name) => column(name).kind === "series");
	const months = el("input", {type: "checkbox", checked: true});
	const bar = el("progress", {"aria-label": t("export_progress"),
	    hidden: true});
	const told = el("p.faint", {role: "status"});
	const problem = el("p.problem", {role: "alert"});
	const abort = new AbortController();
	const back = el("button", {type: "button",
	    onclick: () => window.close()}, t("go_back"));
	const go = el("button.primary", {type: "button", onclick: run},
	    t("export_go"));
	const window = openDialog({title: t("export_title"), content: [
		el("p", {}, t("export_lead", {n: format.integer(total),
		    columns: format.integer(names.length)})),
		el("fieldset.formats", {}, el("legend", {}, t("export_format")),
		    radios.map((radio) => el("label", {}, radio,
			el("span", {}, t(`export_${radio.value
			    .replace("-", "_")}`))))),
		series && el("label.row", {}, months, t("export_months")),
		el("p.faint", {}, t("export_codes")), bar, told, problem,
	].filter((one) => one), actions: [back, go]});

	window.closed.then(() => abort.abort());

	function progress({bytes, lines, total: all}) {
		const rows = Math.min(Math.max(lines - 1, 0), all);

		if (all > 0 && bytes !== undefined && lines > 1) {
			bar.max = all;
			bar.value = rows;
		}
		told.textContent = lines > 1 && all > 0 ? t("export_rows",
		    {n: format.integer(rows), total: format.integer(all)}) :
			t("export_bytes", {n: format.decimal(bytes / MEGABYTE)});
	}

	async function run() {
		const chosen = radios.find((radio) => radio.checked).value;
		const params = {...paramsFor(supplier.code, filters), ...order,
		    format: chosen, fields: ["codein", ...names].join(","),
		    mois: series && months.checked ? "colonnes" : null};
		const options = {signal: abort.signal, progress};

		go.disabled = true;
		bar.hidden = false;
		problem.replaceChildren();
		try {
			const made = mine ? await editsFile(
			    {fournisseur: supplier.code, ...order,
				format: chosen, fields: params.fields,
				mois: params.mois},
			    await source.codes(order), options) :
			    await file(params, options);

			hand(made, `grid-${supplier.code}.${chosen}`);
			window.close();
		} catch (error) {
			if (error.name === "AbortError")
				return;
			bar.hidden = true;
			go.disabled = false;
			problem.replaceChildren(...reasons(t("export_failed"),
			    error));
		}
	}

	go.focus();
}
