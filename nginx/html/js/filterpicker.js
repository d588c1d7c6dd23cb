/* filterpicker: the window in which a filter on a column is made. */
import {conditionOf, filterable, isCounted, isOn, listedIn, operatorsOf,
    READY, valuesOf} from "./conditions.js";
import {openDialog} from "./dialog.js";
import {el} from "./dom.js";
import {t} from "./text.js";
import {valueList} from "./valuelist.js";

/* A field that fits the column and the operator: {element, value()}. */
function valueField(column, operator, now) {
	const {kind} = column;

	if (operator === "list" && isCounted(column.name))
		return valueList(column, now);
	const values = operator === "list" ? valuesOf(kind) : null;
	const lead = {id: "filter-value", autocomplete: "off"};

	if (operator === "null" || operator === "not_null")
		return {element: null, value: () => ""};
	if (values !== null) {
		const boxes = values.map((value) => el("input",
		    {type: "checkbox", value}));

		return {element: el("fieldset.row", {},
		    el("legend", {}, t("filter_value")),
		    boxes.map((box) => el("label", {}, box, " ",
			kind === "trend" ? t(box.value) : box.value))),
		value: () => boxes.filter((box) => box.checked)
		    .map((box) => box.value)};
	}
	const input = operator === "list" ?
	    el("textarea", {...lead, rows: 5}) :
	    el("input", {...lead, type: kind === "day" ? "date" : "text"});

	return {element: el("div.field", {}, el("label", {for: "filter-value"},
	    t(operator === "list" ? "filter_list" : "filter_value")), input),
	value: () => input.value};
}

/* The conditions that a list of values stands for, its own before. */
const replacedBy = (column, operator, where) => operator === "list" &&
    isCounted(column.name) ? where.filter((one) => isOn(column.name, one) &&
	listedIn(one).length > 0) : [];

/*
 * `add` takes the conditions that were made, and those that they replace; `name`
 * is a column or null, `now` {supplier, filters}.
 */
export function pickFilter(name, now, add) {
	const columns = filterable();
	const which = el("select", {id: "filter-column", onchange: redraw},
	    columns.map((one) => el("option", {value: one.name,
		selected: one.name === name ? true : null}, one.label)));
	const operator = el("select", {id: "filter-operator",
	    onchange: drawValue});
	const place = el("div");
	const problem = el("p.problem", {role: "alert"});
	let field = null;

	const chosen = () => columns.find((one) => one.name === which.value);

	function drawValue() {
		problem.textContent = "";
		field = valueField(chosen(), operator.value, now);
		place.replaceChildren(...field.element ? [field.element] : []);
	}

	function redraw() {
		operator.replaceChildren(...operatorsOf(chosen())
		    .map((value) => el("option", {value}, t(`op_${value}`))));
		drawValue();
	}

	function done(conditions, replaced = []) {
		window.close();
		add(conditions, replaced);
	}

	function submit(event) {
		event.preventDefault();
		const value = field.value();
		const replaced = replacedBy(chosen(), operator.value,
		    now.filters.where);
		const {condition, wrong} = conditionOf(chosen(),
		    operator.value, value);

		if (wrong === undefined)
			done([condition], replaced);
		else if (replaced.length > 0 && value.length === 0)
			done([], replaced);
		else
			problem.textContent = wrong;
	}

	redraw();
	const form = el("form.filter-form", {onsubmit: submit, novalidate: true},
	    el("div.row", {},
		el("div.field", {}, el("label", {for: "filter-column"},
		    t("filter_column")), which),
		el("div.field", {}, el("label", {for: "filter-operator"},
		    t("filter_operator")), operator)),
	    place, problem,
	    el("button.primary", {}, t("filter_add")));
	const window = openDialog({title: t("filter_title"), content: [form,
	    el("h3", {}, t("filter_ready")),
	    el("ul.ready", {}, READY.map((one) => el("li", {},
		el("button.link", {type: "button",
		    onclick: () => done(one.where)}, t(one.name)))))]});

	(name === null ? which : form.querySelector("#filter-value") ??
	    operator).focus();
}
