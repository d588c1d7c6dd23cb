/*
 * print: what is shown, on paper. The grid draws the rows in sight alone, so a
 * print has a table of its own: of the rows that the filters leave, in their
 * order, up to MOST, with the columns shown. An open article is printed by itself.
 * Paper is light: see the dark colours in base.css.
 */
import {cellView} from "./cells.js";
import {column} from "./columns.js";
import {inWords} from "./conditions.js";
import {el, nameWords} from "./dom.js";
import {complain} from "./errors.js";
import * as format from "./format.js";
import {tell} from "./notice.js";
import {plural, t} from "./text.js";

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
		el("th" + side(one), {scope: "col"}, nameWords(one.label))))),
	    el("tbody", {}, rows.map((row) => el("tr", {},
		columns.map((one) => el("td" + side(one), {},
		    cellView(one.kind, row[one.name], row)))))));
}

/* Rows that have come, else those that are asked for at once. */
function rowsNow({loaded, firstNow}, count) {
	const rows = loaded(count);

	try {
		return rows.length < count ? firstNow(count) : rows;
	} catch (error) {
		complain(t("print_failed"), error, {about: "print"});
		return rows;
	}
}

/*
 * `shown` tells what the page shows: {title, lines, article, names, total}, and of
 * the grid loaded(), first() and firstNow(); article is whether one is open. Null
 * where there is nothing to print.
 */
export function printer(shown) {
	let prepared = null; /* rows that Ctrl+P has fetched */

	function lay() {
		const now = shown();

		if (now === null)
			return;
		document.body.dataset.print = now.article ? "article" : "rows";
		if (now.article)
			return;
		const {title, lines, names, total} = now;
		const rows = prepared ??
		    rowsNow(now, Math.min(MOST, total ?? MOST));
		const all = {total: format.integer(total ?? rows.length)};

		paper.replaceChildren(el("h1", {}, title), el("p", {},
		    [...lines, plural("print_rows", rows.length, all),
			t("print_at", {date: format.time(new Date().toISOString())})]
			.join(" · ")),
		table(rows, names));
		document.body.append(paper);
		if (total > MOST)
			tell(plural("print_cut", MOST, all), {about: "print"});
	}

	addEventListener("beforeprint", lay);
	addEventListener("afterprint", () => {
		prepared = null;
		paper.remove();
		delete document.body.dataset.print;
	});
	return async () => {
		const {article, first, total} = shown();

		prepared = article ? null :
		    await first(Math.min(MOST, total ?? MOST));
		window.print();
	};
}
