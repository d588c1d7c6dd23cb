/*
 * totals: the row below the grid, with the sums of all rows that the filters
 * leave. It is there while months are columns.
 */
import {get} from "./api.js";
import {paramsFor} from "./asked.js";
import {shownColumns} from "./columns.js";
import {complain} from "./errors.js";
import * as format from "./format.js";
import {fillMonths, isMonth, seriesOf} from "./months.js";
import {t} from "./text.js";

const SUMMED = new Set(["totalCa", "totalQuantite", "totalMarge",
    "stockActuel", "stockValeur", "totalReceptions"]);

const names = () => shownColumns().map(({name}) => name);

const sums = (values) => Object.fromEntries(Object.entries(values)
    .map(([name, {sum}]) => [name, sum]));

/* {totalCa, …} of the rows. */
async function plainTotals(params, wanted) {
	const {meta} = await get("/api/v1/grid/aggregates",
	    {...params, values: ["totalCa", ...wanted].join(","), limit: 1});

	return sums(meta.totaux);
}

/* {sales12m: {202610: sum, …}, …} */
async function monthTotals(params, series) {
	const {data} = await get("/api/v1/grid/aggregates",
	    {...params, groups: "mois", values: series.join(",")});

	return Object.fromEntries(series.map((one) => [one,
	    Object.fromEntries(data.map(({mois, valeurs}) =>
		[mois, valeurs[one]?.sum ?? 0]))]));
}

/*
 * `show` takes the row, null for none; now() gives {supplier, filters, source,
 * total}.
 */
export function totalsRow(show, now) {
	/* The same place is kept while sums are on their way. */
	function reset() {
		show(names().some(isMonth) && now().filters.show === "" ?
		    {libelle1: t("totals_waiting")} : null);
	}

	async function sumUp() {
		const {supplier, filters, source, total} = now();
		const columns = names(), months = columns.filter(isMonth);

		if (months.length === 0 || filters.show !== "")
			return;
		const params = paramsFor(supplier.code, filters);
		const plain = columns.filter((name) => SUMMED.has(name) &&
		    name !== "totalCa");

		try {
			const [all, byMonth] = await Promise.all([
				plainTotals(params, plain), monthTotals(params,
				    [...new Set(months.map(seriesOf))])]);
			const row = {...all, ...byMonth, libelle1: t("totals",
			    {n: format.integer(total)})};

			if (now().source === source)
				show(fillMonths([row], months)[0]);
		} catch (error) {
			if (now().source !== source)
				return;
			show({libelle1: t("totals_missing")});
			complain(t("totals_failed"), error, {about: "totals"});
		}
	}

	return {reset, sumUp};
}
