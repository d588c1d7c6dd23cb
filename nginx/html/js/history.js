/* history: what happened to an article's range: proposed, decided, arrived. */
import {get} from "./api.js";
import {chip} from "./cells.js";
import {el} from "./dom.js";
import {failure} from "./errors.js";
import * as format from "./format.js";
import {plural, t} from "./text.js";

const MOST = 20;

/* By whom and when: of a decision the decider, else the proposer. */
function who({decideePar, decideeLe, proposeePar, proposeeLe}) {
	return [decideePar ?? proposeePar, format.time(decideeLe ?? proposeeLe)]
	    .filter((part) => part).join(", ");
}

function entry(one) {
	return el("li", {}, el("span.act", {}, t(`history_${one.etat}`)), " ",
	    chip(one.gammePrecedente), " → ", chip(one.gamme), " ",
	    el("span.faint", {}, who(one)),
	    one.motif && el("q.motif", {}, one.motif));
}

/* A section that fills itself. */
export function historyPart(supplier, codein) {
	const list = el("ol.history");
	const told = el("div.faint", {role: "status"});

	async function fill() {
		told.textContent = t("loading");
		try {
			const {data, meta} = await get(`/api/v1/products/${
				encodeURIComponent(codein)}/gammes`,
			{fournisseur: supplier, limit: MOST});

			list.replaceChildren(...data.map(entry));
			told.textContent = data.length === 0 ?
			    t("history_none") : meta.total > data.length ?
				plural("and_more", meta.total - data.length) : "";
		} catch (error) {
			told.replaceChildren(failure(t("history_failed"), error,
			    fill));
		}
	}

	fill();
	return el("section", {}, el("h3", {}, t("history")), list, told);
}
