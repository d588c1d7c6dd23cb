/* panel: one article beside the grid: figures, months, stores, network. */
import {get} from "./api.js";
import {on} from "./bus.js";
import {rangeView, seriesView, trendText, trendView} from "./cells.js";
import {fittedLine, monthChart} from "./charts.js";
import {columnName} from "./columns.js";
import {el, iconButton, nameWords} from "./dom.js";
import {failure} from "./errors.js";
import * as format from "./format.js";
import {freshen, moment} from "./fresh.js";
import {historyPart} from "./history.js";
import {monthKeys, periodOf, salesKnown, yearBefore} from "./period.js";
import {edit, proposal, RANGES, setRange} from "./ranges.js";
import {mayDecide, tellReadOnly} from "./rights.js";
import {plural, t} from "./text.js";

const NETWORK_STORES = 270;
const ALL_STORES = 100000;

function fact(name, value, format_) {
	return el("div.fact", {}, el("dt", {}, nameWords(columnName(name))),
	    el("dd", {}, format_(value)));
}

const facts = (...list) => el("dl.facts", {}, list);
const section = (title, ...content) => el("section", {},
    el("h3", {}, title), content);

/* A code; that of the trade is the way to the same article elsewhere. */
const codeOf = (name, value, across) => el("span", {}, `${name} `,
    across === undefined ? el("b.code", {}, value) :
	el("button.link.code", {type: "button", title: t("gtin_across"),
	    onclick: () => across(value)}, value));

function heading(row, across) {
	const path = [row.libelleCode1 ?? row.code1, row.libelleCode2 ??
	    row.code2, row.libelleCode3 ?? row.code3].filter((one) => one);

	return el("div.article-head", {},
	    el("h2", {tabindex: -1}, row.libelle1),
	    el("p.sub", {}, [row.libelle2, row.marque].filter((one) => one)
		.join(" · ")),
	    el("p.codes", {}, [[columnName("codein"), row.codein],
		["GTIN", row.gtin, across], [columnName("reference"), row.reference],
		[columnName("codeCentrale"), row.codeCentrale]]
		.filter(([, value]) => value)
		.map((one) => codeOf(...one))),
	    path.length > 0 ? el("p.path", {}, path.join(" › ")) : null);
}

/* Who proposed what, in words: a finger has no way to hover over the badge. */
function proposedBy({codein}) {
	const proposed = proposal(codein), one = edit(codein);

	if (proposed === undefined)
		return null;
	return el("p.proposed-by", {}, one === undefined ?
	    t("proposed_by", {author: proposed.author,
		date: format.time(proposed.at)}) :
	    t("mine_over", {gamme: proposed.gamme,
		author: proposed.author}),
	proposed.motif && el("q.motif", {}, proposed.motif));
}

/* The five ranges as buttons; the same as pressing their letter. */
function rangeButtons(row) {
	const wanted = (edit(row.codein) ?? proposal(row.codein) ??
	    {gamme: row.codeGamme}).gamme;

	return el("div.range-row", {},
	    mayDecide(row.codeFournisseur) ? el("div.range-buttons", {role: "group", "aria-label": t("range")},
		RANGES.map((gamme) => el("button", {type: "button",
		    "aria-pressed": String(gamme === wanted),
		    "aria-label": t("set_range", {gamme}),
		    onclick: () => setRange([row], gamme)}, gamme))) :
		null,
	    rangeView(row),
	    row.codeGammeServeur === row.codeGamme ? null :
		el("span.faint", {}, t("server_range",
		    {gamme: row.codeGammeServeur ?? "∅"})),
	    proposedBy(row));
}

function key(row) {
	return el("section.key", {}, facts(
	    fact("totalCa", row.totalCa, format.money),
	    fact("totalQuantite", row.totalQuantite, format.integer),
	    fact("tauxMarge", row.tauxMarge, format.percent),
	    fact("totalCaN1", row.totalCaN1, format.money),
	    fact("evolutionCaN1", row.evolutionCaN1, format.points),
	    fact("evolutionQteN1", row.evolutionQteN1, format.points),
	    fact("stockActuel", row.stockActuel, format.integer),
	    fact("couvertureJours", row.couvertureJours, format.integer),
	    fact("derniereVente", row.derniereVente, format.day)));
}

/* What it sold in the same months a year before; null: nobody knows. */
const yearAgo = (map, keys) => keys.map(yearBefore).map((key) =>
    map[key] ?? (salesKnown([key]) ? 0 : null));

