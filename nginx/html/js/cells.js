/* cells: how a value looks in the grid, by the kind of its column. */
import {el, svg} from "./dom.js";
import * as format from "./format.js";
import {monthKeys} from "./period.js";
import {edit, proposal} from "./ranges.js";
import {french, t} from "./text.js";

const ARROWS = {up: "↗", down: "↘", flat: "→"};

/* A range as it stands in a cell; "∅" for none. */
export function chip(gamme, kind = gamme == null ? ".none" : "", title = null) {
	return el(`span.gamme${kind}`, {title}, gamme ?? "∅");
}

function proposedChip(proposed, over) {
	const title = t("proposed_by", {author: proposed.author,
	    date: format.time(proposed.at)});

	return el("span.proposal" + (over ? ".over" : ""), {title},
	    chip(proposed.gamme, ".api"), el("span.badge", {}, t("api")));
}

function editChip(one) {
	const title = one.conflict ? t("was_conflict") : t("mine");

	return chip(one.gamme, one.conflict ? ".mine.conflict" : ".mine",
	    title);
}

function waitsInWords(proposed, one) {
	return [proposed && `${t("proposed_by", {author: proposed.author,
	    date: format.time(proposed.at)})} :`, one && `${t("mine")} :`]
	    .filter((text) => text).join(" ");
}

/* The recorded range, then what is proposed, then the buyer's own word. */
export function rangeView(row) {
	const proposed = proposal(row.codein), one = edit(row.codein);
	const view = el("span.ranges", {}, chip(row.codeGamme, undefined,
	    row.codeGamme == null ? t("no_range") : null));

	if (proposed || one)
		view.append(el("span.arrow", {"aria-hidden": "true"}, "→"),
		    el("span.unseen", {}, waitsInWords(proposed, one)));
	if (proposed)
		view.append(proposedChip(proposed, one !== undefined));
	if (one)
		view.append(editChip(one));
	return view;
}

/* The API's label is French; a trend without percentage is told in words. */
export function trendText(trend) {
	if (trend.pct == null || trend.direction === "flat")
		return t(trend.direction);
	return french ? trend.label : format.change(trend.pct);
}

export function trendView(trend) {
	if (trend == null)
		return el("span.faint", {}, "–");
	return el(`span.trend.${trend.direction}`, {
	    title: t(trend.direction)},
	el("span", {"aria-hidden": "true"}, ARROWS[trend.direction]),
	" ", trendText(trend));
}

/* Copied for each row: cheaper than to make it while one scrolls. */
const noBars = svg("svg", {class: "bars", viewBox: "0 0 100 22", width: 100,
    height: 22, "aria-hidden": "true"}, svg("path"));

/*
 * Twelve bars, a month each; their figures are in the article panel. `highest` is what the
 * full height stands for, when it is not the series' own highest.
 */
export function seriesView(series, highest) {
	const values = monthKeys(series).map((key) => series?.[key] ?? 0);
	const most = highest ?? Math.max(...values, 0);

	if (most <= 0)
		return el("span.faint", {}, "–");
	const path = values.map((value, i) => {
		const height = Math.max(Math.max(value, 0) / most * 20, 0.6)
		    .toFixed(1);

		return `M${i * 8.5} 21v-${height}h6v${height}z`;
	}).join("");
	const view = noBars.cloneNode(true);

	view.firstChild.setAttribute("d", path);
	return view;
}

/* The way to the article for a mouse or a finger; the keyboard has Enter. */
function labelView(value) {
	return el("span.labelled", {}, el("span.words", {title: value}, value),
	    el("span.open", {title: t("open_article")}));
}

/* What waits at a row: who proposed it, when, and why. */
function proposalView(row, word) {
	const proposed = proposal(row.codein);

	return proposed === undefined ? null : word(proposed);
}

const formats = {
	money: format.money, price: format.price, percent: format.percent,
	change: format.change, points: format.points,
	decimal: format.decimal, tenths: format.tenths,
	quantity: format.quantity, integer: format.integer, day: format.day,
};

const views = {
	range: (value, row) => rangeView(row),
	label: labelView,
	trend: trendView,
	series: (value) => seriesView(value),
	author: (value, row) => proposalView(row, ({author}) => author),
	proposed: (value, row) => proposalView(row, ({at}) => format.time(at)),
	motif: (value, row) => proposalView(row, ({motif}) => el("span",
	    {title: motif}, motif ?? "")),
	change: (value) => el("span" + (value >= 0.005 ? ".up" :
	    value <= -0.005 ? ".down" : ""), {}, format.change(value)),
};

/* A value as its cell shows it: an element or text. */
export function cellView(kind, value, row) {
	if (views[kind])
		return views[kind](value, row);
	return formats[kind] ? formats[kind](value) : value ?? "";
}

/* The row of sums is of no article. */
export const isTotal = (row) => row.codein === undefined;

/* It has no range, and sums of some columns. */
const totalView = (kind, value, row) => kind === "change" &&
    value !== undefined ? cellView(kind, value, row) :
	kind === "label" ? value : "";

/* What AG Grid asks of a column of this kind. */
export function cellOptions(kind) {
	if (views[kind])
		return {cellRenderer: ({value, data}) =>
		    data === undefined ? null : isTotal(data) ?
			totalView(kind, value, data) :
			cellView(kind, value, data) ?? ""};
	if (formats[kind])
		return {valueFormatter: ({value, data}) =>
		    data === undefined || (isTotal(data) && value === undefined) ?
			"" : cellView(kind, value, data)};
	return {};
}
