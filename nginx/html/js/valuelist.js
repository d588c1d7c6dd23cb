/*
 * valuelist: the values of a column with the number of articles of each, by the
 * other filters, to be ticked as in a spreadsheet's list.
 */
import {get} from "./api.js";
import {paramsFor} from "./asked.js";
import {isOn, listedIn, valuesOf, valueWords} from "./conditions.js";
import {el} from "./dom.js";
import {failure} from "./errors.js";
import * as format from "./format.js";
import {plural, t} from "./text.js";

const DRAWN = 200; /* lines; what is searched for leaves fewer */
const ALL = 1000000;

/* The same filters, but for those on the column itself. */
const others = (name, filters) => ({...filters,
    gamme: name === "codeGamme" ? "" : filters.gamme,
    where: filters.where.filter((one) => !isOn(name, one))});

/* [{value, count}], the highest turnover first; null counts are not known. */
async function valuesNow({name, kind}, {supplier, filters}) {
	const {data} = await get("/api/v1/grid/aggregates", {
	    ...paramsFor(supplier.code, others(name, filters)), groups: name,
	    values: "totalCa", limit: ALL});
	const known = filters.show !== "mine";
	const found = data.filter((group) => group[name] != null)
	    .map((group) => ({value: group[name],
		count: known ? group.articles : null}));
	const order = valuesOf(kind);

	return order === null ? found : order.map((value) =>
	    found.find((one) => one.value === value) ??
	    {value, count: known ? 0 : null});
}

/* {element, value()} for a form; `now` is {supplier, filters}. */
export function valueList(column, now) {
	const ticked = new Set(now.filters.where
	    .filter((one) => isOn(column.name, one)).flatMap(listedIn));
	const find = el("input", {type: "search", id: "filter-value",
	    autocomplete: "off", hidden: valuesOf(column.kind) !== null,
	    "aria-label": t("values_find"), placeholder: t("values_find"),
	    oninput: () => draw()});
	const list = el("ul.values");
	const told = el("div.faint", {role: "status"});
	let all = [];

	function line({value, count}) {
		const box = el("input", {type: "checkbox", value,
		    checked: ticked.has(value), onchange() {
			if (box.checked)
				ticked.add(value);
			else
				ticked.delete(value);
			tell();
		    }});

		return el("li", {}, el("label", {}, box,
		    el("span.grow", {}, valueWords(column.kind, value)),
		    el("span.faint", {}, count === null ? "" :
			format.integer(count))));
	}

	function tell() {
		const chosen = plural("values_ticked", ticked.size);

		told.textContent = ticked.size > 0 ? chosen :
		    plural("values", all.length);
	}

	/* Those that are ticked first, so that they are seen. */
	function draw() {
		const words = find.value.trim().toLowerCase();
		const fits = all.filter(({value}) =>
		    value.toLowerCase().includes(words));

		list.replaceChildren(...fits.slice(0, DRAWN).map(line));
		if (fits.length > DRAWN)
			list.append(el("li.faint", {}, plural("values_more",
			    fits.length - DRAWN)));
		tell();
	}

	async function fill() {
		const has = ({value}) => ticked.has(value);

		told.textContent = t("loading");
		try {
			const found = await valuesNow(column, now);

			all = valuesOf(column.kind) !== null ? found :
			    [...found.filter(has),
				...found.filter((one) => !has(one))];
			draw();
		} catch (error) {
			told.replaceChildren(failure(t("values_failed"), error,
			    fill));
		}
	}

	fill();
	return {element: el("fieldset.value-list", {},
	    el("legend", {}, t("filter_value")), find, list, told),
	value: () => [...ticked]};
}
