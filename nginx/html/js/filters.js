/* filters: the line above the grid: range, what to validate, columns. */
import {emit, on} from "./bus.js";
import {inWords} from "./conditions.js";
import {el, icon} from "./dom.js";
import * as format from "./format.js";
import {editCount, pendingCount, RANGES} from "./ranges.js";
import {t} from "./text.js";

/* One of a few, as radio buttons: arrows move, all labelled. */
function choice(name, label, options, chosen) {
	const inputs = options.map(({value, text, extra}) => {
		const input = el("input", {type: "radio", name, value,
		    checked: value === "" ? true : null,
		    onchange: () => chosen(value)});

		return el("label", {}, input, el("span.face", {}, text, extra));
	});

	return el("fieldset.choice", {}, el("legend", {}, label), inputs);
}

/* `open` has columns(), filter(), rows(), summary() and views(), which open windows. */
export function filterBar(open) {
	const pending = el("span.tally", {hidden: true});
	const mine = el("span.tally", {hidden: true});
	const range = choice("gamme", t("range"),
	    [{value: "", text: t("range_all")},
	    ...RANGES.map((value) => ({value, text: value}))],
	    (value) => emit("filter", {gamme: value}));
	const show = choice("show", t("show"), [
	    {value: "", text: t("show_all")},
	    {value: "pending", text: t("show_pending"), extra: pending},
	    {value: "mine", text: t("show_mine"), extra: mine}],
	    (value) => emit("filter", {show: value}));
	const add = el("button.quiet", {type: "button",
	    onclick: () => open.filter(null)}, icon("filter"), t("filter"));
	const chips = el("ul.chips", {"aria-label": t("filters")});
	let where = [];

	function chip(condition) {
		const words = inWords(condition);

		return el("li", {}, el("span.words", {title: words}, words),
		    el("button.ghost.small", {type: "button",
			"aria-label": t("filter_remove", {filter: words}),
			onclick() {
				emit("filter", {where: where.filter(
				    (one) => one !== condition)});
				add.focus();
			}}, "×"));
	}
	const signed = (sign, name, run) => el(`button.quiet.signed.${name}`,
	    {type: "button", title: t(name), onclick: run}, icon(sign),
	    el("span.words", {}, t(name)));

	on("ranges", () => {
		for (const [badge, count] of [[pending, pendingCount()],
		    [mine, editCount()]]) {
			badge.hidden = count === 0;
			badge.textContent = format.integer(count);
		}
	});
	return {
		element: el("div.filters", {}, range, show, add,
		    el("span.grow"), el("span.tools", {},
			signed("star", "views", open.views),
			signed("chart", "summary", open.summary),
			signed("download", "export", open.rows),
			signed("columns", "columns", open.columns)), chips),
		/* As it is, without telling anyone. */
		show(filters) {
			for (const set of [range, show])
				for (const input of set.elements)
					input.checked = input.value ===
					    filters[input.name];
			({where} = filters);
			chips.replaceChildren(...where.map(chip));
		},
	};
}