function months(row, drawn) {
	const host = el("div.chart");
	const keys = monthKeys(row.sales12m, row.stock12m, row.receptions12m);
	const values = (map, none) => keys.map((k) => map[k] ?? none);

	drawn.push(() => monthChart(host, {label: t("months12"), months: keys,
	    series: [
		{label: t("sales"), values: values(row.sales12m, 0),
		    form: "bar", colour: "ink-sales"},
		Object.keys(row.sales12mN1).length > 0 && {form: "line",
		    label: t("sales_before"), colour: "ink-before",
		    values: yearAgo(row.sales12mN1, keys)},
		{label: t("receptions"), values: values(row.receptions12m, 0),
		    form: "bar", colour: "ink-receptions"},
		{label: t("stock"), values: values(row.stock12m, null),
		    form: "line", colour: "ink-stock"},
	    ].filter((one) => one)}));
	return section(t("months12"), host);
}

const sum = (map) => Object.values(map ?? {}).reduce((a, b) => a + b, 0);
const latest = (map) => map?.[Object.keys(map).sort().at(-1)] ?? null;

function meter(value, most) {
	const bar = el("span.fill");

	bar.style.width = `${most <= 0 ? 0 : Math.max(value, 0) / most * 100}%`;
	return el("span.meter", {"aria-hidden": "true"}, bar);
}

let named = null; /* promises Map of a store's code to its name */

/* A store that has no name, or none that could be had, is told by its code. */
async function nameStores(table) {
	named ??= get("/api/v1/magasins", {limit: ALL_STORES}).then(({data}) =>
	    new Map(data.map(({code, nom}) => [code, nom])));
	const names = await named.catch(() => {
		named = null;
		return new Map();
	});

	for (const place of table.querySelectorAll("[data-store]"))
		place.textContent = names.get(place.dataset.store) ?? "";
}

function stores(row) {
	const codes = [...new Set([...Object.keys(row.sales12mByStore),
	    ...Object.keys(row.stock12mByStore)])];
	const list = codes.map((code) => ({code,
	    sold: sum(row.sales12mByStore[code]),
	    got: sum(row.receptions12mByStore[code]),
	    stock: latest(row.stock12mByStore[code])}))
	    .sort((a, b) => b.sold - a.sold);
	const most = Math.max(0, ...codes.flatMap((code) =>
	    Object.values(row.sales12mByStore[code] ?? {})));
	const head = [["", t("store")], ["", t("sales_by_month")],
	    [".right", t("sales")], [".right", t("receptions")],
	    [".right", t("stock_now")]];

	if (list.length === 0)
		return null;
	const table = el("table.stores", {},
	    el("thead", {}, el("tr", {}, head.map(([kind, text]) =>
		el(`th${kind}`, {scope: "col"}, text)))),
	    el("tbody", {}, list.map((one) => el("tr", {},
		el("th", {scope: "row"}, el("span.code", {}, one.code), " ",
		    el("span.store-name", {"data-store": one.code})),
		el("td.wide", {}, seriesView(
		    row.sales12mByStore[one.code], most)),
		el("td.right", {}, format.integer(one.sold)),
		el("td.right", {}, format.integer(one.got)),
		el("td.right" + (one.stock <= 0 ? ".out" : ""), {},
		    format.integer(one.stock))))));

	nameStores(table);
	return section(t("stores"), table);
}

function presence(network) {
	return el("div.presence", {}, el("span", {}, t("presence_title")),
	    meter(network.nbMagasinsReseau, NETWORK_STORES),
	    el("b", {}, plural("presence",
		network.nbMagasinsReseau, {total: NETWORK_STORES})));
}

/* The same figures of one's own stores and of the network's, side by side. */
function beside(row) {
	const {network} = row;
	const price = network.qteReseau > 0 && network.caReseau != null ?
	    network.caReseau / network.qteReseau : null;
	const lines = [
		["nbMagasins", row.nbMagasins, network.nbMagasinsReseau,
		    format.integer],
		["caParMagasin", row.caParMagasin, network.caParMagasinReseau,
		    format.money],
		["prixMoyenVente", row.prixMoyenVente, price, format.price],
		["tauxMarge", row.tauxMarge, network.margePctReseau,
		    format.percent],
	];

	return el("table.plain.beside", {},
	    el("thead", {}, el("tr", {}, el("td"),
		[t("own_stores"), t("network")].map((text) =>
		    el("th.right", {scope: "col"}, text)))),
	    el("tbody", {}, lines.map(([name, own, others, show]) =>
		el("tr", {}, el("th", {scope: "row"}, columnName(name)),
		    el("td.right", {}, show(own)),
		    el("td.right", {}, show(others))))));
}

