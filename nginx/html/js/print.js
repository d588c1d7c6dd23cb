/*
 * print: what is shown, on paper. The grid draws the rows in sight alone, so a
 * print has a table of its own: by Ctrl+P of all rows that the filters leave,
 * up to MOST; by the browser's menu, which does not wait, of those loaded. An
 * open article is printed by itself.
 */
import {cellView} from "./cells.js";
import {column} from "./columns.js";
import {inWords} from "./conditions.js";
import {el} from "./dom.js";
import * as format from "./format.js";
import {t} from "./text.js";

const MOST = 2000;

/* A text for each filter. */
export const filtersInWords = ({search, gamme, nomenclature, show, where}) =>
    [search && `« ${search} »`, gamme && `${t("range")} ${gamme}`,
	nomenclature && `${t("classification")} ${nomenclature}`,
	show && t(`show_${show}`), ...where.map(inWords)]
	.filter((part) => part);

const paper = el("div.paper", {"aria-hidden": "true"});

function table(rows, names) {
	const columns = names.map(column);
	const side = ({left}) => left ? "" : ".right";

	return el("table", {},
	    el("thead", {}, el("tr", {}, columns.map((one) =>
		el("th" + side(one), {scope: "col"}, one.label)))),
	    el("tbody", {}, rows.map((row) => el("tr", {},
		columns.map((one) => el("td" + side(one), {},
		    cellView(one.kind, row[one.name], row)))))));
}

/*
 * `shown` tells what the page shows: {title, lines, article, names, total,
 * loaded(), all(most)}; article is whether one is open, all() a promise.
 */
export function printer(shown) {
	let prepared = null; /* rows that Ctrl+P has fetched */

	function lay() {
		const {title, lines, article, names, total, loaded} = shown();
		const rows = prepared ?? loaded();

		document.body.dataset.print = article ? "article" : "rows";
		if (article)
			return;
		paper.replaceChildren(el("h1", {}, title),
		    el("p", {}, [...lines, t("print_rows",
			{n: format.integer(rows.length),
			    total: format.integer(total ?? rows.length)})]
			.join(" · ")),
		    table(rows, names));
		document.body.append(paper);
	}

	addEventListener("beforeprint", lay);
	addEventListener("afterprint", () => {
		prepared = null;
		paper.remove();
	});
	return async () => {
		const {article, all} = shown();

		prepared = article ? null : await all(MOST);
		window.print();
	};
}
