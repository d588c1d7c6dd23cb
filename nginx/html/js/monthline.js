/*
 * monthline: a curve over the months as plain SVG, behind it that of the year
 * before, and their figures.
 */
import {columnName} from "./columns.js";
import {el, nameWords, svg} from "./dom.js";
import * as format from "./format.js";
import {changeOf} from "./months.js";
import {monthKeys, salesKnown, yearBefore} from "./period.js";
import {t} from "./text.js";

const WIDTH = 720, HEIGHT = 220;
const LEFT = 56, RIGHT = 12, TOP = 10, BOTTOM = 26;
const LINES = 4;

/* The next number whose quarters are written whole, as "1.5m". */
function roundUp(value) {
	const power = 10 ** Math.floor(Math.log10(Math.max(value, 1)));

	return [1.2, 1.6, 2, 2.4, 3.2, 4, 6, 8, 12].find((one) =>
	    one * power >= value) * power;
}

/* Months of which nobody knows leave a gap. */
const curve = (values, x, y) => values.map((value, i) => value === null ? "" :
    `${(values[i - 1] ?? null) === null ? "M" : "L"}${x(i).toFixed(1)} ${
	y(value).toFixed(1)}`).join("");

/* "octobre 2026 : 1 200; octobre 2025 : 1 100" */
const told = ({key, sum, before}) => [[key, sum], [yearBefore(key), before]]
    .filter(([, value]) => value !== null)
    .map(([month, value]) => `${format.monthYear(month)} : ${
	format.decimal(value)}`).join("; ");

function drawing(points, label) {
	const most = roundUp(Math.max(...points.flatMap(({sum, before}) =>
	    [sum, before ?? 0])));
	const x = (i) => LEFT + (WIDTH - LEFT - RIGHT) *
	    (points.length > 1 ? i / (points.length - 1) : 0.5);
	const y = (value) => TOP + (HEIGHT - TOP - BOTTOM) *
	    (1 - Math.max(value, 0) / most);
	const text = (words, attributes) => {
		const node = svg("text", attributes);

		node.textContent = words;
		return node;
	};
	const scale = Array.from({length: LINES + 1}, (_, i) => most / LINES * i)
	    .flatMap((value) => [
		svg("path", {class: "rule",
		    d: `M${LEFT} ${y(value)}H${WIDTH - RIGHT}`}),
		text(format.compact(value), {x: LEFT - 8, y: y(value) + 4,
		    "text-anchor": "end"})]);
	const dots = points.map(({key, sum, before}, i) => {
		const dot = svg("circle", {cx: x(i), cy: y(sum), r: 4});
		const title = svg("title");

		title.textContent = told({key, sum, before});
		dot.append(title);
		return dot;
	});

	return svg("svg", {class: "month-line", role: "img", "aria-label": label,
	    viewBox: `0 0 ${WIDTH} ${HEIGHT}`}, ...scale,
	svg("path", {class: "curve before",
	    d: curve(points.map(({before}) => before), x, y)}),
	svg("path", {class: "curve",
	    d: curve(points.map(({sum}) => sum), x, y)}), ...dots,
	...points.map(({key}, i) => text(format.month(key), {x: x(i),
	    y: HEIGHT - 6, "text-anchor": "middle"})));
}

/*
 * groups: [{value: "202610", sum, before}], in any order; absent months sold
 * nothing, nor did a year before such where sales are known of it. `pick` takes how many months ago one is that was chosen.
 */
export function monthLine(groups, pick) {
	const found = new Map(groups.map((one) => [one.value, one]));
	const points = monthKeys(Object.fromEntries(found)).map((key) => ({key,
	    sum: found.get(key)?.sum ?? 0, before: found.get(key)?.before ??
		(salesKnown([yearBefore(key)]) ? 0 : null)}));
	const name = columnName("totalQuantite");
	const compared = points.some(({before}) => before !== null);
	const heads = [name, ...compared ?
	    [columnName("totalQuantiteN1"), t("sum_on_year")] : []];

	return el("div", {}, drawing(points, `${name}, ${t("months12")}`),
	    el("table.plain.sum-table", {},
		el("thead", {}, el("tr", {}, el("th", {scope: "col"}, t("month")),
		    heads.map((text) => el("th.right", {scope: "col"},
			nameWords(text))))),
		el("tbody", {}, points.map(({key, sum, before}, i) => el("tr", {},
		    el("th", {scope: "row"}, el("button.link", {type: "button",
			title: t("sum_month_pick"),
			onclick: () => pick(points.length - 1 - i)},
		    format.monthYear(key))),
		    el("td.right", {}, format.decimal(sum)),
		    compared ? [
			el("td.right.faint", {}, format.decimal(before)),
			el("td.right.on-year", {}, format.points(
			    changeOf(sum, before)))] : null)))));
}
