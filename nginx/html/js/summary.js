/*
 * summary: the rows that the filters leave, added up by class, brand, range or
 * month: a bar each, or a line over the months. A click on a bar filters.
 */
import {get} from "./api.js";
import {paramsFor, sumOf} from "./asked.js";
import {columnName} from "./columns.js";
import {quoted} from "./conditions.js";
import {openDialog} from "./dialog.js";
import {el, nameWords, svg} from "./dom.js";
import {failure} from "./errors.js";
import * as format from "./format.js";
import {changeOf} from "./months.js";
import {monthLine} from "./monthline.js";
import {recall, remember} from "./store.js";
import {t} from "./text.js";

const MOST = 40; /* bars; the others are one line together */
const ALL = 1000000;
const MEASURES = ["totalCa", "totalQuantite", "totalMarge", "stockValeur"];
/* Their sums of the year before, where there are some. */
const BEFORE = {totalCa: "totalCaN1", totalQuantite: "totalQuantiteN1",
    sales12m: "sales12mN1"};
const BY = ["class", "brand", "range", "month"];
const formats = {totalQuantite: format.decimal};

const formatOf = (measure) => formats[measure] ?? format.money;

/* The level below the class that the filters name. */
const levelOf = ({nomenclature}) => Math.min(nomenclature.length / 2 + 1, 3);

const keyOf = (by, filters) => ({class: `code${levelOf(filters)}`,
    brand: "marque", range: "codeGamme", month: "mois"})[by];

/* Map of a class's code to its name; empty where it cannot be had. */
async function classNames(supplier, filters) {
	const {data} = await get("/api/v1/nomenclatures", {fournisseur: supplier,
	    niveau: levelOf(filters), limit: ALL,
	    parent: filters.nomenclature.slice(0, (levelOf(filters) - 1) * 2) ||
		null}).catch(() => ({data: []}));

	return new Map(data.map(({code, libelle}) => [code, libelle]));
}

/* The filter that leaves a group's rows. */
function filterOf(by, value) {
	if (by === "class" && value !== null)
		return {nomenclature: value};
	if (by === "range" && value !== null)
		return {gamme: value};
	const column = {brand: "marque", range: "codeGamme", class: "code1"}[by];

	return {where: [value === null ? `${column}=is.null` :
	    `${column}=in.(${quoted(value)})`]};
}

function bar(value, most) {
	const width = most <= 0 ? 0 : Math.max(value, 0) / most * 100;

	return svg("svg", {class: "sum-bar", viewBox: "0 0 100 10",
	    preserveAspectRatio: "none", "aria-hidden": "true"},
	svg("rect", {width: width.toFixed(2), height: 10}));
}

/* {sum, before}; `before` is null where nothing is known of the year before. */
const sumsOf = (values, value) => ({sum: values?.[value]?.sum ?? 0,
    before: sumOf(values?.[BEFORE[value]])});

/* What the groups leave of the total. */
const restOf = (total, groups, value) => total[value] === null ? null :
    groups.reduce((rest, one) => rest - (one[value] ?? 0), total[value]);

/*
 * {groups: [{value, label, articles, sum, before}], rest, total}, the last two
 * {sum, before}, asked for.
 */
async function summaryOf({supplier, filters}, by, measure) {
	const key = keyOf(by, filters);
	const value = by === "month" ? "sales12m" : measure;
	const [{data, meta}, names] = await Promise.all([
		get("/api/v1/grid/aggregates", {
		    ...paramsFor(supplier.code, filters), groups: key,
		    values: [value, BEFORE[value]].filter((one) => one).join(","),
		    limit: by === "month" ? ALL : MOST}),
		by === "class" ? classNames(supplier.code, filters) : new Map(),
	]);
	const nameOf = (code) => code == null ? t("sum_none") :
	    names.get(code) ?? (by === "class" ? `${code} ${t("no_label")}` :
		code);
	const groups = data.map((group) => ({value: group[key] ?? null,
	    label: nameOf(group[key]),
	    articles: group.articles, ...sumsOf(group.valeurs, value)}));
	const total = sumsOf(meta.totaux, value);

	return {groups, total, rest: {sum: restOf(total, groups, "sum"),
	    before: restOf(total, groups, "before")}};
}

