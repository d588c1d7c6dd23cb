/* across: what is searched for, at all suppliers. */
import {get} from "./api.js";
import {chip} from "./cells.js";
import {column, columnName} from "./columns.js";
import {openDialog} from "./dialog.js";
import {el} from "./dom.js";
import {reasons} from "./errors.js";
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
	const told = el("p.faint", {role: "status"}, t("loading"));
	const side = (name) => column(name).left ? "" : ".right";
	const window = openDialog({title: t("across_title", {words}), wide: true,
	    content: [told, el("table.plain.across", {},
		el("thead", {}, el("tr", {}, SHOWN.map((name) =>
		    el(`th${side(name)}`, {scope: "col"}, columnName(name))))),
		body)]});

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

	get("/api/v1/products/search", {q: words, limit: MOST,
	    fields: FIELDS.join(",")}).then(({data, pagination}) => {
		body.replaceChildren(...data.map(row));
		told.textContent = plural(data.length < pagination.total ?
		    "across_some" : "across_all", data.length,
		{total: format.integer(pagination.total)});
		body.querySelector("button")?.focus();
	}).catch((error) => told.replaceChildren(...reasons(t("across_failed"),
	    error)));
}
