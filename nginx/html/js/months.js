/*
 * months: columns that are a month of a series, or compare its newest months
 * with those before, or with the same ones a year before. They are counted back
 * from the newest month, so that a view shows the same next month: "sales12m-0"
 * is the newest, "sales12m-11" the oldest, "sales12m-last3" the newest three,
 * "sales12m-before3" the three before, "sales12m-change3" how the first differ
 * from the second; "sales12mN1-0" is the newest month a year before,
 * "sales12m-year3" the newest three a year before, "sales12m-onyear3" how the
 * newest three differ from these.
 */
import * as format from "./format.js";
import {monthBefore, monthKeys, salesKnown, yearBefore} from "./period.js";
import {plural, t} from "./text.js";

const MONTHS = 12;
const SERIES = {sales12m: "sales", stock12m: "stock",
    receptions12m: "receptions"};
export const YEAR_BEFORE = "sales12mN1";
/* As many months are compared with as many before. */
export const SPANS = [1, 3, 6];

const FORM = /^((?:sales|stock|receptions)12m|sales12mN1)-(?:(\d+)|(last|before|change|year|onyear)(\d))$/;

export const seriesNames = () => Object.keys(SERIES);

/* The columns of all months of a series, the oldest first. */
export const monthsOf = (series) => Array.from({length: MONTHS},
    (_, i) => `${series}-${MONTHS - 1 - i}`);

/* The columns that compare `span` months; of one month there are columns. */
export const comparing = (span) => (span === 1 ? ["change"] :
    ["before", "last", "change"]).map((what) => `sales12m-${what}${span}`);

/* The same with these months a year before. */
export const comparingYear = (span) => (span === 1 ? ["onyear"] :
    ["year", "last", "onyear"]).map((what) => `sales12m-${what}${span}`);

export const monthNames = () => [...new Set([
	...[...seriesNames(), YEAR_BEFORE].flatMap(monthsOf),
	...SPANS.flatMap(comparing), ...SPANS.flatMap(comparingYear)])];

/* {series, back, what, span}; null for another column. */
function parsed(name) {
	const [, series, back, what, span] = FORM.exec(name) ?? [];

	return series === undefined ? null : {series, what,
	    back: Number(back), span: Number(span)};
}

export const isMonth = (name) => monthNames().includes(name);

/* Whether it is one month: the API sorts by these, and filters on them. */
export const isOneMonth = (name) => isMonth(name) &&
    parsed(name).what === undefined;

/* Its name in the API: "sales12m.202610" where the newest day is in 202610. */
export function monthInApi(name, day) {
	const {series, back} = parsed(name);

	return `${series}.${monthBefore(day,
	    series === YEAR_BEFORE ? back + MONTHS : back)}`;
}

function seriesIn({series, what}) {
	return what === "year" ? [YEAR_BEFORE] :
	    what === "onyear" ? [series, YEAR_BEFORE] : [series];
}

/* The series that a column is made of. */
export const seriesOf = (name) => seriesIn(parsed(name));

/* The keys of `count` months that end `back` months ago. */
function keysOf(back, count) {
	const keys = monthKeys();

	return keys.slice(Math.max(keys.length - back - count, 0),
	    keys.length - back);
}

/* The months that a column's own figure is of. */
function shownKeys({series, back, what, span}) {
	const keys = what === undefined ? keysOf(back, 1) :
	    keysOf(what === "before" ? span : 0, span);

	return series === YEAR_BEFORE || what === "year" ?
	    keys.map(yearBefore) : keys;
}

function labelOf({series, back, what, span}) {
	const words = t(SERIES[series] ?? "sales");
	const keys = shownKeys({series, back, what, span});

	if (what === "change" || what === "onyear" ||
	    (keys.length === 0 && what !== undefined))
		return plural(`months_${what}`, span, {words});
	if (keys.length === 0)
		return `${words} −${
			series === YEAR_BEFORE ? back + MONTHS : back}`;
	return keys.length === 1 ? `${words} ${format.monthOfYear(keys[0])}` :
	    `${words} ${format.month(keys[0])} – ${
		format.monthOfYear(keys.at(-1))}`;
}

const WIDE = 132; /* "Ventes : écart sur 3 mois" in two lines */

/* {kind, label, width} of such a column; a width that the kind has not. */
export function monthColumn(name) {
	const of = parsed(name);
	const changes = ["change", "onyear"].includes(of.what);

	return {kind: changes ? "change" : "quantity", label: labelOf(of),
	    width: changes ? WIDE : undefined};
}

const sumOf = (map, keys) => keys.reduce((sum, key) =>
    sum + (map[key] ?? 0), 0);

/* How a figure differs from another, which is above 0. */
export const changeOf = (now, before) => before > 0 ?
    (now - before) / before : null;

/* What the newest months have sold a year before; null: nobody knows. */
function yearSum(span, map) {
	const keys = keysOf(0, span).map(yearBefore);

	return salesKnown(keys) && Object.keys(map).length > 0 ?
	    sumOf(map, keys) : null;
}

function monthValue(of, row) {
	const {series, what, span} = of, map = row[series];

	if (what === undefined)
		/* None, as the API sorts and filters it. */
		return map[shownKeys(of)[0]] ?? null;
	if (what === "year")
		return yearSum(span, row[YEAR_BEFORE]);
	const last = sumOf(map, keysOf(0, span));

	if (what === "onyear")
		return changeOf(last, yearSum(span, row[YEAR_BEFORE]));
	const before = sumOf(map, keysOf(span, span));

	if (what === "change")
		return before === 0 ? null : (last - before) / before;
	return what === "last" ? last : before;
}

/* Gives each row, which has the series, the values of these columns. */
export function fillMonths(rows, names) {
	const columns = names.map((name) => [name, parsed(name)])
	    .filter(([, of]) => of !== null);

	for (const [name, of] of columns)
		for (const row of rows)
			if (seriesIn(of).every((series) => row[series] != null))
				row[name] = monthValue(of, row);
	return rows;
}
