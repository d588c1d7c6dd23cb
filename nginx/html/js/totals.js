/*
 * totals: the row below the grid, with the sums of all rows that the filters
 * leave. It is there while months, or figures of the year before, are columns.
 */
import {get} from "./api.js";
import {paramsFor, sumOf} from "./asked.js";
import {shownColumns} from "./columns.js";
import {complain} from "./errors.js";
import {changeOf, fillMonths, isMonth, seriesOf, YEAR_BEFORE} from "./months.js";
import {yearBefore} from "./period.js";
import {plural, t} from "./text.js";

const SUMMED = new Set(["totalCa", "totalQuantite", "totalMarge",
    "stockActuel", "stockValeur", "totalReceptions", "totalCaN1",
    "totalQuantiteN1"]);

/* Changes of sums are made of these. */
const CHANGES = {evolutionCaN1: ["totalCa", "totalCaN1"],
    evolutionQteN1: ["totalQuantite", "totalQuantiteN1"]};

const names = () => shownColumns().map(({name}) => name);

/* Whether sums below the rows are of use. */
const isCompared = (name) => isMonth(name) || name.endsWith("N1");

const sums = (values) => Object.fromEntries(Object.entries(values)
    .map(([name, value]) => [name, sumOf(value)]));

/* {totalCa, …} of the rows, as far as these columns show them. */
async function plainTotals(params, columns) {
	const wanted = columns.flatMap((name) => CHANGES[name] ?? [name])
	    .filter((name) => SUMMED.has(name));
	const {meta} = await get("/api/v1/grid/aggregates", {...params,
	    values: [...new Set(["totalCa", ...wanted])].join(","), limit: 1});
	const row = sums(meta.totaux);

	for (const [name, [now, before]] of Object.entries(CHANGES))
		if (columns.includes(name))
			row[name] = changeOf(row[now], row[before]);
	return row;
}

/* {sales12m: {202610: sum, …}, …}; a sum of a year before has its own month. */
async function monthTotals(params, series) {
	if (series.length === 0)
		return {};
	const {data} = await get("/api/v1/grid/aggregates",
	    {...params, groups: "mois", values: series.join(",")});

	return Object.fromEntries(series.map((one) => [one,
	    Object.fromEntries(data
		.filter(({valeurs}) => valeurs[one]?.count > 0)
		.map(({mois, valeurs}) =>
		    [one === YEAR_BEFORE ? yearBefore(mois) : mois,
			valeurs[one].sum]))]));
}

/*
 * `show` takes the row, null for none; now() gives {supplier, filters, source,
 * total}.
 */
export function totalsRow(show, now) {
	/* The same place is kept while sums are on their way. */
	function reset() {
		show(names().some(isCompared) && now().filters.show === "" ?
		    {libelle1: t("totals_waiting")} : null);
	}

	async function sumUp() {
		const {supplier, filters, source, total} = now();
		const columns = names(), months = columns.filter(isMonth);

		if (!columns.some(isCompared) || filters.show !== "")
			return;
		const params = paramsFor(supplier.code, filters);

		try {
			const [all, byMonth] = await Promise.all([
				plainTotals(params, columns), monthTotals(params,
				    [...new Set(months.flatMap(seriesOf))])]);
			const row = {...all, ...byMonth, libelle1:
			    plural("totals", total)};

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