/* These filters, and on top of them a bar's. */
const withSome = (filters, {where = [], ...some}) => ({...filters, ...some,
    where: [...new Set([...filters.where, ...where])]});

/* `now` is {supplier, filters}; filter(others) shows what a bar stands for. */
export function openSummary(now, filter) {
	const kept = recall("summary") ?? {};
	let by = BY.includes(kept.by) ? kept.by : BY[0];
	let newest = 0;
	const measure = el("select", {id: "sum-measure", onchange: draw},
	    MEASURES.map((value) => el("option", {value, selected:
		value === kept.measure ? true : null}, columnName(value))));
	const measureField = el("div.field", {},
	    el("label", {for: "sum-measure"}, t("sum_measure")), measure);
	const body = el("div.sums-by", {"aria-live": "polite"});
	const choice = el("fieldset.choice", {}, el("legend", {}, t("sum_by")),
	    BY.map((value) => el("label", {}, el("input", {type: "radio",
		name: "sum-by", value, checked: value === by ? true : null,
		onchange() {
			by = value;
			draw();
		}}), el("span.face", {}, t(`sum_by_${value}`)))));

	function go(some) {
		window.close();
		filter(withSome(now.filters, some));
	}

	/* How it differs from the year before, where that of the total is known. */
	function changeCell({sum, before}, total) {
		return total.before === null ? null : el("td.right.on-year",
		    {title: before === null ? null : t("sum_year_before",
			{value: formatOf(measure.value)(before)})},
		    format.points(changeOf(sum, before)));
	}

	function groupRow(group, most, total) {
		const {value, label, articles, sum} = group;
		const show = formatOf(measure.value);

		return el("tr", {}, el("th", {scope: "row"},
		    el("button.link", {type: "button",
			onclick: () => go(filterOf(by, value))}, label)),
		el("td.right.faint.articles", {}, format.integer(articles)),
		el("td.bar-cell", {}, bar(sum, most)),
		el("td.right", {}, show(sum)), changeCell(group, total),
		el("td.right.faint.share", {}, total.sum > 0 ?
		    format.percent(sum / total.sum) : ""));
	}

	function table({groups, rest, total}) {
		const most = Math.max(0, ...groups.map(({sum}) => sum));
		const show = formatOf(measure.value);
		const heads = [["", t(`sum_by_${by}`)], [".right.articles", t("sum_articles")],
		    ["", ""], [".right", columnName(measure.value)],
		    total.before !== null && [".right", t("sum_on_year")],
		    [".right.share", t("sum_share")]].filter((one) => one);
		const line = (name, sums) => el("tr", {}, el("th",
		    {scope: "row"}, name), el("td.articles"), el("td.bar-cell"),
		el("td.right", {}, show(sums.sum)), changeCell(sums, total),
		el("td.right.faint.share", {}, total.sum > 0 ?
		    format.percent(sums.sum / total.sum) : ""));

		return el("table.plain.sum-table", {}, el("thead", {}, el("tr", {},
		    heads.map(([kind, text]) => text === "" ? el("td") :
			el(`th${kind}`, {scope: "col"}, nameWords(text))))),
		el("tbody", {}, groups.map((one) => groupRow(one, most, total)),
		    groups.length === MOST && line(t("sum_rest"), rest) || null),
		el("tfoot", {}, line(t("sum_total"), total)));
	}

	async function draw() {
		const mine = ++newest;

		remember("summary", {by, measure: measure.value});
		measureField.hidden = by === "month";
		try {
			const found = await summaryOf(now, by, measure.value);

			if (mine !== newest)
				return;
			body.replaceChildren(found.groups.length === 0 ?
			    el("p.faint", {}, t("sum_nothing")) :
			    by === "month" ? monthLine(found.groups, (back) =>
				go({where: [`sales12m-${back}=gt.0`]})) :
				table(found));
		} catch (error) {
			if (mine === newest)
				body.replaceChildren(failure(t("sum_failed"),
				    error, draw));
		}
	}

	const window = openDialog({title: t("summary"), wide: true, content: [
		now.filters.show === "mine" &&
		    el("p.faint", {}, t("sum_not_mine")),
		el("div.row", {}, choice, measureField), body,
	].filter((one) => one)});

	draw();
	choice.querySelector("input:checked").focus();
}
