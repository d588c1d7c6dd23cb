/*
 * tally: the figures at the foot that are about the rows shown: how many, what
 * they sold, and which day the data stand for.
 */
import {anyFilter, turnoverOf} from "./asked.js";
import {el} from "./dom.js";
import {complain} from "./errors.js";
import * as format from "./format.js";
import {changeOf} from "./months.js";
import {plural, t} from "./text.js";

function turnoverWords({now, before}) {
	const value = format.compactMoney(now), change = changeOf(now, before);

	return change === null ? t("turnover", {value}) : el("span",
	    {title: t("sum_year_before", {value: format.money(before)})},
	    t("turnover_year", {value, change: format.points(change)}));
}

/* `tell` takes the parts; now() gives {supplier, filters, source, total}. */
export function tally(tell, now) {
	let worth = null, dated = null;

	function draw() {
		const {supplier, filters, total} = now();

		if (total === null)
			return;
		const all = supplier.rowCount;

		tell(
		    anyFilter(filters) && all > 0 ? plural("of_articles",
			total, {total: format.integer(all)}) :
			plural("articles", total),
		    worth !== null && turnoverWords(worth),
		    dated && el("span", {title: t("computed_at",
			{date: format.time(dated.computedAt)})},
		    t("data_until", {date: format.day(dated.donneesAu)})));
	}

	/* The sum of the rows that the API chooses: not of one's own edits. */
	async function sumUp() {
		const {supplier, filters, source} = now();

		if (filters.show !== "")
			return;
		try {
			const sum = await turnoverOf(supplier.code, filters);

			if (now().source !== source)
				return;
			worth = sum;
			draw();
		} catch (error) {
			if (now().source === source)
				complain(t("turnover_failed"), error,
				    {about: "turnover"});
		}
	}

	return {
		/* Another supplier: nothing is known of its data. */
		forget() {
			dated = null;
			tell();
		},
		/* Other rows are on their way. */
		reset() {
			worth = null;
		},
		/* A page came; draw() and sumUp() once their number is known. */
		dated(meta) {
			if (meta?.computedAt)
				dated = meta;
		},
		draw, sumUp,
	};
}
