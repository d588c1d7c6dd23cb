/*
 * charts: curves and bars over months (the door to uPlot). Each has its
 * figures in a table below it, for who cannot see the drawing.
 */
import uPlot from "uplot";
import {el, nameWords} from "./dom.js";
import * as format from "./format.js";
import {t} from "./text.js";

const HEIGHT = 190;
const LABEL = 30; /* pixels for the name of a month */

function colour(name) {
	return getComputedStyle(document.documentElement)
	    .getPropertyValue(`--${name}`).trim();
}

/* Beside one another, else of every second month, the newest among them. */
function namesOf(months, width) {
	const every = width / months.length < LABEL ? 2 : 1;

	return (i) => months[i] === undefined ||
	    (months.length - 1 - i) % every > 0 ? "" :
	    format.month(months[i]).slice(0, 4);
}

function axes(months) {
	const line = {stroke: colour("grid-line"), width: 1};
	const common = {stroke: colour("text-2"), ticks: {show: false},
	    font: "11px system-ui, sans-serif"};

	return [
		{...common, grid: {show: false}, size: 24,
		    splits: () => months.map((_, i) => i),
		    values: ({width}, at) => at.map(namesOf(months, width))},
		{...common, grid: line, size: 46, splits: undefined,
		    values: (_, at) => at.map(format.compact)},
	];
}

/* Side by side: this is the n-th of `of` bars at each month. */
function bars(n, of) {
	const width = 0.74 / of;

	return uPlot.paths.bars({size: [width, 60], align: of === 1 ? 0 :
	    n === 0 ? -1 : 1, radius: 0.15});
}

/* What the pointer is at, in words, above the drawing. */
function legendOf(series) {
	const when = el("span.when");
	const entries = series.map((one) => el("span.entry", {},
	    el(`span.mark.of-${one.form}.${one.colour}`), `${one.label} `,
	    el("b")));
	const element = el("div.legend", {"aria-hidden": "true"}, entries,
	    when);

	return {element, show(plot, months) {
		const i = plot.cursor.idx;

		when.textContent = i == null ? "" :
		    format.monthYear(months[i]);
		entries.forEach((entry, n) => {
			entry.querySelector("b").textContent = i == null ? "" :
			    format.decimal(plot.data[n + 1][i]);
		});
	}};
}

function figures(months, series) {
	const head = el("tr", {}, el("th", {scope: "col"}, t("month")),
	    series.map((one) => el("th.right", {scope: "col"},
		nameWords(one.label))));
	const rows = months.map((month, i) => el("tr", {},
	    el("th", {scope: "row"}, format.monthYear(month)),
	    series.map((one) => el("td.right", {},
		format.decimal(one.values[i])))));

	return el("details.figures", {}, el("summary", {}, t("table")),
	    el("table.plain", {}, el("thead", {}, head),
		el("tbody", {}, rows)));
}

/*
 * series: [{label, values, form: "bar" | "line" | "dash", colour}] over the
 * same months. `label` says what the drawing is. destroy() when it goes.
 */
export function monthChart(host, {label, months, series}) {
	const barCount = series.filter(({form}) => form === "bar").length;
	const legend = legendOf(series);
	const box = el("div.plot", {role: "img", "aria-label": label});
	let nth = 0;
	const shown = series.map((one) => {
		const ink = colour(one.colour);

		if (one.form === "bar")
			return {stroke: ink, fill: ink, width: 0,
			    points: {show: false}, paths: bars(nth++, barCount)};
		return {stroke: ink, width: 2, points: {show: false},
		    spanGaps: true, dash: one.form === "dash" ? [6, 4] : []};
	});

	host.append(legend.element, box, figures(months, series));
	const plot = new uPlot({
		width: Math.max(box.clientWidth, 200), height: HEIGHT,
		padding: [8, 8, 0, 0],
		legend: {show: false},
		cursor: {y: false, drag: {x: false, y: false},
		    points: {show: false}},
		scales: {x: {time: false, range: [-0.6, months.length - 0.4]},
		    y: {range: (_, low, high) =>
			[Math.min(0, low), high <= 0 ? 1 : high * 1.06]}},
		axes: axes(months),
		series: [{}, ...shown],
		hooks: {setCursor: [(self) => legend.show(self, months)]},
	}, [months.map((_, i) => i), ...series.map(({values}) => values)], box);
	const watch = new ResizeObserver(() => plot.setSize(
	    {width: Math.max(box.clientWidth, 200), height: HEIGHT}));

	watch.observe(box);
	return () => {
		watch.disconnect();
		plot.destroy();
	};
}

/* The straight line through the points, as the API's trend is computed. */
export function fittedLine(values) {
	const n = values.length;
	const mean = values.reduce((sum, y) => sum + y, 0) / n;
	const middle = (n - 1) / 2;
	let over = 0, under = 0;

	values.forEach((y, x) => {
		over += (x - middle) * (y - mean);
		under += (x - middle) ** 2;
	});
	const slope = under === 0 ? 0 : over / under;

	return values.map((_, x) => mean + slope * (x - middle));
}
