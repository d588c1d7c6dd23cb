/*
 * months: columns that are a month of a series, or compare its newest months
 * with those before. They are counted back from the newest month, so that a
 * view shows the same next month: "sales12m-0" is the newest, "sales12m-11" the
 * oldest, "sales12m-last3" the newest three, "sales12m-before3" the three
 * before, "sales12m-change3" how the first differ from the second.
 */
import * as format from "./format.js";
import {monthBefore, monthKeys} from "./period.js";
import {t} from "./text.js";

const MONTHS = 12;
const SERIES = {sales12m: "sales", stock12m: "stock",
    receptions12m: "receptions"};
/* As many months are compared with as many before. */
export const SPANS = [1, 3, 6];

const FORM = /^((?:sales|stock|receptions)12m)-(?:(\d+)|(last|before|change)(\d))$/;

export const seriesNames = () => Object.keys(SERIES);

/* The columns of all months of a series, the oldest first. */
export const monthsOf = (series) => Array.from({length: MONTHS},
    (_, i) => `${series}-${MONTHS - 1 - i}`);

/* The columns that compare `span` months; of one month there are columns. */
export const comparing = (span) => (span === 1 ? ["change"] :
    ["before", "last", "change"]).map((what) => `sales12m-${what}${span}`);

export const monthNames = () => [...seriesNames().flatMap(monthsOf),
    ...SPANS.flatMap(comparing)];

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

	return `${series}.${monthBefore(day, back)}`;
}

/* The series that a column is made of. */
export const seriesOf = (name) => parsed(name).series;

/* The keys of `count` months that end `back` months ago. */
function keysOf(back, count) {
	const keys = monthKeys();

	return keys.slice(Math.max(keys.length - back - count, 0),
	    keys.length - back);
}

function labelOf({series, back, what, span}) {
	const words = t(SERIES[series]);
	const keys = what === undefined ? keysOf(back, 1) :
	    keysOf(what === "before" ? span : 0, span);

	if (what === "change")
		return t(span === 1 ? "months_change_1" : "months_change",
		    {words, n: span});
	if (keys.length === 0)
		return what === undefined ? `${words} −${back}` :
		    t(`months_${what}`, {words, n: span});
	return keys.length === 1 ? `${words} ${format.monthOfYear(keys[0])}` :
	    `${words} ${format.month(keys[0])} – ${
		format.monthOfYear(keys.at(-1))}`;
}

const WIDE = 132; /* "Ventes : écart sur 3 mois" in two lines */

/* {kind, label, width} of such a column; a width that the kind has not. */
export function monthColumn(name) {
	const of = parsed(name);

	const changes = of.what === "change";

	return {kind: changes ? "change" : "quantity", label: labelOf(of),
	    width: changes ? WIDE : undefined};
}

const sumOf = (map, keys) => keys.reduce((sum, key) =>
    sum + (map[key] ?? 0), 0);

function monthValue({back, what, span}, map) {
	if (what === undefined) {
		const [key] = keysOf(back, 1);

		/* None, as the API sorts and filters it. */
		return map[key] ?? null;
	}
	const last = sumOf(map, keysOf(0, span));
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
			if (row[of.series] != null)
				row[name] = monthValue(of, row[of.series]);
	return rows;
}