function networkPart(row, drawn) {
	const {network, trend} = row;
	const series = row.qteReseauByMonth ?? {};
	const keys = Object.keys(series).sort();

	if (network == null)
		return section(t("network"),
		    el("p.faint", {}, t("network_none")));
	const host = el("div.chart");
	const values = keys.map((k) => series[k]);

	if (keys.length > 0)
		drawn.push(() => monthChart(host, {
			label: `${t("network_quantity")}, ${t("trend")} ${
			    trendText(trend)}`, months: keys, series: [
				{label: t("network"), values, form: "line",
				    colour: "ink-network"},
				{label: t("trend"), form: "dash",
				    colour: "ink-trend",
				    values: fittedLine(values)},
			]}));
	return section(t("network"), presence(network),
	    el("p.trend-line", {}, t("trend"), " ", trendView(trend)), host,
	    facts(fact("caReseau", network.caReseau, format.money),
		fact("qteReseau", network.qteReseau, format.integer)),
	    beside(row));
}

function prices(row) {
	return section(t("prices"), facts(
	    fact("prixAchat", row.prixAchat, format.price),
	    fact("prixVente", row.prixVente, format.price),
	    fact("prixMoyenVente", row.prixMoyenVente, format.price),
	    fact("margeUnitaire", row.margeUnitaire, format.price),
	    fact("tauxMarge", row.tauxMarge, format.percent),
	    fact("margePctReseau", row.network?.margePctReseau,
		format.percent),
	    fact("ecartMargeReseau", row.ecartMargeReseau, format.points),
	    fact("totalMarge", row.totalMarge, format.money),
	    fact("pcb", row.pcb, format.decimal)));
}

/*
 * `closed` hears of its end, `step` moves to another row by 1 or -1, `across`
 * looks for a GTIN at all suppliers.
 */
export function articlePanel(closed, step, across) {
	const body = el("div.panel-body");
	const element = el("aside.panel", {hidden: true,
	    "aria-label": t("article_panel")},
	el("div.panel-tools", {},
	    iconButton("up", t("previous"), () => step(-1)),
	    iconButton("down", t("next"), () => step(1)),
	    el("span.grow"),
	    iconButton("close", t("close"), () => close())), body);
	let asked = null, undraw = [], row = null, wanted = null, of = null;

	function draw() {
		const drawn = [];
		const top = body.scrollTop;

		undraw.forEach((run) => run());
		body.replaceChildren(...[heading(row, across), rangeButtons(row),
		    key(row), months(row, drawn), networkPart(row, drawn),
		    stores(row), prices(row), historyPart(of, row.codein)]
		    .filter((part) => part));
		undraw = drawn.map((run) => run());
		body.scrollTop = top;
	}

	function show(supplier, codein) {
		if (wanted === codein)
			return;
		wanted = codein;
		of = supplier;
		load();
	}

	/* While another article is on its way, nothing is done to the old one. */
	function wait(on) {
		element.classList.toggle("waits", on);
		body.inert = on && row?.codein !== wanted;
	}

	async function load() {
		const now = moment();

		element.hidden = false;
		wait(true);
		asked?.abort();
		asked = new AbortController();
		try {
			const {data, meta} = await get(
			    `/api/v1/products/${encodeURIComponent(wanted)}`,
			    {fournisseur: of}, {signal: asked.signal});

			freshen([data], now);
			row = data;
			periodOf(meta);
			draw();
			wait(false);
		} catch (error) {
			if (error.name === "AbortError")
				return;
			const codein = wanted;

			row = wanted = null;
			wait(false);
			body.replaceChildren(error.status === 404 ?
			    el("p.problem", {role: "alert"},
				t("article_not_there", {codein})) :
			    failure(t("article_failed"), error,
				() => show(of, codein)));
		}
	}

	function close() {
		if (element.hidden)
			return;
		asked?.abort();
		element.hidden = true;
		undraw.forEach((run) => run());
		undraw = [];
		row = wanted = null;
		body.replaceChildren();
		closed();
	}

	element.addEventListener("keydown", (event) => {
		const letter = event.key.toUpperCase();

		if (row === null || row.codein !== wanted ||
		    !RANGES.includes(letter) ||
		    event.ctrlKey || event.metaKey || event.altKey)
			return;
		event.preventDefault();
		if (mayDecide(row.codeFournisseur))
			setRange([row], letter);
		else
			tellReadOnly();
	});
	/* Only the ranges' line: charts stay as they are. */
	on("ranges", () => {
		if (row !== null) {
			const had = document.activeElement?.textContent;

			body.querySelector(".range-row")
			    .replaceWith(rangeButtons(row));
			if (document.activeElement === document.body)
				[...body.querySelectorAll(".range-buttons button")]
				    .find((one) => one.textContent === had)
				    ?.focus();
		}
	});
	on("recorded", (now) => row !== null &&
	    Object.assign(row, now.get(row.codein)));
	on("decided", () => wanted !== null && load());
	on("theme", () => row !== null && draw());

	return {element, show, close, isOpen: () => !element.hidden,
	    codein: () => wanted};
}
