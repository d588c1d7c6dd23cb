/* filterpicker: the window in which a filter on a column is made. */
import {conditionOf, filterable, operatorsOf, READY, valuesOf} from
    "./conditions.js";
import {openDialog} from "./dialog.js";
import {el} from "./dom.js";
import {t} from "./text.js";

/* A field that fits the column and the operator: {element, value()}. */
function valueField({kind}, operator) {
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

/* `add` takes the conditions that were made; `name` is a column or null. */
export function pickFilter(name, add) {
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
		field = valueField(chosen(), operator.value);
		place.replaceChildren(...field.element ? [field.element] : []);
	}

	function redraw() {
		operator.replaceChildren(...operatorsOf(chosen().kind)
		    .map((value) => el("option", {value}, t(`op_${value}`))));
		drawValue();
	}

	function done(conditions) {
		window.close();
		add(conditions);
	}

	function submit(event) {
		event.preventDefault();
		const {condition, wrong} = conditionOf(chosen(),
		    operator.value, field.value());

		if (wrong === undefined)
			done([condition]);
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
