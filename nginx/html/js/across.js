/* across: what is searched for, at all suppliers. */
import {get} from "./api.js";
import {chip} from "./cells.js";
import {column, columnName} from "./columns.js";
import {openDialog} from "./dialog.js";
import {el} from "./dom.js";
import {failure} from "./errors.js";
import * as format from "./format.js";
import {plural, t} from "./text.js";

const MOST = 100;
const FIELDS = ["codein", "libelle1", "codeFournisseur", "nomFournisseur",
    "codeGamme", "totalCa", "stockActuel"];
const SHOWN = ["codein", "libelle1", "nomFournisseur", "codeGamme", "totalCa",
    "stockActuel"];

/* `go(supplier, codein)` shows an article at its supplier. */
export function searchAcross(words, go) {
	const body = el("tbody");
	const told = el("div.faint", {role: "status"});
	const side = (name) => column(name).left ? "" : ".right";
	const table = el("table.plain.across", {hidden: true},
	    el("thead", {}, el("tr", {}, SHOWN.map((name) =>
		el(`th${side(name)}`, {scope: "col"}, columnName(name))))), body);
	const window = openDialog({title: t("across_title", {words}), wide: true,
	    content: [told, table]});

	function row(one) {
		return el("tr", {}, el("th.code", {scope: "row"}, one.codein),
		    el("td", {}, el("button.link", {type: "button", onclick() {
			window.close();
			go(one.codeFournisseur, one.codein);
		    }}, one.libelle1 ?? one.codein)),
		    el("td", {}, one.nomFournisseur ?? one.codeFournisseur),
		    el("td", {}, chip(one.codeGamme)),
		    el("td.right", {}, format.money(one.totalCa)),
		    el("td.right", {}, format.decimal(one.stockActuel)));
	}

	async function look() {
		told.textContent = t("loading");
		try {
			const {data, pagination} = await get(
			    "/api/v1/products/search", {q: words, limit: MOST,
				fields: FIELDS.join(",")});

			body.replaceChildren(...data.map(row));
			table.hidden = data.length === 0;
			told.textContent = plural(data.length < pagination.total ?
			    "across_some" : "across_all", data.length,
			{total: format.integer(pagination.total)});
			body.querySelector("button")?.focus();
		} catch (error) {
			told.replaceChildren(failure(t("across_failed"), error,
			    look));
		}
	}

	look();
}
