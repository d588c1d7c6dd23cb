/*
 * sums: how many, the sum and the mean of the block of cells, as a spreadsheet
 * tells them at its foot: of each column of numbers by itself.
 */
import {column} from "./columns.js";
import {el} from "./dom.js";
import * as format from "./format.js";
import {plural, t} from "./text.js";

/* What is added up makes sense of these; of the others a mean does. */
const ADDED = {money: format.money, quantity: format.decimal,
    integer: format.integer, decimal: format.decimal};
const MEANT = {...ADDED, price: format.price, percent: format.percent,
    change: format.percent, points: format.points, tenths: format.tenths};

function told(name, rows) {
	const {kind, label} = column(name);
	const values = rows.map((row) => row[name])
	    .filter((value) => typeof value === "number");

	if (MEANT[kind] === undefined || values.length === 0)
		return null;
	const sum = values.reduce((all, value) => all + value, 0);

	return el("span.part", {}, `${label} : `,
	    ADDED[kind] && t("block_sum", {value: ADDED[kind](sum)}),
	    ADDED[kind] && ", ",
	    t("block_mean", {value: MEANT[kind](sum / values.length)}));
}

/* `grid` tells the block; `on` is how one hears that it has changed. */
export function blockSums(grid, on) {
	const element = el("div.sums", {role: "status", hidden: true});
	let newest = 0;

	async function show() {
		const mine = ++newest, block = grid.block();
		const rows = block === null ? [] :
		    await block.rows.catch(() => []);

		if (mine !== newest)
			return;
		const parts = rows.length === 0 ? [] : block.names
		    .map((name) => told(name, rows)).filter((one) => one);

		element.hidden = rows.length === 0;
		element.parentElement.classList.toggle("with-sums",
		    rows.length > 0);
		element.replaceChildren(el("span.part", {}, plural(
		    "block_cells", rows.length *
			(block?.names.length ?? 0))), ...parts);
	}

	on("selection", show);
	return element;
}
