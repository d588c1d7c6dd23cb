/* filterpicker: the window in which a filter on a column is made. */
import {anyFilter} from "./asked.js";
import {conditionOf, filterable, isCounted, isOn, listedIn, listWrong,
    operatorsOf, READY, valuesOf} from "./conditions.js";
import {openDialog} from "./dialog.js";
import {el} from "./dom.js";
import {reasons} from "./errors.js";
import {isPlain, listReport, openListReport} from "./listreport.js";
import {findLines} from "./lookup.js";
import {t} from "./text.js";
import {valueList} from "./valuelist.js";
import {readLines} from "./written.js";

const MOST_TYPED = 500; /* characters */

/*
 * A field that fits the column and the operator: {element, value()}; where
 * values may be pasted, `pasted` is set, and value() are lines (readLines).
 */
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
	    el("input", {...lead, type: kind === "day" ? "date" : "text",
		maxlength: MOST_TYPED});

	return {element: el("div.field", {}, el("label", {for: "filter-value"},
	    t(operator === "list" ? "filter_list" : "filter_value")), input),
	pasted: operator === "list",
	value: () => operator === "list" ?
	    readLines(input.value, kind === "code") : input.value};
}

/* The conditions that a list of values stands for, its own before. */
const replacedBy = (column, operator, where) => operator === "list" &&
    isCounted(column.name) ? where.filter((one) => isOn(column.name, one) &&
	listedIn(one).length > 0) : [];

/*
 * `add` takes the conditions that were made, and those that they replace; `name`
 * is a column or null, `text` a list of values to begin with, "" for none, `now`
 * {supplier, filters}.
 */
export function pickFilter(name, text, now, add) {
	const columns = filterable();
	const which = el("select", {id: "filter-column", onchange: redraw},
	    columns.map((one) => el("option", {value: one.name,
		selected: one.name === name ? true : null}, one.label)));
	const operator = el("select", {id: "filter-operator",
	    onchange: drawValue});
	const place = el("div");
	const problem = el("div.problem", {role: "alert"});
	const go = el("button.primary", {}, t("filter_add"));
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

	/* The list has the values that the supplier has; the rest is told. */
	async function addFound(lines) {
		const found = await findLines(which.value, lines,
		    now.supplier.code);
		const {condition, wrong} = conditionOf(chosen(), "list",
		    found.values);

		if (found.values.length === 0)
			problem.replaceChildren(...listReport(found));
		else if (wrong !== undefined)
			problem.textContent = wrong;
		else if (window.dialog.open) {
			done([condition]);
			if (!isPlain(found))
				openListReport(found, anyFilter(now.filters));
		}
	}

	async function lookUp(lines) {
		problem.textContent = listWrong(lines.length) ?? "";
		if (problem.textContent !== "")
			return;
		go.disabled = true;
		go.textContent = t("list_looking");
		try {
			await addFound(lines);
		} catch (error) {
			problem.replaceChildren(...reasons(t("list_failed"),
			    error));
		}
		go.disabled = false;
		go.textContent = t("filter_add");
	}

	function submit(event) {
		event.preventDefault();
		const value = field.value();

		if (go.disabled)
			return;
		if (field.pasted) {
			lookUp(value);
			return;
		}
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
	    place, problem, go);
	const window = openDialog({title: t("filter_title"), content: [form,
	    el("h3", {}, t("filter_ready")),
	    el("ul.ready", {}, READY.map((one) => el("li", {},
		el("button.link", {type: "button",
		    onclick: () => done(one.where)}, t(one.name)))))]});

	if (text !== "") {
		operator.value = "list";
		drawValue();
		form.querySelector("#filter-value").value = text;
	}
	(name === null ? which : form.querySelector("#filter-value") ??
	    operator).focus();
}
