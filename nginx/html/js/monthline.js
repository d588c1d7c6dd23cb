/* monthline: one curve over the months as plain SVG, and its figures. */
import {columnName} from "./columns.js";
import {el, svg} from "./dom.js";
import * as format from "./format.js";
import {monthKeys} from "./period.js";
import {t} from "./text.js";

const WIDTH = 720, HEIGHT = 220;
const LEFT = 56, RIGHT = 12, TOP = 10, BOTTOM = 26;
const LINES = 4;

/* The next number that is 1, 2 or 5 times a power of ten. */
function roundUp(value) {
	const power = 10 ** Math.floor(Math.log10(Math.max(value, 1)));

	return [1, 2, 5, 10].find((one) => one * power >= value) * power;
}

function drawing(points, label) {
	const most = roundUp(Math.max(...points.map(({sum}) => sum)));
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
	const dots = points.map(({key, sum}, i) => {
		const dot = svg("circle", {cx: x(i), cy: y(sum), r: 4});
		const title = svg("title");

		title.textContent = `${format.monthYear(key)} : ${
			format.decimal(sum)}`;
		dot.append(title);
		return dot;
	});

	return svg("svg", {class: "month-line", role: "img", "aria-label": label,
	    viewBox: `0 0 ${WIDTH} ${HEIGHT}`}, ...scale,
	svg("path", {class: "curve", d: points.map(({sum}, i) =>
	    `${i === 0 ? "M" : "L"}${x(i).toFixed(1)} ${
		y(sum).toFixed(1)}`).join("")}), ...dots,
	...points.map(({key}, i) => text(format.month(key), {x: x(i),
	    y: HEIGHT - 6, "text-anchor": "middle"})));
}

/*
 * groups: [{value: "202610", sum}], in any order; absent months sold nothing.
 * `pick` takes how many months ago one is that was chosen.
 */
export function monthLine(groups, pick) {
	const sums = new Map(groups.map(({value, sum}) => [value, sum]));
	const points = monthKeys(Object.fromEntries(sums))
	    .map((key) => ({key, sum: sums.get(key) ?? 0}));
	const name = columnName("totalQuantite");

	return el("div", {}, drawing(points, `${name}, ${t("months12")}`),
	    el("table.plain.sum-table", {},
		el("thead", {}, el("tr", {}, el("th", {scope: "col"}, t("month")),
		    el("th.right", {scope: "col"}, name))),
		el("tbody", {}, points.map(({key, sum}, i) => el("tr", {},
		    el("th", {scope: "row"}, el("button.link", {type: "button",
			title: t("sum_month_pick"),
			onclick: () => pick(points.length - 1 - i)},
		    format.monthYear(key))),
		    el("td.right", {}, format.decimal(sum)))))));
}
