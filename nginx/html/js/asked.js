/*
 * asked: what the API is asked for the filters of the screen: rows, their codes,
 * sums, and how many each class has.
 */
import {get, getLines, unquoted} from "./api.js";
import {paramsOf} from "./conditions.js";
import {changed, edit, edited, proposal} from "./ranges.js";
import {codes, EditedRows, Rows} from "./rows.js";
import {inSlices} from "./slices.js";

export const NO_FILTERS = {search: "", gamme: "", nomenclature: "", show: "",
    where: []};

/* The filters that a place names. */
export const filtersIn = (place) => Object.fromEntries(Object.keys(NO_FILTERS)
    .map((name) => [name, place[name]]));

/* Whether any of `filters` narrows the rows. */
export const anyFilter = (filters) => Object.values(filters)
    .some((one) => one.length > 0);

/* Whether these filters are alike, `name` aside. */
export const sameBut = (name, one, other) => Object.keys(NO_FILTERS)
    .every((key) => key === name || String(one[key]) === String(other[key]));

/* The parameters of /grid that say the same, but for one's own edits. */
export function paramsFor(supplier, {show, where, ...others}) {
	return {fournisseur: supplier, ...others, ...paramsOf(where),
	    aValider: show === "pending" ? 1 : null};
}

const unshown = (filters) => ({...filters, show: ""});

/* The codes that the filters leave, whatever `show` says: a Set. */
export const codesOf = async (supplier, filters) =>
    new Set(await codes(paramsFor(supplier, unshown(filters))));

/* Rows of these articles, in this order, with these columns. */
export const rowsByCodes = (supplier, list, fields) =>
    new EditedRows({fournisseur: supplier}, list.map((row) =>
	[row.codein, row]), fields, false).rowsOf(list.map(({codein}) => codein));

/* Where the rows of the filters come from: see rows.js. */
export function sourceOf(supplier, filters, fields) {
	const params = paramsFor(supplier, filters);

	return filters.show === "mine" ? new EditedRows(params, edited(), fields,
	    !anyFilter(unshown(filters))) : new Rows(params, fields);
}

/* A sum of the API's; null where no row has a value. */
export const sumOf = (value) => value?.count > 0 ? value.sum : null;

/* What the rows have sold, and in the year before, null for not known. */
export async function turnoverOf(supplier, filters) {
	const {meta: {totaux}} = await get("/api/v1/grid/aggregates",
	    {...paramsFor(supplier, filters), values: "totalCa,totalCaN1",
		limit: 1});

	return {now: totaux.totalCa.sum, before: sumOf(totaux.totalCaN1)};
}

/* A Set of the changed articles among `codes`, undefined for all. */
export async function changedAmong(codes, {show}) {
	const among = new Set();

	await inSlices(changed(), (codein) => {
		if ((codes === undefined || codes.has(codein)) &&
		    (show !== "pending" || proposal(codein)) &&
		    (show !== "mine" || edit(codein)))
			among.add(codein);
	});
	return among;
}

const LEVELS = ["code1", "code2", "code3"];
const ALL = 1000000; /* a level has a million codes at the most */

/* The same of one's own edits, which the API does not know. */
async function editedClasses(supplier, filters, signal) {
	const mine = new Set(edited().map(([codein]) => codein));
	const lines = await getLines("/api/v1/grid", {...paramsFor(supplier,
	    filters), fields: ["codein", ...LEVELS].join(",")}, {signal});

	return lines.map((line) => /^(.*),(\d*),(\d*),(\d*)$/.exec(line))
	    .filter((parts) => parts !== null && mine.has(unquoted(parts[1])))
	    .map(([, , ...classes]) => ({articles: 1, ...Object.fromEntries(
		LEVELS.map((level, i) => [level, classes[i] || null]))}));
}

/*
 * How many rows each class has by the other filters: Map of its code, "" for
 * all, to the number; null when nothing but a class narrows them.
 */
export async function classCounts(supplier, filters, signal) {
	const others = {...filters, nomenclature: ""};

	if (!anyFilter(others))
		return null;
	const groups = filters.show === "mine" ?
	    await editedClasses(supplier, others, signal) :
	    (await get("/api/v1/grid/aggregates",
		{...paramsFor(supplier, others), groups: LEVELS.join(","),
		    limit: ALL}, {signal})).data;
	const counts = new Map([["", 0]]);

	for (const {articles, ...group} of groups)
		for (const code of ["", ...LEVELS.map((level) => group[level])])
			if (code != null)
				counts.set(code, (counts.get(code) ?? 0) +
				    articles);
	return counts;
}
