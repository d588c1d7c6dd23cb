/* columnpicker: which columns are shown, and in which order. */
import {allColumnNames, column, isPinned, keepColumns, originalColumns,
    shownColumns, withPin} from "./columns.js";
import {densityChoice} from "./density.js";
import {openDialog} from "./dialog.js";
import {el, iconButton} from "./dom.js";
import {comparing, comparingYear, monthsOf, seriesNames, SPANS, YEAR_BEFORE}
    from "./months.js";
import {plural, t} from "./text.js";

/* changed() hears the names of columns that were added, if any. */
export function pickColumns(changed) {
	const list = el("ul.picker");
	const find = el("input", {type: "search", "aria-label":
	    t("columns_find"), placeholder: t("columns_find"),
	    oninput: () => draw()});
	let shown = shownColumns();

	function keep(columns) {
		const added = columns.map(({name}) => name)
		    .filter((name) => shown.every((one) => one.name !== name));

		shown = columns;
		keepColumns(shown);
		changed(added);
		draw();
	}

	function move(name, by) {
		const from = shown.findIndex((one) => one.name === name);
		const columns = [...shown];
		const [one] = columns.splice(from, 1);

		columns.splice(from + by, 0, one);
		keep(columns);
		list.querySelector(`[data-name=${name}] button:not(.pin)`)
		    ?.focus();
	}

	function toggle(name, on) {
		keep(on ? [...shown, {name}] :
		    shown.filter((one) => one.name !== name));
		list.querySelector(`[data-name=${name}] input`)?.focus();
	}

	/* Columns that come and go together. */
	function together(label, names) {
		const has = (name) => shown.some((one) => one.name === name);
		const box = el("input", {type: "checkbox", onchange() {
			keep([...shown.filter((one) => !names.includes(one.name)),
			    ...box.checked ? names.map((name) => ({name})) : []]);
		}});

		groups.push(() => {
			box.checked = names.every(has);
			box.indeterminate = !box.checked && names.some(has);
		});
		return el("label", {}, box, label);
	}

	const groups = [];
	const monthBoxes = el("fieldset.months", {},
	    el("legend", {}, t("columns_months")),
	    seriesNames().map((name) =>
		together(column(name).label, monthsOf(name))),
	    SPANS.map((span) => together(plural("columns_compare",
		span), comparing(span))));
	const yearBoxes = el("fieldset.months", {},
	    el("legend", {}, t("columns_year")),
	    together(t("columns_year_all"), ["totalCaN1", "evolutionCaN1",
		"totalQuantiteN1", "evolutionQteN1"]),
	    together(t("columns_year_months"), monthsOf(YEAR_BEFORE)),
	    SPANS.map((span) => together(plural("columns_year_span", span),
		comparingYear(span))));

	function pinButton(one, label) {
		const now = isPinned(one);
		const button = iconButton("pin", t("pin", {name: label}), () => {
			keep(shown.map((other) => other === one ?
			    withPin(one, !now) : other));
			list.querySelector(`[data-name=${one.name}] .pin`)
			    ?.focus();
		});

		button.classList.add("pin");
		button.setAttribute("aria-pressed", String(now));
		return button;
	}

	function item(name, place) {
		const {label} = column(name);
		const box = el("input", {type: "checkbox",
		    checked: place >= 0 ? true : null,
		    onchange: () => toggle(name, box.checked)});
		const row = el("li", {"data-name": name},
		    el("label.grow", {}, box, label));

		if (place >= 0)
			row.append(pinButton(shown[place], label));
		if (place > 0)
			row.append(iconButton("up",
			    t("move_up", {name: label}), () => move(name, -1)));
		if (place >= 0 && place < shown.length - 1)
			row.append(iconButton("down",
			    t("move_down", {name: label}), () => move(name, 1)));
		return row;
	}

	function draw() {
		for (const look of groups)
			look();
		const wanted = find.value.trim().toLowerCase();
		const place = (name) =>
		    shown.findIndex((one) => one.name === name);
		const names = [...shown.map(({name}) => name),
		    ...allColumnNames().filter((name) => place(name) < 0)]
		    .filter((name) => column(name).label.toLowerCase()
			.includes(wanted) || name.toLowerCase().includes(wanted));

		list.replaceChildren(...names.map((name) =>
		    item(name, place(name))));
	}

	draw();
	openDialog({title: t("columns"), content: [
		el("p.faint", {}, t("columns_lead")), densityChoice(), monthBoxes, yearBoxes, find, list], actions: [
		el("button", {type: "button",
		    onclick: () => keep(originalColumns())},
		t("columns_default"))]});
}
